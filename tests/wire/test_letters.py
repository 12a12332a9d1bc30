"""Dead letters as a person deals with them."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from aiokafka import ConsumerRecord
from hypothesis import given
from hypothesis import strategies as st

from agrajag.errors import InputError
from agrajag.model.events import ToolCallError
from agrajag.wire.codec import decode
from agrajag.wire.dead_letters import REASON, dead_letter, replayed
from agrajag.wire.letters import Letter, Pile, Piles, Selection, letter_of, shown
from agrajag.wire.origin import Origins
from agrajag.wire.outputs import Output
from agrajag.wire.partition import partition_for
from agrajag.wire.reasons import DeadLetterReason
from agrajag.wire.replays import REPLAY_OF, REPLAY_TIME
from agrajag.wire.topics import Topic
from tests.wire.records import EVENT, TOPIC, received

SECRET = "sk-ant-api03-hunter2hunter2hunter2hunter2hunter2"
APPENDED = datetime.fromtimestamp(1_780_000_000, UTC)
NAMELESS = {name: value for name, value in EVENT.items() if name not in ("eventId", "occurredAt")}


def as_read(letter: Output, at: int = 1_780_000_060_000) -> ConsumerRecord:
    record = received(letter.value, letter.headers, topic=letter.topic, key=letter.key, partition=0, offset=0)
    record.timestamp = at
    return record


def a_letter(
    value: object = b"not json",
    headers: Sequence[tuple[str, bytes | None]] = (),
    *,
    reason: DeadLetterReason = DeadLetterReason.NOT_JSON,
    detail: str = "line 1",
    offset: int = 41,
    at: int = 1_780_000_060_000,
) -> Letter:
    error = InputError(reason, detail)
    letter = dead_letter(received(value, headers, offset=offset), error, f"{TOPIC}.dlq")
    return letter_of(as_read(letter, at), Topic.TOOL_CALL_ERRORS)


def test_a_selection_means_all_that_it_does_not_narrow() -> None:
    letter = a_letter()
    assert Selection().wants(letter)
    assert Selection(
        frozenset({Topic.TOOL_CALL_ERRORS}), frozenset({"not_json"}), frozenset({(3, 41)})
    ).wants(letter)
    assert not Selection(topics=frozenset({Topic.TOOL_LINKS})).wants(letter)
    assert not Selection(reasons=frozenset({"too_large"})).wants(letter)
    assert not Selection(places=frozenset({(3, 42), (41, 3)})).wants(letter)


def test_letters_are_counted_by_topic_and_reason_with_the_oldest_and_the_newest() -> None:
    piles = Piles()
    for letter in (
        a_letter(at=2_000_000_000_000),
        a_letter(at=1_000_000_000_000)._replace(replayed=True),
        a_letter(reason=DeadLetterReason.NO_VALUE),
    ):
        piles.add(letter)
    first, last = datetime.fromtimestamp(1_000_000_000, UTC), datetime.fromtimestamp(2_000_000_000, UTC)
    at = a_letter().set_aside_at
    assert list(piles) == [
        Pile(Topic.TOOL_CALL_ERRORS, "no_value", 1, 0, at, at),
        Pile(Topic.TOOL_CALL_ERRORS, "not_json", 2, 1, first, last),
    ]


def test_a_reason_that_somebody_else_wrote_is_not_repeated() -> None:
    letter = dead_letter(received(b"x"), InputError("not_json", ""), f"{TOPIC}.dlq")
    forged = letter._replace(headers=(*letter.headers, (REASON, b"\x1b[31mgo away")))
    assert letter_of(as_read(forged), Topic.TOOL_CALL_ERRORS).reason == "other"


def test_a_letter_is_shown_with_its_place_and_times() -> None:
    found = shown(a_letter({"a": 1}, [("x", b"y")]))
    assert found == {
        "id": f"{TOPIC}-3-41",
        "topic": "tool-call-errors",
        "partition": 3,
        "offset": 41,
        "reason": "not_json",
        "detail": "line 1",
        "appendedAt": APPENDED.isoformat(),
        "setAsideAt": "2026-05-28T20:27:40+00:00",
        "replayed": False,
        "cut": False,
        "key": "acme|search",
        "headers": ["x: y"],
        "bodyBytes": 8,
        "body": '{"a": 1}',
    }


def test_nothing_secret_is_shown_of_a_letter() -> None:
    headers = [("authorization", f"Bearer {SECRET}".encode())]
    letter = a_letter(f'{{"api_key": "{SECRET}"'.encode(), headers, detail=f"token={SECRET}")
    assert SECRET not in json.dumps(shown(letter))


def test_what_is_shown_of_a_letter_is_bounded() -> None:
    letter = a_letter(b"v" * 1_000_000, [(f"h{number}", b"w" * 5_000) for number in range(60)])
    found = shown(letter)
    assert found["bodyBytes"] == 1_000_000
    assert len(json.dumps(found)) < 20_000


def test_a_letter_without_a_value_is_shown_as_such() -> None:
    found = shown(a_letter(None))
    assert (found["bodyBytes"], found["body"]) == (None, None)


@given(st.binary(max_size=200), st.lists(st.tuples(st.text(max_size=20), st.binary(max_size=50)), max_size=5))
def test_whatever_a_letter_holds_one_printable_line_is_shown(
    value: bytes, headers: list[tuple[str, bytes | None]]
) -> None:
    line = json.dumps(shown(a_letter(value, headers)))
    assert line.isascii()
    assert line.isprintable()


def test_an_event_without_id_and_time_has_those_of_its_first_place_after_a_replay() -> None:
    origins = Origins(8)
    first = decode(ToolCallError, received(NAMELESS))
    again = replayed(a_letter(NAMELESS).record, origins)
    record = received(again.value, again.headers, offset=9_000)
    decoded = decode(ToolCallError, record)
    assert first.event_id == decoded.event_id == f"{TOPIC}-3-41"
    assert decoded.occurred_at == APPENDED

    right = partition_for(b"acme|search", 8)
    moved = origins.republished(record, b"acme|search", right)
    decoded = decode(ToolCallError, received(moved.value, moved.headers, partition=right))
    assert (decoded.event_id, decoded.occurred_at) == (f"{TOPIC}-3-41", APPENDED)


def test_what_an_event_says_of_itself_counts_more_than_a_replay() -> None:
    again = replayed(a_letter(EVENT).record, Origins(8))
    decoded = decode(ToolCallError, received(again.value, again.headers, offset=9_000))
    assert decoded == decode(ToolCallError, received(EVENT))
    assert decoded.event_id == "event-1"


@pytest.mark.parametrize("claim", [b"", b"a", b"a b-1-2", b"\xff-1-2", b"a-1-2" + b"0" * 300, None])
def test_a_claim_to_be_a_replay_that_cannot_be_true_is_ignored(claim: bytes | None) -> None:
    decoded = decode(ToolCallError, received(NAMELESS, [(REPLAY_OF, claim), (REPLAY_TIME, claim)]))
    assert (decoded.event_id, decoded.occurred_at) == (f"{TOPIC}-3-41", None)

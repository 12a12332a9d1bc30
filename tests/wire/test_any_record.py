"""Any record of any topic is shown to a person: what it says, or why it says nothing, and nothing that deceives."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agrajag.cli.tail import in_words
from agrajag.errors import InputError
from agrajag.schemas.examples import example_of
from agrajag.schemas.records import RECORDS, Record
from agrajag.wire.any_record import TAILED, TailedTopic, seen_record
from agrajag.wire.dead_letters import dead_letter, replay_mark
from agrajag.wire.outputs import Output
from agrajag.wire.reasons import DeadLetterReason
from agrajag.wire.topics import TOPICS, Topic
from tests.builders import a_health
from tests.cli.records import Received


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_the_example_of_every_kind_of_record_is_shown_with_what_it_says(record: Record) -> None:
    told = example_of(record)
    received = Received(
        json.dumps(told.value).encode(),
        told.key.encode(),
        headers=[(name, value.encode()) for name, value in told.headers.items()],
        timestamp=1_796_000_000_000,
    )
    seen = seen_record(TailedTopic(record.topic), received)
    assert seen is not None
    assert seen.problem is None
    assert seen.value is not None
    assert seen.value.get("tenantId") == seen.tenant_id == told.value["tenantId"]
    assert seen.tool_name == told.value.get("toolName")
    assert seen.as_data()["at"] == "2026-11-30T00:53:20+00:00"


def test_every_topic_and_every_dead_letters_can_be_read() -> None:
    assert set(TAILED) == {spec.topic.value for spec in TOPICS} | {
        f"{spec.topic}.dlq" for spec in TOPICS if spec.dead_letters
    }
    assert all(str(tailed) == name for name, tailed in TAILED.items())


def test_a_tombstone_is_shown_as_gone_with_the_tenant_and_tool_of_its_key() -> None:
    gone = Received(None, b"acme|PROJECT|essays|sea%7Crch", headers=[("revision", b"7")])
    seen = seen_record(TailedTopic(Topic.HEALTH_CHANGED), gone)
    assert seen is not None
    assert (seen.value, seen.problem) == (None, None)
    assert (seen.tenant_id, seen.tool_name) == ("acme", "sea|rch")
    assert in_words(seen).endswith("  gone")


def test_a_record_that_cannot_be_used_is_shown_with_the_reason() -> None:
    seen = seen_record(TailedTopic(Topic.TOOL_CALL_ERRORS), Received(b"{", b"acme|search"))
    assert seen is not None
    assert (seen.value, seen.tenant_id, seen.tool_name) == (None, "acme", "search")
    assert seen.problem is not None
    assert seen.problem.startswith("not_json: ")


def test_a_document_under_a_foreign_key_is_shown_as_unusable() -> None:
    record = Received(a_health().to_json(), b"globex|PROJECT|essays|search")
    seen = seen_record(TailedTopic(Topic.HEALTH_CHANGED), record)
    assert seen is not None
    assert seen.problem is not None
    assert "key: is not that of the document" in seen.problem


def test_a_dead_letter_is_shown_with_its_reason_and_what_it_holds_and_the_mark_of_a_replay_is_not() -> None:
    broken = Received(b'{"token": "abcdef123456"', b"acme|search", partition=3, offset=41)
    error = InputError(DeadLetterReason.NOT_JSON, "the value is no JSON")
    letter = _received(dead_letter(broken, error, "agrajag.tool-call-errors.v1.dlq"))
    letters = TAILED["tool-call-errors.dlq"]
    seen = seen_record(letters, letter)
    assert seen is not None
    assert seen.problem == "not_json: the value is no JSON"
    assert seen.value is not None
    assert (seen.value["partition"], seen.value["offset"]) == (3, 41)
    assert (seen.tenant_id, seen.tool_name) == ("acme", "search")
    assert "abcdef123456" not in json.dumps(seen.as_data())
    assert seen_record(letters, _received(replay_mark(letter))) is None


def _received(output: Output) -> Received:
    """The record as it is read again."""
    return Received(output.value, output.key, output.topic, headers=list(output.headers))


@given(st.sampled_from(sorted(TAILED)), st.none() | st.binary(max_size=80), st.binary(max_size=40))
@example(
    "tool-call-errors", b'{"tenantId": "\\u202e", "error": {"message": "\x1b[2J"}}', b"\x1b]0;x\x07|\xff"
)
@example("process-events", b'{"kind": []}', b"|||")
@example("health-changed", None, b"a|b|c|d|e")
def test_whatever_a_record_holds_it_is_shown_on_one_printable_line_of_bounded_length(
    topic: str, value: bytes | None, key: bytes
) -> None:
    seen = seen_record(TAILED[topic], Received(value, key, timestamp=2**62))
    assert seen is not None
    assert in_words(seen).isprintable()
    assert len(in_words(seen)) < 2_500
    assert json.loads(json.dumps(seen.as_data()))["place"] == "0:0"

"""Which origins are believed, and that a copy can be told by the place of its original."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.metrics import ORIGINS_IGNORED
from agrajag.model.events import ToolCallError
from agrajag.wire.codec import decode
from agrajag.wire.origin import ORIGIN, SEAL, Origin, Origins
from agrajag.wire.outputs import Output
from tests.wire.records import EVENT, TOPIC, counting, received

KEY = b"a key that only workers have"


def read_back(output: Output, offset: int = 5, **changes: Any) -> Any:
    """The copy as the worker of its right partition receives it."""
    given = {"key": output.key, "partition": output.partition, "topic": output.topic, **changes}
    value = given.pop("value", output.value)
    headers = given.pop("headers", output.headers)
    return received(value, headers, offset=offset, **given)


@pytest.mark.parametrize("key", [None, KEY, b"k" * 200])
def test_a_copy_of_a_copy_still_names_the_first_place(key: bytes | None) -> None:
    origins = Origins(8, key)
    copy = read_back(origins.republished(received(EVENT, partition=3, offset=41), b"acme|search", 6))
    assert origins.of(copy) == Origin(TOPIC, 3, 41)
    again = read_back(origins.republished(copy, b"acme|search", 7), partition=7)
    assert origins.of(again) == Origin(TOPIC, 3, 41)


def test_a_copy_keeps_the_event_id_that_its_original_had() -> None:
    origins = Origins(8)
    nameless = {name: value for name, value in EVENT.items() if name != "eventId"}
    for headers in ((), (("ce_id", b"ce-1"),)):
        original = received(nameless, headers)
        copy = read_back(origins.republished(original, b"acme|search", 6))
        first = decode(ToolCallError, original, origins.of(original))
        assert decode(ToolCallError, copy, origins.of(copy)) == first


def test_a_copy_goes_to_the_right_partition_under_the_right_key() -> None:
    copy = Origins(8).republished(received(EVENT, key=b"anything"), b"acme|search", 6)
    assert (copy.topic, copy.key, copy.partition) == (TOPIC, b"acme|search", 6)


def test_a_copy_takes_along_only_headers_that_say_how_to_read_it() -> None:
    headers = (
        ("ce_id", b"1"),
        ("content-type", b"application/json"),
        ("x", b"y"),
        ("ce_type", b"t" * 2_000),
        ("ce_time", None),
    )
    copy = Origins(8).republished(received(EVENT, headers), b"k", 6)
    assert [name for name, _ in copy.headers] == ["ce_id", "content-type", ORIGIN]


@pytest.mark.parametrize(
    "claim",
    [
        b"",
        b"garbage",
        b"\xff\xfe",
        f"{TOPIC}-2".encode(),
        f"{TOPIC}-2-".encode(),
        f"{TOPIC}-2--1".encode(),
        f"{TOPIC}-two-7".encode(),
        f"{TOPIC}-\u0662-7".encode(),
        f"{TOPIC}-2-7-9".encode(),
        f"{TOPIC}-2-{2**53 + 1}".encode(),
        f"{TOPIC}-2-{'9' * 400}".encode(),
        f"{TOPIC}-3-7".encode(),  # the very partition on which the record stands
        f"{TOPIC}-8-7".encode(),  # there are eight
        b"agrajag.system-events.v1-2-7",
    ],
)
def test_a_claim_that_no_worker_can_have_made_is_ignored_and_counted(claim: bytes) -> None:
    with counting(ORIGINS_IGNORED) as counted:
        origin = Origins(8).of(received(EVENT, [(ORIGIN, claim)], partition=3, offset=41))
    assert origin == Origin(TOPIC, 3, 41)
    assert counted() == 1


def test_a_record_that_claims_nothing_is_not_counted() -> None:
    with counting(ORIGINS_IGNORED) as counted:
        assert Origins(8, KEY).of(received(EVENT, [("x", b"y"), (ORIGIN, None)])) == Origin(TOPIC, 3, 41)
    assert counted() == 0


def test_a_possible_claim_is_believed_where_there_is_no_key_to_seal_with() -> None:
    assert Origins(8).of(received(EVENT, [(ORIGIN, f"{TOPIC}-2-7".encode())])) == Origin(TOPIC, 2, 7)


@pytest.mark.parametrize(
    "forged",
    [
        {"headers": ((ORIGIN, f"{TOPIC}-3-41".encode()),)},
        {"headers": ((ORIGIN, f"{TOPIC}-3-41".encode()), (SEAL, b"\x00" * 16))},
        {"value": b"{}"},
    ],
)
def test_with_a_key_neither_a_new_claim_nor_a_stolen_seal_is_believed(forged: dict[str, Any]) -> None:
    origins = Origins(8, KEY)
    copy = origins.republished(received(EVENT, partition=3, offset=41), b"acme|search", 6)
    assert origins.of(read_back(copy)) == Origin(TOPIC, 3, 41)
    assert origins.of(read_back(copy, **forged)) == Origin(TOPIC, 6, 5)


def test_a_seal_does_not_hold_for_another_offset() -> None:
    origins = Origins(8, KEY)
    seal = dict(origins.republished(received(EVENT), b"acme|search", 6).headers)[SEAL]
    forged = received(
        EVENT, [(ORIGIN, f"{TOPIC}-3-9000000000".encode()), (SEAL, seal)], partition=6, offset=5
    )
    assert origins.of(forged) == Origin(TOPIC, 6, 5)


@given(
    st.binary(max_size=60)
    | st.text(max_size=60).map(lambda text: f"{TOPIC}-{text}".encode("utf-8", "replace"))
)
def test_any_claim_gives_an_origin_within_the_topic(claim: bytes) -> None:
    origin = Origins(8).of(received(EVENT, [(ORIGIN, claim)]))
    assert origin.topic == TOPIC
    assert 0 <= origin.partition < 8
    assert 0 <= origin.offset <= 2**53

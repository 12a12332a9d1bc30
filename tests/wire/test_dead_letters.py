"""What a dead letter keeps of its record, and that it can be sent again."""

import pytest
from aiokafka import ConsumerRecord

from agrajag.errors import InputError
from agrajag.wire import dead_letters
from agrajag.wire.dead_letters import dead_letter, marked_id, replay_mark, replayed
from agrajag.wire.origin import ORIGIN, SEAL, Origins
from agrajag.wire.outputs import Output
from agrajag.wire.reasons import DeadLetterReason
from agrajag.wire.replays import REPLAY_OF, REPLAY_TIME
from agrajag.wire.topics import DEAD_LETTER_BYTES
from tests.wire.records import TOPIC, received

DLQ = f"{TOPIC}.dlq"
ORIGINS = Origins(partitions=8)
NAMED = ((REPLAY_OF, f"{TOPIC}-3-41".encode()), (REPLAY_TIME, b"1780000000000"))
REFUSED = InputError(DeadLetterReason.INVALID_FIELD, "tenantId: string_type")


def size(output: Output) -> int:
    headers = sum(len(name.encode()) + len(value) + 10 for name, value in output.headers)
    return len(output.key) + len(output.value or b"") + headers


def read_back(letter: Output) -> ConsumerRecord:
    return received(letter.value, letter.headers, topic=letter.topic, key=letter.key, partition=0, offset=0)


def test_a_letter_keeps_key_value_and_headers_untouched_and_says_what_was_wrong() -> None:
    headers = [("ce_id", b"\xff\x00"), ("x", b"1"), ("x", b"2")]
    letter = dead_letter(
        received(b"\x00not json", headers, key=b"\xfe|", partition=3, offset=41), REFUSED, DLQ
    )
    assert (letter.topic, letter.key, letter.value, letter.partition) == (DLQ, b"\xfe|", b"\x00not json", 0)
    assert letter.headers[:3] == tuple(headers)
    assert dict(letter.headers[3:]) == {
        "agrajag-dlq-reason": b"invalid_field",
        "agrajag-dlq-detail": b"tenantId: string_type",
        "agrajag-dlq-topic": TOPIC.encode(),
        "agrajag-dlq-partition": b"3",
        "agrajag-dlq-offset": b"41",
        "agrajag-dlq-timestamp": b"1780000000000",
        "agrajag-dlq-id": f"{TOPIC}-3-41".encode(),
    }


def test_the_same_record_gives_the_same_letter() -> None:
    assert dead_letter(received(b"x"), REFUSED, DLQ) == dead_letter(received(b"x"), REFUSED, DLQ)


def test_a_null_value_stays_null() -> None:
    assert dead_letter(received(None), REFUSED, DLQ).value is None


def test_a_null_key_and_a_null_header_become_empty() -> None:
    letter = dead_letter(received(b"x", [("h", None)], key=None), REFUSED, DLQ)
    assert letter.key == b""
    assert letter.headers[0] == ("h", b"")


@pytest.mark.parametrize(
    ("value", "key", "header"),
    [
        (b"v" * 10_000_000, b"key", b"header"),
        (b"v" * DEAD_LETTER_BYTES, b"key", b"h" * 900_000),
        (b"v" * 10, b"key", b"h" * 10_000_000),
        (b"v" * 10_000_000, b"k" * 10_000_000, b"h" * 10_000_000),
        (None, b"k" * 10_000_000, b""),
    ],
)
def test_a_record_of_any_size_fits_into_a_letter(value: bytes | None, key: bytes, header: bytes) -> None:
    letter = dead_letter(received(value, [("h", header)], key=key), REFUSED, DLQ)
    assert size(letter) < DEAD_LETTER_BYTES - 1_024
    assert int(dict(letter.headers)[dead_letters.CUT_FROM]) >= len(value or b"") + len(key) + len(header)
    assert key.startswith(letter.key)
    assert (value or b"").startswith(letter.value or b"")
    assert (letter.value is None) == (value is None)


def test_the_largest_value_that_is_read_is_not_cut() -> None:
    letter = dead_letter(received(b"v" * 1_048_576, [("h", b"h" * 30_000)]), REFUSED, DLQ)
    assert letter.value == b"v" * 1_048_576
    assert dead_letters.CUT_FROM not in dict(letter.headers)


def test_a_long_detail_is_cut() -> None:
    letter = dead_letter(received(b"x"), InputError("invalid_field", "d" * 100_000), DLQ)
    assert dict(letter.headers)[dead_letters.DETAIL] == b"d" * 1_024


def test_a_letter_can_be_sent_again_as_the_record_it_was_to_the_partition_it_had() -> None:
    headers = (("ce_id", b"1"), ("x", b"y"))
    letter = dead_letter(received(b"value", headers, key=b"key"), REFUSED, DLQ)
    assert replayed(read_back(letter), ORIGINS) == Output(TOPIC, b"key", b"value", headers + NAMED, 3)


def test_what_is_sent_again_claims_no_origin() -> None:
    letter = dead_letter(received(b"value", [(ORIGIN, b"a-1-2"), (SEAL, b"s")]), REFUSED, DLQ)
    assert (ORIGIN, b"a-1-2") in letter.headers
    assert replayed(read_back(letter), ORIGINS).headers == NAMED


def test_a_record_that_had_been_republished_is_named_by_its_believed_origin() -> None:
    origins = Origins(8, b"a key of the workers")
    moved = origins.republished(received(b"value", partition=5, offset=7), b"acme|search", 3)
    letter = dead_letter(received(b"value", moved.headers), REFUSED, DLQ)
    assert dict(replayed(read_back(letter), origins).headers)[REPLAY_OF] == f"{TOPIC}-5-7".encode()
    assert dict(replayed(read_back(letter), Origins(8, b"another key")).headers) == dict(NAMED)


def test_what_fails_again_after_a_replay_keeps_the_name_and_time_of_the_first() -> None:
    first = replayed(read_back(dead_letter(received(b"value"), REFUSED, DLQ)), ORIGINS)
    later = received(b"value", first.headers, offset=90)
    assert replayed(read_back(dead_letter(later, REFUSED, DLQ)), ORIGINS).headers == NAMED


def test_what_was_sent_again_is_marked_beside_its_letter() -> None:
    letter = read_back(dead_letter(received(b"value"), REFUSED, DLQ))
    mark = replay_mark(letter)
    assert (mark.topic, mark.value, mark.partition) == (DLQ, None, 0)
    assert marked_id(read_back(mark)) == f"{TOPIC}-3-41"
    assert marked_id(letter) is None


def test_a_record_that_fails_a_second_time_tells_of_its_second_place_alone() -> None:
    first = dead_letter(received(b"value", offset=41), REFUSED, DLQ)
    second = dead_letter(received(b"value", first.headers, offset=77), REFUSED, DLQ)
    assert [value for name, value in second.headers if name == dead_letters.OFFSET] == [b"77"]


def test_a_letter_that_was_cut_is_not_sent_again() -> None:
    letter = dead_letter(received(b"v" * 10_000_000), REFUSED, DLQ)
    with pytest.raises(InputError, match="only a part"):
        replayed(read_back(letter), ORIGINS)


@pytest.mark.parametrize(
    "changed",
    [{}, {dead_letters.OFFSET: b"x"}, {dead_letters.PARTITION: b"-1"}, {dead_letters.TOPIC: b"\xff"}],
)
def test_a_record_that_is_no_letter_is_not_sent_again(changed: dict[str, bytes]) -> None:
    letter = dead_letter(received(b"value"), REFUSED, DLQ)
    headers = tuple((dict(letter.headers) | changed).items()) if changed else ()
    with pytest.raises(InputError, match="agrajag-dlq-topic"):
        replayed(received(b"value", headers), ORIGINS)

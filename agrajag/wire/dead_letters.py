"""Sets a record aside that could not be used, so that a person can read it and send it again.

Key, value and headers stay as they were received; headers of ours say what was wrong and where the record stood. A
value that a topic with other limits than ours let through but that is too large to be written again is cut, and a
header says so: the whole of it can be read at its first place for as long as that topic keeps it.
"""

from typing import NamedTuple

from agrajag.errors import InputError
from agrajag.wire.origin import ORIGIN, SEAL, Origin, Origins, ReceivedRecord, own_place
from agrajag.wire.outputs import Output
from agrajag.wire.replays import REPLAY_OF, REPLAY_TIME
from agrajag.wire.topics import DEAD_LETTER_BYTES

PREFIX = "agrajag-dlq-"
REASON = f"{PREFIX}reason"
DETAIL = f"{PREFIX}detail"
TOPIC = f"{PREFIX}topic"
PARTITION = f"{PREFIX}partition"
OFFSET = f"{PREFIX}offset"
TIMESTAMP = f"{PREFIX}timestamp"
ID = f"{PREFIX}id"
"""`topic-partition-offset` of the record: a letter that was written twice has it twice."""
REPLAYED = f"{PREFIX}replayed"
"""On a record beside the letters: the id of one whose record was sent again."""
CUT_FROM = f"{PREFIX}cut-from"
"""How many bytes key, value and headers had together, where they did not fit."""

_MAX_DETAIL_BYTES = 1_024
_FRAMING_BYTES = 16_384  # headers of ours, and what Kafka adds to each header, record and batch
_ROOM_BYTES = DEAD_LETTER_BYTES - _FRAMING_BYTES
_HEADER_FRAMING_BYTES = 10  # two lengths of up to five bytes
_MAX_CUT_KEY_BYTES = 4_096
_MAX_DIGITS = 16


class _Contents(NamedTuple):
    key: bytes
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]


def dead_letter(record: ReceivedRecord, error: InputError, topic: str) -> Output:
    """The letter for `topic`, the dead-letter topic of the record's own.

    A null key becomes an empty one, and a null header value an empty one. Headers of an earlier letter are replaced.
    """
    contents, cut_from = _fitting(record)
    about = [
        (REASON, error.reason),
        (DETAIL, error.detail),
        (TOPIC, record.topic),
        (PARTITION, str(record.partition)),
        (OFFSET, str(record.offset)),
        (TIMESTAMP, str(record.timestamp)),
        (ID, str(own_place(record))),
    ]
    if cut_from is not None:
        about.append((CUT_FROM, str(cut_from)))
    ours = tuple((name, text.encode("utf-8", "replace")[:_MAX_DETAIL_BYTES]) for name, text in about)
    return Output(topic, contents.key, contents.value, contents.headers + ours, partition=0)


class FirstRecord(NamedTuple):
    """The record that a letter holds, where and as it first stood."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]


def first_record(letter: ReceivedRecord) -> FirstRecord:
    """What `letter` holds; InputError for a record that is no letter. Where the letter was cut, so is this."""
    ours = {name: value or b"" for name, value in letter.headers if name.startswith(PREFIX)}
    try:
        topic = ours[TOPIC].decode()
        partition, offset, timestamp = (_number(ours[name]) for name in (PARTITION, OFFSET, TIMESTAMP))
    except (KeyError, ValueError):
        told = f"{own_place(letter)} does not say with {TOPIC}, {PARTITION}, {OFFSET} and {TIMESTAMP} where it stood"
        raise InputError("not_a_dead_letter", told) from None
    headers = tuple((name, value or b"") for name, value in letter.headers if not name.startswith(PREFIX))
    return FirstRecord(topic, partition, offset, timestamp, letter.key or b"", letter.value, headers)


def replayed(letter: ReceivedRecord, origins: Origins) -> Output:
    """The record that a dead letter holds, for its first partition, as if it had never been read.

    Headers say which event it is, and when that was (`wire.replays`), as a record that was itself sent again already
    does. It claims no origin: the place it once had may lie behind what is already applied. Raises InputError for a
    letter that was cut, and for a record that is no letter.
    """
    first = first_record(letter)
    if any(name == CUT_FROM for name, _ in letter.headers):
        raise InputError("cut", f"{own_place(letter)} holds only a part of its record")
    headers = tuple(header for header in first.headers if header[0] not in (ORIGIN, SEAL))
    if all(name != REPLAY_OF for name, _ in headers):
        headers += (
            (REPLAY_OF, str(origins.of(first)).encode()),
            (REPLAY_TIME, str(first.timestamp).encode()),
        )
    return Output(first.topic, first.key, first.value, headers, first.partition)


def replay_mark(letter: ReceivedRecord) -> Output:
    """What is written beside a letter once its record is sent again: the letter's id, so that nobody does it twice."""
    return Output(letter.topic, b"", None, ((REPLAYED, letter_id(letter).encode()),), letter.partition)


def marked_id(record: ReceivedRecord) -> str | None:
    """The id of the letter whose record was sent again; None if `record` is no such mark."""
    return next((_text(value) for name, value in record.headers if name == REPLAYED), None)


def letter_id(letter: ReceivedRecord) -> str:
    """`topic-partition-offset` of the record that the letter holds; InputError for a record that is no letter."""
    first = first_record(letter)
    return str(Origin(first.topic, first.partition, first.offset))


def _number(digits: bytes) -> int:
    if not (digits.isdigit() and len(digits) <= _MAX_DIGITS):
        raise ValueError(digits)
    return int(digits)


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")


def _fitting(record: ReceivedRecord) -> tuple[_Contents, int | None]:
    """What of the record fits into a letter, and the size of all of it if that is not everything."""
    headers = tuple((name, value or b"") for name, value in record.headers if not name.startswith(PREFIX))
    key, value = record.key or b"", record.value
    header_bytes = sum(
        len(name.encode("utf-8", "replace")) + len(content) + _HEADER_FRAMING_BYTES
        for name, content in headers
    )
    size = len(key) + len(value or b"") + header_bytes
    if size <= _ROOM_BYTES:
        return _Contents(key, value, headers), None
    if len(key) + header_bytes > _ROOM_BYTES // 2:
        key, headers, header_bytes = key[:_MAX_CUT_KEY_BYTES], (), 0
    room = _ROOM_BYTES - len(key) - header_bytes
    return _Contents(key, None if value is None else value[:room], headers), size

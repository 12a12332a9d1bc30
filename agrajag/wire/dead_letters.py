"""Sets a record aside that could not be used, so that a person can read it and send it again.

Key, value and headers stay as they were received; headers of ours say what was wrong and where the record stood. A
value that a topic with other limits than ours let through but that is too large to be written again is cut, and a
header says so: the whole of it can be read at its first place for as long as that topic keeps it.
"""

from typing import NamedTuple

from agrajag.errors import InputError
from agrajag.wire.origin import ORIGIN, SEAL, ReceivedRecord, own_place
from agrajag.wire.outputs import Output
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
CUT_FROM = f"{PREFIX}cut-from"
"""How many bytes key, value and headers had together, where they did not fit."""

_MAX_DETAIL_BYTES = 1_024
_FRAMING_BYTES = 16_384  # headers of ours, and what Kafka adds to each header, record and batch
_ROOM_BYTES = DEAD_LETTER_BYTES - _FRAMING_BYTES
_HEADER_FRAMING_BYTES = 10  # two lengths of up to five bytes
_MAX_CUT_KEY_BYTES = 4_096


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


def replayed(letter: ReceivedRecord) -> Output:
    """The record that a dead letter holds, for its first topic, as if it had never been read.

    It claims no origin: the place it once had may lie behind what is already applied. Raises InputError for a letter
    that was cut, and for a record that is no letter.
    """
    headers = dict(letter.headers)
    topic = headers.get(TOPIC)
    if topic is None or ID not in headers:
        raise InputError("not_a_dead_letter", f"{own_place(letter)} has no {TOPIC} and {ID} headers")
    if CUT_FROM in headers:
        raise InputError("cut", f"{own_place(letter)} holds only a part of its record")
    kept = tuple((name, value or b"") for name, value in letter.headers if _is_foreign(name))
    return Output(topic.decode("utf-8", "replace"), letter.key or b"", letter.value, kept)


def _is_foreign(name: str) -> bool:
    return not name.startswith(PREFIX) and name not in (ORIGIN, SEAL)


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

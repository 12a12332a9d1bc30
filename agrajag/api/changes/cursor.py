"""A place in the log of changes: which log, and of each of its partitions the offset that comes next.

Its text is the id of an event, and comes back as `Last-Event-ID` from whoever likes. The first character says how the
rest is written; there is one text for each cursor, and everything else is none. It is no secret and opens nothing: what
may be seen is decided for each event.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias

from agrajag.wire.following import Log

Offsets: TypeAlias = tuple[int, ...]
"""Of each partition the offset that comes next."""

LOG_BYTES = 6
MAX_OFFSET = 2**63 - 1
MAX_TEXT = 16_384
"""More than the offsets of 1,000 partitions; no longer text is looked at."""

_VERSION = "1"
_LONGEST_NUMBER = 9


@dataclass(frozen=True, slots=True)
class Cursor:
    """Everything before `offsets` in the log is known; `log` is its `log_name`."""

    log: bytes
    offsets: Offsets


def log_name(log: Log) -> bytes:
    """Tells a log from those of other clusters, other topics, and other numbers of partitions."""
    told = f"{log.cluster_id}\0{log.topic}\0{len(log.ends)}"
    return blake2b(told.encode(), digest_size=LOG_BYTES).digest()


def cursor_text(cursor: Cursor) -> str:
    """The cursor in letters, digits, `-` and `_`: four characters for each partition with a million records."""
    content = bytearray(cursor.log)
    for offset in cursor.offsets:
        while offset > 0x7F:
            content.append(offset & 0x7F | 0x80)
            offset >>= 7
        content.append(offset)
    return _VERSION + urlsafe_b64encode(content).rstrip(b"=").decode()


def read_cursor(text: str) -> Cursor | None:
    """The cursor that has this very text; None where none has."""
    if not text.startswith(_VERSION) or len(text) > MAX_TEXT or not text.isascii():
        return None
    encoded = text[len(_VERSION) :]
    try:
        content = urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
    except ValueError:
        return None
    offsets = _numbers(content[LOG_BYTES:])
    if len(content) < LOG_BYTES or offsets is None:
        return None
    cursor = Cursor(content[:LOG_BYTES], offsets)
    return cursor if cursor_text(cursor) == text else None


def later(one: Sequence[int], other: Sequence[int]) -> Offsets:
    """Where whoever knows both has come to."""
    return tuple(map(max, one, other))


def has_reached(offsets: Sequence[int], wanted: Sequence[int]) -> bool:
    """Whether everything before `wanted` is known there."""
    return all(map(int.__ge__, offsets, wanted))


def _numbers(content: bytes) -> Offsets | None:
    """Seven bits in each byte, the lowest first; the last byte of a number has no eighth bit."""
    numbers: list[int] = []
    number = shift = 0
    for byte in content:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte <= 0x7F:
            numbers.append(number)
            number = shift = 0
        elif shift >= 7 * _LONGEST_NUMBER:
            return None
    return tuple(numbers) if shift == 0 else None

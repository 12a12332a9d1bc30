"""Dead letters as a person deals with them: which there are, which are meant, and what may be shown of one.

What a letter holds is hostile text and may hold secrets: it is shown redacted, bounded, and on one line.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from agrajag.core.redact import redacted_line
from agrajag.errors import InputError
from agrajag.wire.dead_letters import CUT_FROM, DETAIL, REASON, FirstRecord, first_record
from agrajag.wire.origin import Origin, ReceivedRecord
from agrajag.wire.reasons import DeadLetterReason
from agrajag.wire.topics import Topic

_MAX_BODY = 2_000
_MAX_HEADER = 200
_MAX_HEADERS = 50
OTHER_REASON = "other"
"""A reason that is none of ours: somebody else wrote it."""


class Letter(NamedTuple):
    """One dead letter of `topic`; `replayed` where its record was sent again."""

    record: ReceivedRecord
    topic: Topic
    first: FirstRecord
    reason: str
    detail: str
    cut: bool
    replayed: bool = False

    @property
    def id(self) -> str:
        """`topic-partition-offset` of its record; the key under which it is sent again once."""
        return str(Origin(self.first.topic, self.first.partition, self.first.offset))

    @property
    def set_aside_at(self) -> datetime:
        """When the letter was written."""
        return _moment(self.record.timestamp)


class Selection(NamedTuple):
    """Which letters are meant; an empty part means all. `places` are partition and offset of the record."""

    topics: frozenset[Topic] = frozenset()
    reasons: frozenset[str] = frozenset()
    places: frozenset[tuple[int, int]] = frozenset()

    def wants(self, letter: Letter) -> bool:
        """Whether `letter` is meant."""
        return (
            (not self.topics or letter.topic in self.topics)
            and (not self.reasons or letter.reason in self.reasons)
            and (not self.places or (letter.first.partition, letter.first.offset) in self.places)
        )


class Pile(NamedTuple):
    """The letters of one topic and reason; times are those at which they were set aside."""

    topic: Topic
    reason: str
    letters: int
    replayed: int
    oldest: datetime
    newest: datetime


def letter_of(record: ReceivedRecord, topic: Topic) -> Letter:
    """What a record of the dead letters of `topic` says. Raises InputError where it is no letter."""
    headers = {name: value or b"" for name, value in record.headers}
    reason = headers.get(REASON, b"").decode("utf-8", "replace")
    return Letter(
        record,
        topic,
        first_record(record),
        reason if reason in set(DeadLetterReason) else OTHER_REASON,
        headers.get(DETAIL, b"").decode("utf-8", "replace"),
        CUT_FROM in headers,
    )


class Piles:
    """Counts letters by topic and reason, and keeps none of them."""

    def __init__(self) -> None:
        self._piles: dict[tuple[Topic, str], Pile] = {}

    def add(self, letter: Letter) -> None:
        """Count one more."""
        at, name = letter.set_aside_at, (letter.topic, letter.reason)
        known = self._piles.get(name, Pile(*name, 0, 0, at, at))
        self._piles[name] = known._replace(
            letters=known.letters + 1,
            replayed=known.replayed + letter.replayed,
            oldest=min(known.oldest, at),
            newest=max(known.newest, at),
        )

    def __iter__(self) -> Iterator[Pile]:
        """In the order of the names."""
        return iter([self._piles[name] for name in sorted(self._piles)])


def shown(letter: Letter) -> dict[str, Any]:
    """What a person may see of a letter."""
    first = letter.first
    headers = [
        redacted_line(f"{name}: {value.decode('utf-8', 'replace')}", _MAX_HEADER)
        for name, value in first.headers[:_MAX_HEADERS]
    ]
    return {
        "id": letter.id,
        "topic": letter.topic,
        "partition": first.partition,
        "offset": first.offset,
        "reason": letter.reason,
        "detail": redacted_line(letter.detail, _MAX_BODY),
        "appendedAt": _moment(first.timestamp).isoformat(),
        "setAsideAt": letter.set_aside_at.isoformat(),
        "replayed": letter.replayed,
        "cut": letter.cut,
        "key": redacted_line(first.key.decode("utf-8", "replace"), _MAX_HEADER),
        "headers": headers,
        "bodyBytes": None if first.value is None else len(first.value),
        "body": None
        if first.value is None
        else redacted_line(first.value.decode("utf-8", "replace"), _MAX_BODY),
    }


def _moment(timestamp_ms: int) -> datetime:
    try:
        return datetime.fromtimestamp(timestamp_ms / 1_000, UTC)
    except (OverflowError, ValueError, OSError):
        raise InputError("not_a_dead_letter", f"{timestamp_ms} ms is no time") from None

"""An event as it came out of a record, with what a decision has to know of that record."""

from typing import TypeVar

from agrajag.core.times import appended_at
from agrajag.core.verdicts import Arrival
from agrajag.wire.origin import Origin

E = TypeVar("E")


def arrived(event: E, event_id: str | None, origin: Origin, timestamp_ms: int) -> Arrival[E]:
    """`event` of the record at `origin`, appended at `timestamp_ms`; without an id its origin names it."""
    return Arrival(
        event,
        event_id or str(origin),
        origin.topic_partition,
        origin.offset,
        appended_at(timestamp_ms),
        timestamp_ms,
    )

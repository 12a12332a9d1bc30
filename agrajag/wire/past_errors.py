"""Reads past errors again: what the topic and its dead letters still keep, outside of any group.

A record that was sent on to its right partition stands in the topic twice; a reading of all leaves the copy out.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

import pydantic_core

from agrajag.core.times import EPOCH, appended_at
from agrajag.core.verdicts import Arrival
from agrajag.errors import InputError
from agrajag.model.events import ToolCallError
from agrajag.wire.arrivals import arrived
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.cloudevents import ReceivedHeaders, binary_attributes
from agrajag.wire.codec import decode
from agrajag.wire.following import records_to_end
from agrajag.wire.letters import letter_of
from agrajag.wire.origin import Origin, Origins, ReceivedRecord, own_place
from agrajag.wire.topics import Topic, Topics

_TELL_EVERY = 5_000


@dataclass
class Scanned:
    """How far a reading has come: records, and when the oldest of them was appended."""

    records: int = 0
    oldest_ms: int | None = None

    def take(self, record: ReceivedRecord) -> None:
        """Count one more."""
        self.records += 1
        if self.oldest_ms is None or record.timestamp < self.oldest_ms:
            self.oldest_ms = record.timestamp

    @property
    def oldest(self) -> datetime | None:
        """When the oldest record was appended."""
        return None if self.oldest_ms is None else appended_at(self.oldest_ms)


class SetAside(NamedTuple):
    """A record that was not decided, and why. `arrival` is set where it can be read all the same."""

    place: str
    reason: str
    detail: str
    arrival: Arrival[ToolCallError] | None


@dataclass(frozen=True)
class Given:
    """An error that somebody hands over, as if it had been read from a topic at `timestamp` (ms)."""

    value: bytes
    timestamp: int
    topic: str = "given"
    partition: int = 0
    offset: int = 0
    key: bytes | None = None
    headers: ReceivedHeaders = ()


def arrival_of(record: ReceivedRecord, origin: Origin | None = None) -> Arrival[ToolCallError]:
    """The error in `record` as a worker takes it up. Raises InputError where it holds none."""
    origin = origin or own_place(record)
    event = decode(ToolCallError, record, origin)
    return arrived(event, event.event_id, origin, record.timestamp)


@dataclass
class PastErrors:
    """The errors of one installation. `tell` hears now and then how far the reading has come."""

    connection: KafkaConnection
    topics: Topics
    origins: Origins
    tell: Callable[[Scanned], None] = lambda _scanned: None
    scanned: Scanned = field(default_factory=Scanned)

    async def find(
        self, event_id: str, tenant_id: str | None = None
    ) -> Arrival[ToolCallError] | SetAside | None:
        """The first error of this id, of this tenant if one is given; then the same among the dead letters.

        The id is the one that check results, jobs and logs name. A dead letter that cannot be read may be any
        tenant's. Raises TransientError or PermanentError.
        """
        needle = event_id.encode()
        async with aclosing(self._records(self.topics.name(Topic.TOOL_CALL_ERRORS))) as records:
            async for record in records:
                found = self._read(record) if _may_name(record, event_id, needle) else None
                if found is not None and found.event_id == event_id and _is_of(found, tenant_id):
                    return found
        async with aclosing(self._records(self.topics.dead_letters(Topic.TOOL_CALL_ERRORS))) as letters:
            async for letter in letters:
                aside = _in_letter(letter, event_id, self.origins)
                if aside is not None and (aside.arrival is None or _is_of(aside.arrival, tenant_id)):
                    return aside
        return None

    async def since(self, start: datetime) -> AsyncGenerator[Arrival[ToolCallError], None]:
        """Every readable error appended at `start` or later, each once. Raises as `find`."""
        start_ms = (start - EPOCH) // timedelta(milliseconds=1)
        async with aclosing(self._records(self.topics.name(Topic.TOOL_CALL_ERRORS))) as records:
            async for record in records:
                is_copy = self.origins.of(record) != own_place(record)
                if record.timestamp >= start_ms and not is_copy and (found := self._read(record)) is not None:
                    yield found

    async def _records(self, topic: str) -> AsyncGenerator[ReceivedRecord, None]:
        async with aclosing(records_to_end(self.connection, topic)) as records:
            async for record in records:
                self.scanned.take(record)
                if self.scanned.records % _TELL_EVERY == 0:
                    self.tell(self.scanned)
                yield record

    def _read(self, record: ReceivedRecord) -> Arrival[ToolCallError] | None:
        try:
            return arrival_of(record, self.origins.of(record))
        except InputError:
            return None


def _may_name(record: ReceivedRecord, event_id: str, needle: bytes) -> bool:
    """Whether reading `record` may give this id: decoding each of a million records takes minutes."""
    value = record.value or b""
    if needle in value or b"\\" in value or record.headers:
        return True
    return event_id == str(own_place(record))


def _is_of(arrival: Arrival[ToolCallError], tenant_id: str | None) -> bool:
    return tenant_id is None or arrival.event.tenant_id == tenant_id


def _in_letter(letter: ReceivedRecord, event_id: str, origins: Origins) -> SetAside | None:
    try:
        found = letter_of(letter, Topic.TOOL_CALL_ERRORS)
    except InputError:
        return None
    arrival = None
    with suppress(InputError, OverflowError):  # the time of a letter is what its header says
        arrival = arrival_of(found.first, origins.of(found.first))
    names = _names_in(found.first) if arrival is None else [arrival.event_id]
    if event_id not in (found.id, *names):
        return None
    return SetAside(found.id, found.reason, found.detail, arrival)


def _names_in(record: ReceivedRecord) -> list[object]:
    """What a record calls its event that cannot be read otherwise."""
    names: list[object] = [binary_attributes(record.headers).valid_id()]
    try:
        tree = pydantic_core.from_json(record.value or b"", allow_partial=True)
    except ValueError:
        return names
    inner = tree.get("data") if isinstance(tree, dict) else None
    return names + [one.get("eventId") for one in (tree, inner) if isinstance(one, dict)]

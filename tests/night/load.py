"""What goes on in a night while parts fail: producers, a client, callers of the HTTP API, a subscriber of the changes.

Each enters into the books what the other side has taken. Nobody gives up: what is away is waited for.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from zlib import crc32

import httpx
from aiokafka import AIOKafkaProducer

from agrajag.cli.demo.balance import identity_of
from agrajag.client import Agrajag
from agrajag.model.answers import HealthCommand
from agrajag.model.enums import CommandKind
from agrajag.model.events import ToolCallError
from agrajag.settings import Settings
from agrajag.wire.partition import partition_for
from tests.api.changes.reading import Follower
from tests.night.books import Sent
from tests.pipeline import load, runs

CLIENT_TENANT = "night"
PER_SECOND = 20

_TICK_SECONDS = 0.25
_SPOILT_EVERY = 97
_STORM_EVERY = 200
_STORM = 60
_PAUSE_SECONDS = 0.3
_GIVEN_UP_MS = 300_000


def events_of(lasts_seconds: float) -> list[load.Event]:
    """The night's events in order: failures, successes, links and commands, and now and then a storm on one tool.

    Nothing is deleted by command, as a document that is gone no longer says how many errors it has had.
    """
    events = []
    for number, event in enumerate(load.phases(int(lasts_seconds * PER_SECOND)).events):
        if isinstance(event, HealthCommand) and event.kind is CommandKind.DELETE:
            continue
        events.append(event)
        if number % _STORM_EVERY == 0 and isinstance(event, ToolCallError):
            events += [
                event.model_copy(update={"event_id": f"{event.event_id}-{again}"}) for again in range(_STORM)
            ]
    return events


def stamped(event: load.Event, now: datetime) -> runs.Sent:
    """The event as one of this moment."""
    moment = "at" if isinstance(event, HealthCommand) else "occurred_at"
    return runs.sent(event.model_copy(update={moment: now}))


def share_due(passed: float) -> float:
    """Which share of the events is sent once this share of the night has passed.

    Half of them come in its first quarter, so that nearly every document there will be is there before memory counts.
    """
    return passed * 2 if passed <= 1 / 4 else 1 / 2 + (passed - 1 / 4) * 2 / 3


class Producers:
    """Sends the night's events evenly; `sent` grows by what the brokers have acknowledged."""

    def __init__(self, settings: Settings, sent: Sent) -> None:
        self._settings = settings
        self._topics = settings.topics.topics()
        self._sent = sent

    async def run(self, lasts_seconds: float) -> None:
        """Returns when all are acknowledged. Raises KafkaError for one that was given up."""
        events = events_of(lasts_seconds)
        began = time.monotonic()
        waiting: set[asyncio.Task[None]] = set()
        options = self._settings.kafka.connection().producer_options()
        async with AIOKafkaProducer(**options, request_timeout_ms=_GIVEN_UP_MS) as producer:
            for number, records in enumerate(self._due(events, lasts_seconds)):
                await asyncio.sleep(max(0.0, began + number * _TICK_SECONDS - time.monotonic()))
                for event in records:
                    waiting.add(asyncio.ensure_future(self._hand_over(producer, event)))
                done = {task for task in waiting if task.done()}
                waiting -= done
                await asyncio.gather(*done)
            await asyncio.gather(*waiting)

    def _due(self, events: Sequence[load.Event], lasts_seconds: float) -> Iterator[Sequence[load.Event]]:
        ticks = int(lasts_seconds / _TICK_SECONDS)
        for tick in range(ticks):
            begin, end = (int(len(events) * share_due(at / ticks)) for at in (tick, tick + 1))
            yield events[begin:end]

    async def _hand_over(self, producer: AIOKafkaProducer, event: load.Event) -> None:
        record = stamped(event, datetime.now(UTC))
        is_error = isinstance(event, ToolCallError)
        if is_error and crc32(record.key + record.value) % _SPOILT_EVERY == 0:
            record = replace(record, value=b"{" + record.value)
        written = await producer.send_and_wait(
            self._topics.name(record.topic),
            record.value,
            key=record.key,
            partition=partition_for(record.key, self._topics.partitions),
        )
        if is_error:
            place = f"{written.topic}-{written.partition}-{written.offset}"
            self._sent.errors[identity_of(record.value, place)] += 1
        elif isinstance(event, HealthCommand):
            self._sent.commands.add(event.command_id)
        else:
            self._sent.others += 1


async def report(settings: Settings, sent: Sent, lasts_seconds: float) -> None:
    """A service that reports by the client: three equal failures at a time, of one of ten tools."""
    until = time.monotonic() + lasts_seconds
    servers = settings.kafka.bootstrap_servers
    async with Agrajag.connect(servers, tenant=CLIENT_TENANT) as agrajag:
        number = 0
        while time.monotonic() < until:
            call = agrajag.call(f"tool-{number % 10}", user="alice")
            for _ in range(3):
                event_id = agrajag.reporter.report(call, ConnectionRefusedError("nobody answers"))
                if event_id is not None:
                    sent.reported[event_id] += 1
            number += 1
            await asyncio.sleep(_PAUSE_SECONDS)


async def ask(url: str, answers: Counter[int], lasts_seconds: float) -> None:
    """A caller of the HTTP API, who asks how the tools of a tenant are; 0 stands for no answer."""
    until = time.monotonic() + lasts_seconds
    async with httpx.AsyncClient(timeout=5.0) as client:
        while time.monotonic() < until:
            try:
                answer = await client.get(url)
                answers[answer.status_code] += 1
            except httpx.TransportError:
                answers[0] += 1
            await asyncio.sleep(_PAUSE_SECONDS)


@dataclass
class Subscriber:
    """Who follows the changes of a tenant, and comes back where a stream has ended.

    `told` has the newest revision of each document, `backwards` counts what was told again or backwards.
    """

    url: str
    told: dict[str, int] = field(default_factory=dict)
    backwards: int = 0
    resets: int = 0

    async def run(self) -> None:
        """Never returns."""
        follower = Follower(self.url, {})
        while True:
            try:
                async with follower.open() as events:
                    async for event in events:
                        self._take(event.kind, event.place if event.kind in {"changed", "gone"} else None)
            except httpx.TransportError:
                pass
            await asyncio.sleep(_PAUSE_SECONDS)

    def _take(self, kind: str, place: tuple[str, int] | None) -> None:
        if kind == "reset":
            self.resets += 1
            self.told.clear()
        if place is None:
            return
        key, revision = place
        if revision <= self.told.get(key, -1):
            self.backwards += 1
        if kind == "gone":
            self.told.pop(key, None)
        else:
            self.told[key] = revision

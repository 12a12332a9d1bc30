"""Brings what stands in the outbox to Kafka: redacted first, in batches, again and again while the brokers are away.

It lives on the client's own thread and works in short stretches with a pause behind each, since whoever reports on
another thread has to wait for the interpreter meanwhile.
"""

import asyncio
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import structlog
from aiokafka import AIOKafkaProducer
from aiokafka.codec import has_lz4
from aiokafka.errors import KafkaError, MessageSizeTooLargeError
from pydantic import ValidationError

from agrajag.client.background import Background
from agrajag.client.drops import Drops
from agrajag.client.outbox import Outbox, Report
from agrajag.errors import PermanentError, TransientError
from agrajag.metrics import CLIENT_REPORTED, CLIENT_WAITING, DropReason
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.lazy_producer import LazyProducer
from agrajag.wire.outage import Outage
from agrajag.wire.outputs import Output
from agrajag.wire.partition import partition_for
from agrajag.wire.reports import report_output
from agrajag.wire.topics import Topics
from agrajag.wire.writing import handed_over, write_errors

log = structlog.get_logger(__name__)

SOURCE = "agrajag/client"

_AT_ONCE = 500
_STRETCH_SECONDS = 0.001
_PAUSE_SECONDS = 0.001
_GATHERED_SECONDS = 0.01
_LINGER_MS = 5
_ANSWER_SECONDS = 10.0
"""After so long a producer is given up: it logs several lines a second while the brokers are away."""
_END_SECONDS = 2.0


class Sending:
    """The way from one outbox to the brokers: `run` goes on until it is cancelled."""

    def __init__(
        self,
        background: Background,
        connection: KafkaConnection,
        topics: Topics,
        outbox: Outbox,
        drops: Drops,
    ) -> None:
        self._background = background
        self._servers = connection.bootstrap_servers
        self._topics = topics
        self._outbox = outbox
        self._drops = drops
        self._producer = LazyProducer(lambda: _options(connection))
        self._new = asyncio.Event()
        self._ready = asyncio.Event()
        self._moved = asyncio.Event()
        self._is_awake = False
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """To be called, from any thread, when something was put into the outbox."""
        if not self._is_awake:
            self._is_awake = True
            self._background.post(self._new.set)

    async def run(self) -> None:
        """Redacts and sends for ever."""
        self._task = asyncio.current_task()
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._prepare())
                both.create_task(self._send())
        finally:
            with suppress(TimeoutError):
                async with asyncio.timeout(_END_SECONDS):
                    await self._producer.close()

    async def flush(self) -> None:
        """Returns when the brokers have all that the outbox held at the call."""
        self._outbox.end_windows(float("inf"))
        self.wake()
        until = self._outbox.newest
        while self._outbox.holds_until(until):
            self._moved.clear()
            await self._moved.wait()

    async def stop(self) -> None:
        """Ends `run`, and returns when it has ended."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _prepare(self) -> None:
        """Redacts what is new, and lets the windows end that are due."""
        while True:
            # Until then nobody has to wake it, which costs the caller more than the rest.
            await asyncio.sleep(_GATHERED_SECONDS)
            self._is_awake = False
            self._new.clear()
            rest_seconds = await self._prepared()
            self._drops.tell(time.monotonic())
            if not self._is_awake:
                with suppress(TimeoutError):
                    async with asyncio.timeout(rest_seconds):
                        await self._new.wait()

    async def _prepared(self) -> float | None:
        rest_seconds = self._outbox.end_windows(time.monotonic())
        stretch = _Stretch()
        while (report := self._outbox.next_unredacted()) is not None:
            report.redact()
            self._ready.set()
            await stretch.rest()
        self._ready.set()
        CLIENT_WAITING.set(len(self._outbox))
        return rest_seconds

    async def _send(self) -> None:
        outage = Outage("client", self._servers)
        while True:
            await self._ready.wait()
            self._ready.clear()
            while taken := self._outbox.take(_AT_ONCE):
                await self._deliver(taken, outage)
                self._outbox.done()
                self._moved.set()
                CLIENT_WAITING.set(len(self._outbox))
                await asyncio.sleep(_PAUSE_SECONDS)
            self._moved.set()

    async def _deliver(self, taken: Iterable[Report], outage: Outage) -> None:
        """Returns when the brokers have them, or refuse them for good."""
        pending: list[tuple[Report, Output]] = []
        stretch = _Stretch()
        for report in taken:
            if (output := self._output(report)) is not None:
                pending.append((report, output))
            await stretch.rest()
        while pending:
            try:
                pending = await self._attempt(pending)
                outage.over()
            except (TransientError, PermanentError) as error:
                # Also what is refused now: a right may be given, a topic be made.
                await outage.pause(TransientError(str(error)))

    async def _attempt(self, pending: Sequence[tuple[Report, Output]]) -> list[tuple[Report, Output]]:
        """Sends them; those that are not on the brokers yet. Raises where that is none of them."""
        with write_errors("reporting"):
            producer = await self._producer.started()
            ends = await self._ends(producer, [output for _, output in pending])
            left, failure = [], None
            for (report, output), end in zip(pending, ends, strict=True):
                if isinstance(end, MessageSizeTooLargeError):
                    self._drops.add(DropReason.REFUSED, report.count)
                elif isinstance(end, BaseException):
                    left.append((report, output))
                    failure = end
                else:
                    CLIENT_REPORTED.labels(report.kind).inc(report.count)
            if failure is not None:
                # What it has not delivered may be a hole in its sequence.
                self._producer.give_up(producer)
                if len(left) == len(pending):
                    raise failure
            return left

    async def _ends(self, producer: AIOKafkaProducer, outputs: Sequence[Output]) -> list[object]:
        """What became of each: an error, or what the brokers say of it."""
        acknowledgements: list[asyncio.Future[object]] = []
        failure: BaseException = TimeoutError(f"no answer within {_ANSWER_SECONDS:g} s")
        stretch = _Stretch()
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                for output in outputs:
                    partitions = await producer.partitions_for(output.topic)
                    place = partition_for(output.key, len(partitions))
                    acknowledgement = await handed_over(producer, output._replace(partition=place))
                    acknowledgement.add_done_callback(_end_of)  # else the loop complains of those given up
                    acknowledgements.append(acknowledgement)
                    await stretch.rest()
                await asyncio.wait(acknowledgements)
        except (KafkaError, OSError) as error:
            failure = error
        told = [_end_of(end) if end.done() else failure for end in acknowledgements]
        return [*told, *[failure] * (len(outputs) - len(told))]

    def _output(self, report: Report) -> Output | None:
        """The record that tells of it; None, and it is counted, where there can be none."""
        try:
            event = report.event()
        except ValidationError as error:
            fields = sorted(
                {str(place) for problem in error.errors(include_input=False) for place in problem["loc"]}
            )
            log.warning("client_report_invalid", tool=report.call.tool_name[:200], fields=fields)
            self._drops.add(DropReason.INVALID, report.count)
            return None
        if event is None:
            self._drops.add(DropReason.UNREADABLE, report.count)
            return None
        return report_output(self._topics, event, report.event_id, SOURCE)


class _Stretch:
    """Work that rests now and then, so that other threads come to theirs."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    async def rest(self) -> None:
        """Rests, if it has worked for long enough."""
        if time.monotonic() - self._began > _STRETCH_SECONDS:
            await asyncio.sleep(_PAUSE_SECONDS)
            self._began = time.monotonic()


def _end_of(acknowledgement: asyncio.Future[object]) -> object:
    if acknowledgement.cancelled():
        return TransientError("given up")
    return acknowledgement.exception() or acknowledgement.result()


def _options(connection: KafkaConnection) -> dict[str, Any]:
    compression = "lz4" if has_lz4() else "gzip"
    return {**connection.producer_options(), "compression_type": compression, "linger_ms": _LINGER_MS}

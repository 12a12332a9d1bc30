"""Ends the process when the stream stands still, so that its supervisor starts it afresh.

A consumer can stop without an error: a rebalance that does not end, a fetcher that waits for ever, an event
loop that somebody blocks. The decision is a pure function over samples; a thread of its own carries it out,
since the loop that has to be watched cannot do it.
"""

import asyncio
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import structlog
from aiokafka.errors import KafkaError
from faust.types import TP

from agrajag.metrics import WATCHDOG_EXITS, WatchdogCause
from agrajag.stream.fetches import FetchApp
from agrajag.stream.places import Progress
from agrajag.wire.clients import KafkaConnection, broker_answers

log = structlog.get_logger(__name__)

_LONGEST_PAUSE_SECONDS = 5.0  # whoever asks how the worker is wants to hear of the last few seconds


class Timing(NamedTuple):
    """How a limit is kept: within it a stall must be seen to begin, last, and be seen to last.

    What stops just behind one look is seen to stand by the next sample, which may be complete a pause and four waits
    for an answer later. The sample that proves it may be late by a pause and two waits, the judging thread by another
    pause. With these shares the sum stays below the limit.
    """

    still_seconds: float
    """How long nothing moves in the samples before it counts as a stall."""
    pause_seconds: float
    """Between two samples."""
    answer_seconds: float
    """For one of the two answers of a sample."""

    @classmethod
    def within(cls, limit_seconds: float) -> "Timing":
        """The timing with which a stall is told `limit_seconds` after it began, or earlier."""
        often = min(limit_seconds / 30, _LONGEST_PAUSE_SECONDS)
        return cls(0.65 * limit_seconds, often, often)


class Sample(NamedTuple):
    """What was to be seen at one moment (seconds of the monotonic clock)."""

    at: float
    settled: bool
    """No rebalance and no recovery is going on."""
    recovered: int
    """Changelog records read: grows while a recovery is alive, however long it takes."""
    progress: Mapping[TP, Progress]
    outage: bool = False
    """No broker answers anybody: starting afresh would not help."""
    recovering: bool = False
    """The table reads its changelog."""
    committed_at: float | None = None
    """When offsets were last committed."""


class Stall(NamedTuple):
    """What stands still: a cause for the metrics, and words for the log."""

    cause: WatchdogCause
    reason: str


def stalled(samples: Sequence[Sample], now: float, still_seconds: float) -> Stall | None:
    """What has not moved for `still_seconds` though it should have, or None.

    `samples` are in order of time. Nothing is said before they cover that time.
    """
    if not samples:
        return None
    newest = samples[-1]
    if now - newest.at >= still_seconds:
        return Stall(WatchdogCause.BLOCKED, f"the event loop has not answered for {now - newest.at:.0f} s")
    before = [number for number, sample in enumerate(samples) if sample.at <= newest.at - still_seconds]
    if not before:
        return None
    window = samples[before[-1] :]
    if any(sample.outage for sample in window):
        return None
    if not any(sample.settled for sample in window) and window[0].recovered == newest.recovered:
        return Stall(WatchdogCause.REBALANCE, f"a rebalance has not ended for {still_seconds:.0f} s")
    for tp, progress in sorted(newest.progress.items()):
        if all(_waits(sample.progress.get(tp), progress.done) for sample in window):
            place = f"{tp.topic} partition {tp.partition} stands at {progress.done} of {progress.end}"
            return Stall(WatchdogCause.NO_PROGRESS, f"{place} for {still_seconds:.0f} s")
    return None


def _waits(progress: Progress | None, done: int) -> bool:
    return progress is not None and progress.done == done < progress.end


def end_process() -> None:
    """End at once, with 1: an orderly end would wait for what stands still."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1)


class Watchdog:
    """Samples the app in its event loop, and judges in a thread: within `limit_seconds` of a stall it has acted."""

    def __init__(
        self,
        app: FetchApp,
        connection: KafkaConnection,
        limit_seconds: float,
        on_stall: Callable[[], None] = end_process,
        on_sample: Callable[[Sample], None] = lambda _sample: None,
    ) -> None:
        self._app = app
        self._connection = connection
        self._on_stall = on_stall
        self._on_sample = on_sample
        self._timing = Timing.within(limit_seconds)
        self._samples: deque[Sample] = deque(maxlen=2 * round(limit_seconds / self._timing.pause_seconds))
        self._ended = threading.Event()
        self._sampling: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to watch; called in the event loop that is watched."""
        self._samples.append(Sample(time.monotonic(), False, 0, {}))
        self._sampling = asyncio.create_task(self._sample_for_ever())
        threading.Thread(target=self._judge_for_ever, name="stall-watchdog", daemon=True).start()

    def stop(self) -> None:
        """Watch no longer."""
        self._ended.set()
        if self._sampling is not None:
            self._sampling.cancel()

    async def _sample_for_ever(self) -> None:
        while True:
            await asyncio.sleep(self._timing.pause_seconds)
            try:
                sample = await self._sample()
                self._on_sample(sample)
            except Exception:  # if sampling ended here, the loop would seem to be blocked
                log.warning("sample_failed", exc_info=True)
                sample = Sample(time.monotonic(), True, 0, {})
            self._samples.append(sample)

    async def _sample(self) -> Sample:
        app = self._app
        settled, tenure = app.is_settled, app.rebalancing_count
        progress: Mapping[TP, Progress] = {}
        answered = False
        if app.has_consumer:
            await app.fetching.ping()  # its thread has an event loop too
            progress = app.fetching.progress()
            with suppress(KafkaError, asyncio.TimeoutError):  # without an answer, what is known has to do
                ends = await asyncio.wait_for(app.fetching.highwaters(*progress), self._timing.answer_seconds)
                progress = {tp: Progress(known.done, ends[tp]) for tp, known in progress.items()}
                answered = bool(progress)
        outage = not answered and not await self._brokers_answer()
        return Sample(
            time.monotonic(),
            settled
            and app.is_settled
            and app.rebalancing_count == tenure,  # all the while, or progress is not whole
            app.recovered_records(),
            progress,
            outage,
            app.is_recovering,
            app.fetching.committed_at if app.has_consumer else None,
        )

    async def _brokers_answer(self) -> bool:
        """Whether a fresh connection would get an answer, whatever has become of the app's own."""
        return await broker_answers(self._connection, self._timing.answer_seconds)

    def stall(self) -> Stall | None:
        """What stands still now; any thread may ask."""
        return stalled(list(self._samples), time.monotonic(), self._timing.still_seconds)

    def _judge_for_ever(self) -> None:
        while not self._ended.wait(self._timing.pause_seconds):
            stall = self.stall()
            if stall is not None and not self._ended.is_set():
                WATCHDOG_EXITS.labels(stall.cause).inc()
                log.critical("stalled", cause=stall.cause, reason=stall.reason)
                self._on_stall()
                return

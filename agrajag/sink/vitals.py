"""Looks at a running sink every two seconds, beside its loop, and tells what readiness is judged by."""

import asyncio
import time
from collections import defaultdict

import structlog

from agrajag.monitor.pulse import Pulse
from agrajag.monitor.readiness import SILENT_SECONDS, Vitals
from agrajag.sink.mirror import Mirror, Progress
from agrajag.wire.clients import KafkaConnection, broker_answers
from agrajag.wire.outage import Outage
from agrajag.wire.topics import Topics

log = structlog.get_logger(__name__)

_PAUSE_SECONDS = 2.0
_ANSWER_SECONDS = 2.0
_BLOCKED_SECONDS = 2 * SILENT_SECONDS


class SinkVitals:
    """`mirror` is set once there is one; before, the sink waits for its store."""

    def __init__(
        self, connection: KafkaConnection, topics: Topics, store_outage: Outage, pulse: Pulse
    ) -> None:
        self._connection = connection
        self._topics = topics
        self._store_outage = store_outage
        self._pulse = pulse
        self._turned_at = time.monotonic()
        self.mirror: Mirror | None = None
        pulse.stall = self._stall

    async def watch(self) -> None:
        """Look until cancelled."""
        while True:
            self._turned_at = time.monotonic()
            try:
                self._pulse.seen(await self._look())
            except Exception:  # whoever asks hears that nothing was seen lately; the sink works on
                log.warning("sample_failed", exc_info=True)
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _look(self) -> Vitals:
        mirror = self.mirror
        settled = mirror is not None and mirror.has_assignment
        progress: Progress | None = None
        if mirror is not None:
            progress = await mirror.progress(_ANSWER_SECONDS)
            settled &= mirror.has_assignment  # all the while, or progress is not whole
        answered = bool(progress) or await broker_answers(self._connection, _ANSWER_SECONDS)
        partitions: dict[str, list[int]] = defaultdict(list)
        lag: dict[str, int] = defaultdict(int)
        for place, behind in sorted((progress or {}).items()):
            topic = str(self._topics.topic(place.topic))
            partitions[topic].append(place.partition)
            lag[topic] += behind
        return Vitals(
            time.monotonic(),
            partitions,
            lag,
            rebalancing=not settled,
            kafka_away=not answered or (mirror is not None and mirror.broker_is_away),
            store_away=self._store_outage.goes_on,
            committed_at=mirror.committed_at if mirror is not None else None,
        )

    def _stall(self) -> str | None:
        silent_seconds = time.monotonic() - self._turned_at
        if silent_seconds < _BLOCKED_SECONDS:
            return None
        return f"the event loop has not answered for {silent_seconds:.0f} s"

"""Looks at a member of a consumer group every two seconds, beside its loop, and tells what readiness is judged by."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias

import structlog
from aiokafka import TopicPartition

from agrajag.monitor.pulse import Pulse
from agrajag.monitor.readiness import SILENT_SECONDS, Vitals
from agrajag.wire.clients import KafkaConnection, broker_answers
from agrajag.wire.topics import Topics

log = structlog.get_logger(__name__)

_PAUSE_SECONDS = 2.0
_ANSWER_SECONDS = 2.0
_BLOCKED_SECONDS = 2 * SILENT_SECONDS


Progress: TypeAlias = Mapping[TopicPartition, int]
"""How many records of each partition held are not done yet."""


class Member(Protocol):
    """What is looked at."""

    @property
    def has_assignment(self) -> bool:
        """False while the group decides who has which partitions."""

    @property
    def broker_is_away(self) -> bool:
        """Whether its clients were given up, to be made anew."""

    @property
    def committed_at(self) -> float | None:
        """When offsets were last committed, in seconds of the monotonic clock."""

    async def progress(self, timeout_seconds: float) -> Progress | None:
        """How much is not done yet; None if the broker does not say in time."""


class MemberVitals:
    """`member` is set once there is one; before, the role waits for what it needs to begin."""

    def __init__(
        self,
        connection: KafkaConnection,
        topics: Topics,
        pulse: Pulse,
        store_is_away: Callable[[], bool] = lambda: False,
    ) -> None:
        self._connection = connection
        self._topics = topics
        self._store_is_away = store_is_away
        self._pulse = pulse
        self._turned_at = time.monotonic()
        self.member: Member | None = None
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
        member = self.member
        settled = member is not None and member.has_assignment
        progress: Progress | None = None
        if member is not None:
            progress = await member.progress(_ANSWER_SECONDS)
            settled &= member.has_assignment  # all the while, or progress is not whole
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
            kafka_away=not answered or (member is not None and member.broker_is_away),
            store_away=self._store_is_away(),
            committed_at=member.committed_at if member is not None else None,
        )

    def _stall(self) -> str | None:
        silent_seconds = time.monotonic() - self._turned_at
        if silent_seconds < _BLOCKED_SECONDS:
            return None
        return f"the event loop has not answered for {silent_seconds:.0f} s"

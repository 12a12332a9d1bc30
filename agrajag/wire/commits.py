"""Commits the offsets of what is done, each of them once; for whoever reads as a member of a group."""

import asyncio
import time
from collections.abc import Mapping

import structlog
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import CommitFailedError, IllegalStateError

from agrajag.metrics import COMMITS, Result
from agrajag.wire.following import kafka_errors

log = structlog.get_logger(__name__)


class Commits:
    """What one member of the group has committed since it was given its partitions."""

    def __init__(self, role: str) -> None:
        """`role` is who commits: `sink` logs `sink_commit_refused`."""
        self._refused = f"{role}_commit_refused"
        self._done: dict[TopicPartition, int] = {}
        self.last_at: float | None = None
        """When offsets were last committed, in seconds of the monotonic clock."""

    def forget(self) -> None:
        """The partitions are given out anew."""
        self._done = {}

    async def carry_out(
        self, consumer: AIOKafkaConsumer, committable: Mapping[TopicPartition, int], timeout_seconds: float
    ) -> None:
        """Commits what is not committed yet. That the group has moved on is no error: the next owner does it again.

        Raises TransientError or PermanentError.
        """
        due = {place: offset for place, offset in committable.items() if self._done.get(place) != offset}
        if not due:
            return
        with kafka_errors("committing"):
            try:
                async with asyncio.timeout(timeout_seconds):
                    await consumer.commit(due)
            except (CommitFailedError, IllegalStateError) as error:
                COMMITS.labels(Result.FAILED).inc()
                log.info(self._refused, reason=type(error).__name__)
            else:
                COMMITS.labels(Result.DONE).inc()
                self._done |= due
                self.last_at = time.monotonic()

"""Commits the offsets of jobs that are answered, each of them once."""

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
    """What one member of the group has committed of `topic` since it was given its partitions."""

    def __init__(self, topic: str) -> None:
        self._topic = topic
        self._done: dict[int, int] = {}
        self.last_at: float | None = None
        """When offsets were last committed, in seconds of the monotonic clock."""

    def forget(self) -> None:
        """The partitions are given out anew."""
        self._done = {}

    async def carry_out(
        self, consumer: AIOKafkaConsumer, committable: Mapping[int, int], timeout_seconds: float
    ) -> None:
        """Commits what is not committed yet. That the group has moved on is no error: the next owner answers it again.

        Raises TransientError or PermanentError.
        """
        due = {
            partition: offset
            for partition, offset in committable.items()
            if self._done.get(partition) != offset
        }
        if not due:
            return
        with kafka_errors("committing jobs"):
            try:
                async with asyncio.timeout(timeout_seconds):
                    await consumer.commit(
                        {TopicPartition(self._topic, partition): offset for partition, offset in due.items()}
                    )
            except (CommitFailedError, IllegalStateError) as error:
                COMMITS.labels(Result.FAILED).inc()
                log.info("diagnosis_commit_refused", reason=type(error).__name__)
            else:
                COMMITS.labels(Result.DONE).inc()
                self._done |= due
                self.last_at = time.monotonic()

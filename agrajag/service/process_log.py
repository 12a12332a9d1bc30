"""Follows the topic of process events: all of today's, and then what comes.

So what a worker knows of budgets and sessions is what all workers have written, and a start or a restart knows as much
as the others. Records that cannot be read are counted; the sink sets them aside.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from datetime import UTC

import structlog

from agrajag.clock import Clock
from agrajag.errors import InputError, TransientError
from agrajag.metrics import PROCESS_RECORDS_SKIPPED
from agrajag.model.processes import ProcessRecord
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.following import Followed, follow
from agrajag.wire.process_records import read_process_record
from agrajag.wire.topics import Topic, Topics

log = structlog.get_logger(__name__)

_TRY_AGAIN_SECONDS = 2.0


class ProcessLog:
    """Tells `hear` every record of today, and each new one, at least once."""

    def __init__(
        self,
        connection: KafkaConnection,
        topics: Topics,
        hear: Callable[[ProcessRecord], None],
        clock: Clock,
    ) -> None:
        self._connection = connection
        self._topic = topics.name(Topic.PROCESS_EVENTS)
        self._hear = hear
        self._clock = clock
        self._following: AsyncGenerator[Followed, None] | None = None

    async def start(self) -> None:
        """Returns when all of today that was there at the call is heard. Raises TransientError or PermanentError."""
        await self.close()
        today = self._clock().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        self._following = follow(self._connection, self._topic, today)
        async for followed in self._following:
            self._tell(followed)
            if followed.caught_up:
                return

    async def close(self) -> None:
        """Let go of the brokers; `run` does so itself when it is cancelled."""
        following, self._following = self._following, None
        if following is not None:
            await following.aclose()

    async def run(self) -> None:
        """Follow until cancelled. Where brokers are away, all of today is heard again when they are back."""
        while True:
            try:
                if self._following is None:
                    await self.start()
                await self._follow()
            except TransientError as error:
                log.warning("process_events_not_followed", reason=str(error))
            await asyncio.sleep(_TRY_AGAIN_SECONDS)

    async def _follow(self) -> None:
        try:
            if self._following is not None:
                async for followed in self._following:
                    self._tell(followed)
        finally:
            await self.close()

    def _tell(self, followed: Followed) -> None:
        for record in followed.records:
            try:
                told = read_process_record(record)
            except InputError as error:
                PROCESS_RECORDS_SKIPPED.labels(error.reason).inc()
                continue
            self._hear(told)

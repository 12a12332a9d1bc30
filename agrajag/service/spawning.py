"""Worker mode: a parent asks for a diagnosis and waits for what became of it (spec agrajag §11).

What is asked is a recheck, a command like everybody else's, since only the worker that owns the tool's documents gives
out the claim without which an answer writes nothing. It gives out claim and job together, so the job runs where jobs
run: one that ran in the parent's process as well would be the same job twice, and the second answer stale.
"""

import asyncio
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import structlog

from agrajag.clock import Clock, utc_now
from agrajag.core.recheck import recheck_job_id
from agrajag.model.answers import CommandResult, HealthCommand
from agrajag.model.enums import CommandOutcome
from agrajag.service.parent_report import Parent, ParentReport, answered, command_of, refused, unanswered
from agrajag.wire.asking import ask
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.process_records import closing_of
from agrajag.wire.topics import Topics

log = structlog.get_logger(__name__)

SOURCE = "agrajag/spawn"

_CLOCKS_APART = timedelta(minutes=1)


class Spawner:
    """Spawns from any process that reaches the brokers."""

    def __init__(self, connection: KafkaConnection, topics: Topics, clock: Clock = utc_now) -> None:
        self._connection = connection
        self._topics = topics
        self._clock = clock

    async def spawn(
        self,
        recipe: str,
        params: Mapping[str, Any],
        parent: Parent,
        *,
        wait_seconds: float = 180.0,
        request_id: str | None = None,
    ) -> ParentReport:
        """Asks for a diagnosis as the parent's user, and waits for the CLOSED of its job.

        `params` as in `parent_report.command_of`. A `request_id` makes it the same question when it is asked again,
        with the same answer, as long as the topic keeps it. After `wait_seconds` the report says that there is no
        answer; cancelled, nobody waits any more. In either case a diagnosis that has begun goes on, and its verdict is
        written. Raises InputError for what cannot be asked, TransientError or PermanentError where the brokers cannot
        be reached.
        """
        command = command_of(recipe, params, parent, request_id or f"spawn-{uuid.uuid4().hex}")
        since: datetime | None = self._clock() - _CLOCKS_APART
        job_id = None
        try:
            async with asyncio.timeout(wait_seconds):
                result = await ask(
                    self._connection, self._topics, command, source=SOURCE, wait_seconds=2 * wait_seconds
                )
                job_id = result.job_id
                if job_id is None:
                    return refused(command, result)
                if _asked_before(command, result):
                    since = None
                return answered(command, await closing_of(self._connection, self._topics, job_id, since))
        except TimeoutError:
            log.info("spawn_unanswered", command_id=command.command_id, job_id=job_id)
            return unanswered(command, job_id, wait_seconds)


def _asked_before(command: HealthCommand, result: CommandResult) -> bool:
    """Whether the command's own job was begun earlier, so that it may have ended long since."""
    return result.outcome is CommandOutcome.ALREADY_APPLIED and result.job_id == recheck_job_id(command)

"""Begins and ends one attempt at a job: its recipe, session, process, budget and audit (spec agrajag §5.1, §7, §10).

Everything is named by the job and the number of the attempt, so that an attempt which is made again, after a crash or
by another worker, is the same process: its records say the same, and its usage counts once.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

import structlog

from agrajag.clock import Clock, utc_now
from agrajag.core.day_limits import NO_LIMITS, DayLimits
from agrajag.core.jobs import derived_id
from agrajag.documents.recipes import BrokenRecipe, Recipe
from agrajag.errors import PermanentError, TransientError
from agrajag.metrics import RECIPES_UNUSABLE
from agrajag.model.enums import CloseReason, ProcessStatus, ServiceFailure, Trigger
from agrajag.model.jobs import ServiceJob
from agrajag.model.processes import ProcessEvent, ProcessRecord, RunUsage, SessionEvent
from agrajag.model.wire_model import WireModel
from agrajag.service.audit import ProcessAudit
from agrajag.service.day_budgets import DayBudgets
from agrajag.service.documents import Documents
from agrajag.service.engine import AnyEngine, Budget, ServiceRun
from agrajag.service.open_processes import OpenProcesses, superseded
from agrajag.service.process_log import ProcessLog
from agrajag.service.records import ProcessRecords, Sending
from agrajag.service.sessions import SessionKey, Sessions
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.topics import Topics

log = structlog.get_logger(__name__)

_LONGEST_PAUSE_SECONDS = 30.0
_MAX_TOLD = 5


@dataclass(frozen=True, slots=True)
class AttemptBounds:
    """`worker_id` is another one in each process that is started; `limits` hold where a tenant says nothing else."""

    worker_id: str
    engine_seconds: float = 120.0
    idle_after: timedelta = timedelta(minutes=5)
    limits: DayLimits = NO_LIMITS


class Attempts:
    """The attempts of one worker. `start`, then `run` beside whatever makes the attempts."""

    def __init__(
        self,
        connection: KafkaConnection,
        topics: Topics,
        sender: Sending,
        documents: Documents,
        bounds: AttemptBounds,
        clock: Clock = utc_now,
    ) -> None:
        self._documents = documents
        self._bounds = bounds
        self._clock = clock
        self._records = ProcessRecords(sender, topics)
        self._sessions = Sessions(bounds.worker_id, bounds.idle_after)
        self._budgets = DayBudgets(documents, bounds.limits)
        self._open = OpenProcesses()
        self._log = ProcessLog(connection, topics, self._hear, clock)
        self._used: dict[str, RunUsage] = {}

    async def start(self) -> None:
        """Returns when it is known what all tenants have used today. Raises TransientError or PermanentError."""
        await self._log.start()

    async def run(self) -> None:
        """Follow what other workers do, and suspend idle sessions, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._log.run())
            group.create_task(self._suspend_for_ever())

    async def close(self) -> None:
        """Suspend the sessions that nothing uses, since the worker ends in good order; to be called after `run`.

        Raises TransientError or PermanentError.
        """
        await self._log.close()
        await self._records.write(*self._sessions.ended(self._clock()))

    async def begin(self, engine: AnyEngine, job: ServiceJob, attempt: int) -> ServiceRun | ServiceFailure:
        """The run of this attempt, its process RUNNING on the topic; or why there is none, and then nothing is written.

        Raises TransientError or PermanentError where the records cannot be written.
        """
        recipe = self._recipe(engine, job)
        if isinstance(recipe, ServiceFailure):
            return recipe
        over = self._budgets.over(job.tenant_id, process_id_of(job, attempt), self._clock())
        run = self._run(engine, job, attempt, recipe, over)
        await self._write_begin(engine, job, run)
        return run

    def unbegun(self, engine: AnyEngine, job: ServiceJob, attempt: int) -> ServiceRun:
        """What an engine's `failed` is given for an attempt that never began. Nothing is written."""
        return self._run(engine, job, attempt, Recipe(engine.name, engine.name, "none"), None)

    async def ended(
        self, engine: AnyEngine, job: ServiceJob, run: ServiceRun | None, output: WireModel | None
    ) -> None:
        """Tell what the attempt has used and, of an engine that closes its processes itself, that it is DONE.

        Without an `output` another attempt follows, and the process is closed as one that was tried again. With one the
        job has ended: processes that a killed worker has left open at it are closed like that too. A run that never
        began is closed all the same; without a run there is nothing to tell. Raises as `begin`; called again, it tells
        the same.
        """
        if run is None:
            return
        now = self._clock()
        if output is None:
            await self._tell(run, _superseded(job, run, now))
            return
        left_open = self._open.superseded(job, run.process_id, now)
        done = [_step(job, run, ProcessStatus.CLOSED, now, CloseReason.DONE)] if engine.closes_itself else []
        await self._tell(run, *left_open, *done)

    async def cut(self, job: ServiceJob, run: ServiceRun) -> None:
        """Tell what the attempt has used whose job is left to whoever has it next. Raises as `begin`.

        They make the first attempt, under the same process if that was this one; any other one is closed.
        """
        if run.attempt == 1:
            await self._tell(run)
        else:
            await self._tell(run, _superseded(job, run, self._clock()))

    async def _tell(self, run: ServiceRun, *closed: ProcessEvent) -> None:
        now = self._clock()
        records: list[ProcessRecord] = []
        if (used := self._used.get(run.process_id)) is not None:
            self._budgets.hear(used, now)
            records.append(used)
        records += closed
        self._sessions.release(run.session_id, run.process_id, now)
        await self._records.write(*records)
        self._used.pop(run.process_id, None)
        for step in closed:
            self._open.hear(step)

    def _recipe(self, engine: AnyEngine, job: ServiceJob) -> Recipe | ServiceFailure:
        found = self._documents.rulebook.recipes.find(job.tenant_id, job.project_id, engine.name)
        if found is None:
            return self._unusable(ServiceFailure.NO_RECIPE, job, "there is no recipe of this name")
        if isinstance(found, BrokenRecipe):
            return self._unusable(ServiceFailure.RECIPE_BROKEN, job, *map(str, found.problems[:_MAX_TOLD]))
        if found.engine != engine.name:
            reason = f"{found.source}: engine: names another engine than {engine.name}"
            return self._unusable(ServiceFailure.RECIPE_BROKEN, job, reason)
        return found

    def _unusable(self, failure: ServiceFailure, job: ServiceJob, *reasons: str) -> ServiceFailure:
        RECIPES_UNUSABLE.labels(failure).inc()
        log.warning(
            "recipe_unusable",
            failure=failure,
            reasons=reasons,
            service=job.service_type,
            tenant_id=job.tenant_id,
            project_id=job.project_id,
            job_id=job.job_id,
        )
        return failure

    def _run(
        self, engine: AnyEngine, job: ServiceJob, attempt: int, recipe: Recipe, over: Budget | None
    ) -> ServiceRun:
        process_id = process_id_of(job, attempt)
        return ServiceRun(
            process_id=process_id,
            session_id=_session_key(engine, job).session_id,
            attempt=attempt,
            recipe=recipe,
            started_at=self._clock(),
            deadline=asyncio.get_running_loop().time() + self._bounds.engine_seconds,
            identity=job.originating_user_id,
            over_budget=over,
            audit=ProcessAudit(self._records, job, process_id, self._clock),
            used=partial(self._used.__setitem__, process_id),
            clock=self._clock,
        )

    async def _write_begin(self, engine: AnyEngine, job: ServiceJob, run: ServiceRun) -> None:
        now = run.started_at
        running = _step(job, run, ProcessStatus.RUNNING, now)
        taken = self._sessions.take(_session_key(engine, job), run.process_id, now)
        try:
            await self._records.write(
                *([] if taken is None else [taken]), _step(job, run, ProcessStatus.INIT, now), running
            )
        except BaseException:
            # Nobody knows whether the session's record is there: the next run of it writes another.
            self._sessions.lose(run.session_id)
            raise
        self._hear(running)

    def _hear(self, record: ProcessRecord) -> None:
        if isinstance(record, SessionEvent):
            self._sessions.hear(record)
            return
        if isinstance(record, ProcessEvent):
            self._open.hear(record)
        self._budgets.hear(record, self._clock())

    async def _suspend_for_ever(self) -> None:
        pause_seconds = min(self._bounds.idle_after.total_seconds() / 4, _LONGEST_PAUSE_SECONDS)
        while True:
            await asyncio.sleep(pause_seconds)
            try:
                await self._records.write(*self._sessions.suspended(self._clock()))
            except (TransientError, PermanentError) as error:
                log.warning("sessions_not_suspended", reason=str(error))


def process_id_of(job: ServiceJob, attempt: int) -> str:
    """The id of an attempt's process: the same whoever makes it, and how often."""
    return derived_id("proc", job.job_id, str(attempt))


def _session_key(engine: AnyEngine, job: ServiceJob) -> SessionKey:
    return SessionKey(job.tenant_id, job.project_id, engine.name)


def _superseded(job: ServiceJob, run: ServiceRun, at: datetime) -> ProcessEvent:
    return superseded(_step(job, run, ProcessStatus.RUNNING, at), at)


def _step(
    job: ServiceJob,
    run: ServiceRun,
    status: ProcessStatus,
    at: datetime,
    close_reason: CloseReason | None = None,
) -> ProcessEvent:
    """A step of the process; only who asked for it is its parent (spec agrajag §9, §11)."""
    asked = job.trigger is Trigger.USER_REQUEST
    return ProcessEvent(
        process_id=run.process_id,
        job_id=job.job_id,
        tenant_id=job.tenant_id,
        project_id=job.project_id,
        session_id=run.session_id,
        service_name=job.service_type,
        status=status,
        close_reason=close_reason,
        originating_user_id=job.originating_user_id,
        parent_process_id=job.originating_process_id if asked else None,
        at=at,
    )

"""Brings one job to its end: an attempt, its answer on the topic, and only then done (spec agrajag §5.1, §8).

Whatever an engine does, its job ends in an answer: its own, or an honest failed one that says why there is none. An
answer is named by its job, so one that is sent twice is one.
"""

import asyncio
import time
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import structlog

from agrajag.clock import Clock
from agrajag.core.redact import redacted_line
from agrajag.errors import InputError, PermanentError, TransientError
from agrajag.metrics import DEAD_LETTERS, SERVICE_ATTEMPT_SECONDS, SERVICE_JOBS, SERVICE_RETRIES
from agrajag.model.enums import ServiceFailure
from agrajag.model.wire_model import WireModel
from agrajag.service.attempts import Attempts
from agrajag.service.engine import AnyEngine, ServiceRun
from agrajag.service.intake import Unreadable, Work
from agrajag.service.patience import Patience, in_lease
from agrajag.service.records import Sending
from agrajag.service.registry import EVENT_TYPES
from agrajag.wire.cloudevents import binary_headers
from agrajag.wire.dead_letters import dead_letter
from agrajag.wire.outage import Outage
from agrajag.wire.outputs import Output
from agrajag.wire.reasons import DeadLetterReason
from agrajag.wire.topics import Topic, Topics

log = structlog.get_logger(__name__)

_ANSWERED = "answered"
_GRACE_SECONDS = 2.0  # an engine that looks at its deadline itself can still say what it has found by then
_TELL_CUT_SECONDS = 2.0
_MAX_TOLD = 200


class Again(NamedTuple):
    """The job is to be tried again, as `attempt`, after the pause."""

    pause_seconds: float
    attempt: int


class Answering:
    """Makes attempts, any number at a time. What it raises is for the worker to end by: the brokers refuse us."""

    def __init__(
        self,
        attempts: Attempts,
        sender: Sending,
        topics: Topics,
        patience: Patience,
        clock: Clock,
    ) -> None:
        self._attempts = attempts
        self._sender = sender
        self._topics = topics
        self._patience = patience
        self._clock = clock
        self._outage = Outage("diagnosis", "kafka")

    async def attempt(self, work: Work, attempt: int) -> Again | None:
        """One attempt; None once the answer is on its topic. Cancelled, it leaves the job to whoever has it then."""
        engine, job, _ = work
        if not in_lease(job, self._clock()):
            await self._end(work, self._unbegun(work, attempt), ServiceFailure.LEASE_EXPIRED)
            return None
        try:
            begun = await self._attempts.begin(engine, job, attempt)
        except TransientError as error:
            # Nothing of the job has failed: the same attempt, until its lease ends.
            log.warning("attempt_not_begun", job_id=job.job_id, reason=str(error))
            return Again(self._patience.pause_seconds(job.job_id, attempt), attempt)
        except PermanentError:
            raise
        except Exception as error:
            begun = _crashed(work, error)
        if isinstance(begun, ServiceFailure):
            await self._end(work, self._unbegun(work, attempt), begun)
            return None
        outcome = await self._run(work, begun)
        if isinstance(outcome, TransientError):
            pause = self._patience.pause_before_next(job, attempt, self._clock())
            log.warning(
                "attempt_failed",
                job_id=job.job_id,
                attempt=attempt,
                again=pause is not None,
                reason=redacted_line(str(outcome), _MAX_TOLD),
            )
            if pause is not None:
                SERVICE_RETRIES.inc()
                await self._tell(work, begun, None)
                return Again(pause, attempt + 1)
            outcome = ServiceFailure.RETRIES_EXHAUSTED
        await self._end(work, begun, outcome)
        return None

    async def set_aside(self, unreadable: Unreadable) -> None:
        """Sends a record to the dead letters and, where it still tells whose job it was, a failed answer."""
        record, error, rest = unreadable
        letter = dead_letter(record, error, self._topics.dead_letters(Topic.DIAGNOSIS_JOBS))
        await self._insist(partial(self._sender.send, [letter]))
        DEAD_LETTERS.labels(Topic.DIAGNOSIS_JOBS, error.reason).inc()
        log.warning("job_set_aside", reason=error.reason, job_id=rest and rest.job.job_id)
        if rest is not None:
            await self._end(rest, self._unbegun(rest, 1), ServiceFailure.NOT_READABLE)

    def _unbegun(self, work: Work, attempt: int) -> ServiceRun:
        return self._attempts.unbegun(work.engine, work.job, attempt)

    async def _run(self, work: Work, run: ServiceRun) -> WireModel | ServiceFailure | TransientError:
        """What an attempt came to. Raises CancelledError if this task is cancelled, and nothing else."""
        engine, job, _ = work
        started = time.perf_counter()
        lease_seconds = (job.lease_until - self._clock()).total_seconds()
        until = min(run.deadline + _GRACE_SECONDS, asyncio.get_running_loop().time() + lease_seconds)
        limit = asyncio.timeout_at(until)
        try:
            async with limit:
                return _fitting(engine, await engine.run(job, run))
        except TransientError as error:
            return error
        except PermanentError as error:
            log.warning("attempt_refused", job_id=job.job_id, reason=redacted_line(str(error), _MAX_TOLD))
            return ServiceFailure.NOT_POSSIBLE
        except asyncio.CancelledError as error:
            if _is_cancelled():
                await self._tell_cut(work, run)
                raise
            return _crashed(work, error)
        except (Exception, SystemExit) as error:
            return ServiceFailure.DEADLINE if limit.expired() else _crashed(work, error)
        finally:
            SERVICE_ATTEMPT_SECONDS.observe(time.perf_counter() - started)

    async def _tell_cut(self, work: Work, run: ServiceRun) -> None:
        """What was used was used; but nobody waits long for that to be written."""
        with suppress(TransientError, PermanentError, TimeoutError):
            async with asyncio.timeout(_TELL_CUT_SECONDS):
                await self._attempts.cut(work.job, run)

    async def _end(self, work: Work, run: ServiceRun, outcome: WireModel | ServiceFailure) -> None:
        """Sends the answer, or in place of one that cannot be sent a failed one, and tells what was used."""
        engine, job, record = work
        sent = await self._sent(work, run, outcome) or await self._sent(work, run, ServiceFailure.CRASHED)
        if sent is None:
            error = InputError(
                DeadLetterReason.PROCESSING_FAILED, "no answer to this job could be made or sent"
            )
            await self.set_aside(Unreadable(record, error, None))
            return
        await self._tell(work, run, sent.output)
        SERVICE_JOBS.labels(sent.end).inc()
        log.info("job_ended", job_id=job.job_id, service=engine.name, attempt=run.attempt, end=sent.end)

    async def _tell(self, work: Work, run: ServiceRun, output: WireModel | None) -> None:
        try:
            await self._insist(partial(self._attempts.ended, work.engine, work.job, run, output))
        except PermanentError:
            raise
        except Exception:  # the answer is where it belongs, and would only be made again
            log.exception("attempt_not_told", job_id=work.job.job_id)

    async def _sent(self, work: Work, run: ServiceRun, outcome: WireModel | ServiceFailure) -> "_Sent | None":
        """The answer, on its topic; None if it cannot be made, or the brokers take no such record."""
        engine, job, _ = work
        try:
            if isinstance(outcome, ServiceFailure):
                sent = _Sent(engine.failed(job, run, outcome), outcome)
            else:
                sent = _Sent(outcome, _ANSWERED)
            answer = self._answer(engine, sent.output)
        except Exception as error:
            _crashed(work, error)
            return None
        try:
            await self._insist(partial(self._sender.send, [answer]))
        except PermanentError as error:
            log.error("answer_refused", job_id=job.job_id, service=engine.name, reason=str(error))
            return None
        return sent

    def _answer(self, engine: AnyEngine, output: WireModel) -> Output:
        topic = engine.output_topic
        headers = binary_headers(EVENT_TYPES[topic], f"agrajag/{engine.name}", engine.output_id(output))
        return Output(self._topics.name(topic), engine.output_key(output).encode(), output.to_json(), headers)

    async def _insist(self, write: Callable[[], Awaitable[None]]) -> None:
        """Writes, however long the brokers are away. Raises PermanentError."""
        while True:
            try:
                await write()
            except TransientError as error:
                await self._outage.pause(error)
            else:
                self._outage.over()
                return


class _Sent(NamedTuple):
    output: WireModel
    end: str


def _fitting(engine: AnyEngine, output: WireModel) -> WireModel:
    fits: bool = isinstance(output, engine.output_model)
    if not fits:
        raise TypeError(f"{type(output).__name__} is no {engine.output_model.__name__}")
    return output


def _is_cancelled() -> bool:
    """Whether this task was told to end, rather than that an engine has cancelled something of its own."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _crashed(work: Work, error: BaseException) -> ServiceFailure:
    log.error(
        "engine_crashed",
        service=work.engine.name,
        job_id=work.job.job_id,
        error=type(error).__name__,
        detail=redacted_line(str(error), _MAX_TOLD),
        at="".join(traceback.format_tb(error.__traceback__)),
    )
    return ServiceFailure.CRASHED

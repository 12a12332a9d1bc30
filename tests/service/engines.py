"""A small engine for tests: it answers jobs of the diagnosis as the name of the job's tool tells it to."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from agrajag.errors import PermanentError, TransientError
from agrajag.model.enums import ServiceFailure
from agrajag.model.jobs import DiagnosisJob, DiagnosisResult
from agrajag.model.keys import tool_key
from agrajag.service.engine import Role, ServiceRun
from agrajag.wire.topics import Topic

SECRET = "sk-live-0123456789abcdefghijklmnop"
"""What the error of an engine that crashes tells."""


async def _no_pause(job: DiagnosisJob) -> None:
    return None


async def for_ever(job: DiagnosisJob) -> None:
    """What a job waits for whose tool never answers."""
    await asyncio.Event().wait()


@dataclass
class Scripted:
    """`before` runs before each answer. `ran` are the job ids and attempts in the order in which they began.

    A tool called `crash`, `transient`, `permanent`, `wrong`, `huge`, `cancel`, `exit` or `flaky` does as it is called;
    the last fails once. One that is called `unspeakable` crashes the failed answer too.
    """

    before: Callable[[DiagnosisJob], Awaitable[None]] = _no_pause
    ran: list[tuple[str, int]] = field(default_factory=list)
    running: set[str] = field(default_factory=set)
    name: str = "agrajag"
    roles: frozenset[Role] = frozenset()
    input_model: type[DiagnosisJob] = DiagnosisJob
    output_model: type[DiagnosisResult] = DiagnosisResult
    output_topic: Topic = Topic.DIAGNOSIS_RESULTS
    closes_itself: bool = False

    def output_key(self, output: DiagnosisResult) -> str:
        return tool_key(output.tenant_id, output.tool_name)

    def output_id(self, output: DiagnosisResult) -> str:
        return output.job_id

    async def run(self, job: DiagnosisJob, run: ServiceRun) -> DiagnosisResult:
        self.ran.append((job.job_id, run.attempt))
        assert job.job_id not in self.running, "a job runs twice side by side"
        self.running.add(job.job_id)
        try:
            await self.before(job)
            return self._done(job, run)
        finally:
            self.running.remove(job.job_id)

    def failed(self, job: DiagnosisJob, run: ServiceRun, why: ServiceFailure) -> DiagnosisResult:
        if job.tool_name == "unspeakable":
            raise RuntimeError("even that")
        return self._result(job, run).with_changes(failure=why)

    def _done(self, job: DiagnosisJob, run: ServiceRun) -> DiagnosisResult:
        match job.tool_name:
            case "crash" | "unspeakable":
                raise KeyError(f"token={SECRET}")
            case "flaky" if run.attempt > 1:
                pass
            case "transient" | "flaky":
                raise TransientError("the model is busy")
            case "permanent":
                raise PermanentError("the model is gone")
            case "wrong":
                return job  # type: ignore[return-value]
            case "huge":
                return self._result(job, run).with_changes(tool_name="x" * 3_000_000)
            case "cancel":
                raise asyncio.CancelledError
            case "exit":
                raise SystemExit(3)
        return self._result(job, run)

    def _result(self, job: DiagnosisJob, run: ServiceRun) -> DiagnosisResult:
        return DiagnosisResult(
            job_id=job.job_id,
            process_id=run.process_id,
            session_id=run.session_id,
            tenant_id=job.tenant_id,
            project_id=job.project_id,
            scope=job.scope,
            scope_id=job.scope_id,
            tool_name=job.tool_name,
            error_signature=job.error_signature,
            originating_user_id=job.originating_user_id,
            trigger=job.trigger,
            by=f"agrajag-engine/{run.process_id}",
            signals=job.error_count,
            started_at=run.started_at,
            finished_at=run.clock(),
        )

"""Knows which processes were begun and not closed, so that what a killed worker has left behind can be closed.

Whoever takes over a job begins with its first attempt, and so with its first process. A further attempt that was under
way has a process of its own, which nobody goes on with unless the first attempt fails as well.
"""

from datetime import datetime

from agrajag.model.enums import CloseReason, ProcessStatus
from agrajag.model.jobs import ServiceJob
from agrajag.model.processes import TRIED_AGAIN, ProcessEvent

_MAX_JOBS = (
    10_000  # of more, those that were heard of first are forgotten: their processes are shown as RUNNING
)


class OpenProcesses:
    """The processes of all jobs, as far as their steps were heard, in the order of the topic."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], dict[str, ProcessEvent]] = {}

    def hear(self, step: ProcessEvent) -> None:
        """Take note of a step; the same again changes nothing."""
        job = step.tenant_id, step.job_id
        if step.status is not ProcessStatus.CLOSED:
            self._open.setdefault(job, {})[step.process_id] = step
            if len(self._open) > _MAX_JOBS:
                del self._open[next(iter(self._open))]
        elif (processes := self._open.get(job)) is not None:
            processes.pop(step.process_id, None)
            if not processes:
                del self._open[job]

    def superseded(self, job: ServiceJob, by: str, now: datetime) -> tuple[ProcessEvent, ...]:
        """The steps that close the open processes of a job which has ended, or ends, with the process `by`."""
        return tuple(
            superseded(step, now)
            for step in self._open.get((job.tenant_id, job.job_id), {}).values()
            if step.process_id != by
        )


def superseded(step: ProcessEvent, now: datetime) -> ProcessEvent:
    """The step that closes the process of `step`, as its job goes on with, or has ended with, another one."""
    return step.with_changes(
        status=ProcessStatus.CLOSED, close_reason=CloseReason.STALE, reason=TRIED_AGAIN, at=now
    )

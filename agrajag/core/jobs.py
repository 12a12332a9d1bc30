"""Diagnosis jobs: their derived ids, what later signals add, and when a job is sent again (spec agrajag §8).

A job is one claim. Errors that meet it in flight join it: they are counted, and at the 2nd, 10th and 100th the job is
sent again under its id, so that a worker that has not begun sees how large the outage has become. Its answer ends it.
"""

import hashlib
import zlib
from collections.abc import Iterator
from datetime import datetime

from agrajag.model.enums import Scope
from agrajag.model.health import RECENT_IDS, HealthEntry
from agrajag.model.jobs import MAX_SIGNALS, MAX_USERS, SERVICE_TYPE, DiagnosisJob

RESEND_AT = (2, 10, 100)


def derived_id(prefix: str, *parts: str | None) -> str:
    """`prefix-` and 32 hexadecimal digits that depend on every part and on where one part ends.

    The separators are control characters, which no identifier holds.
    """
    joined = "\x1f".join(["\x1e" if part is None else part for part in parts])
    return f"{prefix}-{hashlib.sha256(joined.encode()).hexdigest()[:32]}"


def job_id_of(
    tenant_id: str,
    scope: Scope,
    scope_id: str,
    tool_name: str,
    signature: str,
    originating_user_id: str | None,
    claimed_by: str,
) -> str:
    """The id of a job: its coalescing key (spec agrajag §8.2) within its tenant, and the event that claimed it."""
    return derived_id(
        "job", tenant_id, SERVICE_TYPE, scope, scope_id, tool_name, signature, originating_user_id, claimed_by
    )


def user_fingerprint(user_id: str) -> str:
    """Eight hexadecimal digits that stand for a user where only their number counts."""
    return f"{zlib.crc32(user_id.encode()):08x}"


class OpenJob:
    """The working copy of one job in flight, for one step."""

    __slots__ = ("_job", "_seen", "_signals", "_users", "error_count")

    def __init__(self, job: DiagnosisJob) -> None:
        self._job = job
        self._users = dict.fromkeys(job.user_fingerprints)
        self._seen: set[str] = set()
        self._signals = list(job.signals)
        self.error_count = job.error_count

    def join(self, errors: int, user_id: str | None) -> bool:
        """Count `errors` more from one user; True when that makes the job worth sending again."""
        if user_id is not None and user_id not in self._seen and len(self._users) < MAX_USERS:
            self._seen.add(user_id)
            self._users[user_fingerprint(user_id)] = None
        before = self.error_count
        self.error_count += errors
        return any(before < threshold <= self.error_count for threshold in RESEND_AT)

    @property
    def wants_signal(self) -> bool:
        """Whether another detail would be kept: of the first hundred errors, while there is room."""
        return self.error_count < RESEND_AT[-1] and len(self._signals) < MAX_SIGNALS

    def add_signal(self, detail: str | None) -> None:
        """Keep the redacted detail of a joining error, if it says something new."""
        if detail and self.wants_signal and detail != self._job.error_detail and detail not in self._signals:
            self._signals.append(detail)

    def frozen(self) -> DiagnosisJob:
        """The job as it stands now."""
        if self.error_count == self._job.error_count:
            return self._job
        return self._job.with_changes(
            error_count=self.error_count,
            signals=tuple(self._signals),
            user_fingerprints=tuple(self._users),
            distinct_users=len(self._users),
        )


class JobsInFlight:
    """The working copy of the jobs of one document, and of those that were answered lately."""

    __slots__ = ("_jobs", "_joined", "answered_by", "handled_ids", "started")

    def __init__(self, base: HealthEntry | None) -> None:
        self._jobs = {job.job_id: job for job in base.jobs} if base else {}
        self._joined: dict[str, OpenJob] = {}
        self.handled_ids = base.handled_job_ids if base else ()
        self.answered_by = base.handled_process_ids if base else ()
        self.started = 0

    def __iter__(self) -> Iterator[DiagnosisJob]:
        """The jobs as they stand now."""
        for job_id, job in self._jobs.items():
            joined = self._joined.get(job_id)
            yield job if joined is None else joined.frozen()

    def claimed_by(self, event_id: str) -> DiagnosisJob | None:
        """The job in flight that this event has claimed."""
        return next((job for job in self if job.claimed_by == event_id), None)

    def is_known(self, job_id: str) -> bool:
        """Whether the job is in flight, or was answered lately."""
        return job_id in self._jobs or job_id in self.handled_ids

    def find(self, job_id: str | None) -> DiagnosisJob | None:
        """The job in flight of this id."""
        return next((job for job in self if job.job_id == job_id), None)

    def to_join(self, job_id: str | None) -> OpenJob | None:
        """The job for an error to join; None where it is not in flight."""
        job = self._jobs.get(job_id) if job_id is not None else None
        if job is None:
            return None
        joined = self._joined.get(job.job_id)
        if joined is None:
            joined = self._joined[job.job_id] = OpenJob(job)
        return joined

    def have_room(self, limit: int, clock: datetime) -> bool:
        """Whether one more may be in flight; those whose lease has ended make room."""
        if len(self._jobs) >= limit:
            self._jobs = {job_id: job for job_id, job in self._jobs.items() if clock < job.lease_until}
        return len(self._jobs) < limit

    def start(self, job: DiagnosisJob) -> None:
        """Take up a new job."""
        self._jobs[job.job_id] = job
        self.started += 1

    def end(self, job_id: str, process_id: str) -> None:
        """The job has its answer, by this process: what comes for it again changes nothing."""
        self._jobs.pop(job_id, None)
        self._joined.pop(job_id, None)
        self.handled_ids = (job_id, *self.handled_ids)[:RECENT_IDS]
        self.answered_by = (process_id, *self.answered_by)[:RECENT_IDS]

    def forget(self) -> None:
        """The document is gone: nothing is in flight for it any more."""
        self._jobs, self._joined, self.started = {}, {}, 0

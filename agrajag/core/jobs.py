"""Diagnosis jobs: their derived ids, what later signals add, and when a job is sent again (spec agrajag §8).

A job is one claim. Errors that meet it in flight join it: they are counted, and at the 2nd, 10th and 100th the job is
sent again under its id, so that a worker that has not begun sees how large the outage has become.
"""

import hashlib
import zlib

from agrajag.model.enums import Scope
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

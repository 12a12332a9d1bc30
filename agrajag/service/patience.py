"""How often, and how long after a failure that may pass, an attempt at a job is made again (spec agrajag §5.1).

Nothing is begun after the lease of a job has ended: an expired lease is not in flight, so somebody else may have been
asked the same meanwhile.
"""

import zlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from agrajag.model.jobs import ServiceJob


@dataclass(frozen=True, slots=True)
class Patience:
    """Pauses double up to the longest, each shortened by up to half: by the job's id, so that no two march in step."""

    attempts: int = 4
    first_pause_seconds: float = 2.0
    longest_pause_seconds: float = 60.0

    def pause_seconds(self, job_id: str, attempt: int) -> float:
        """How long to wait after a failed attempt, from 1."""
        longest = min(self.first_pause_seconds * 2.0 ** min(attempt - 1, 32), self.longest_pause_seconds)
        share = zlib.crc32(f"{job_id} {attempt}".encode()) / 0xFFFF_FFFF
        return longest * (0.5 + share / 2)

    def pause_before_next(self, job: ServiceJob, attempt: int, now: datetime) -> float | None:
        """The same in seconds; None if there is to be no other: too many, or the lease ends before it would begin."""
        if attempt >= self.attempts:
            return None
        pause = self.pause_seconds(job.job_id, attempt)
        return pause if in_lease(job, now + timedelta(seconds=pause)) else None


def in_lease(job: ServiceJob, now: datetime) -> bool:
    """Whether the job may still be begun."""
    return now < job.lease_until

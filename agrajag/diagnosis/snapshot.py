"""Takes down what is known when a diagnosis begins: the job, and the document nearest to it (spec agrajag §5.2 step 1).

Values only: who decides, and who asks a model, looks at nothing else. So one snapshot always gives one prompt.
"""

from dataclasses import dataclass
from datetime import datetime

from agrajag.core.cooldown import is_active
from agrajag.model.health import Cooldown, HistoryEntry, LastDiagnosis, ToolHealth
from agrajag.model.jobs import DiagnosisJob
from agrajag.service.health_reading import HealthReading

HISTORY_CONTEXT_LIMIT = 6
MAX_HISTORY_NOTE = 120


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was known at `at`. `health` is the document that speaks for the originator, None where nothing does.

    `history` is the newest of it, newest first, with short notes. `cooldowns` are those that still last, and
    `last_diagnosis` the newest; what is about another user's own is left out.
    """

    job: DiagnosisJob
    at: datetime
    health: ToolHealth | None = None
    history: tuple[HistoryEntry, ...] = ()
    cooldowns: tuple[Cooldown, ...] = ()
    last_diagnosis: LastDiagnosis | None = None


def snapshot_of(job: DiagnosisJob, health: ToolHealth | None, at: datetime) -> Snapshot:
    """What this job and document say at `at`."""
    if health is None:
        return Snapshot(job, at)
    concerned = (None, job.originating_user_id)
    last = health.last_diagnosis
    return Snapshot(
        job,
        at,
        health,
        history=tuple(map(_short, health.history[:HISTORY_CONTEXT_LIMIT])),
        cooldowns=tuple(
            entry for entry in health.cooldowns if is_active(entry, at) and entry.user_id in concerned
        ),
        last_diagnosis=last if last is not None and last.user_id in concerned else None,
    )


def taken(job: DiagnosisJob, reading: HealthReading, at: datetime) -> Snapshot:
    """What is known of this job now. A document of the originator's session counts, too."""
    nearest = reading.nearest(
        job.tenant_id,
        job.tool_name,
        project_id=job.project_id,
        user_id=job.originating_user_id,
        session_id=job.originating_session_id,
    )
    return snapshot_of(job, nearest, at)


def _short(entry: HistoryEntry) -> HistoryEntry:
    if entry.note is None or len(entry.note) <= MAX_HISTORY_NOTE:
        return entry
    return entry.with_changes(note=entry.note[: MAX_HISTORY_NOTE - 1] + "…")

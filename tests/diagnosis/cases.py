"""Boring values for tests of the diagnosis: probes, histories, snapshots, and what they are to say."""

from datetime import timedelta
from typing import Any

from agrajag.diagnosis.probe import ProbeOutcome
from agrajag.diagnosis.snapshot import Snapshot, snapshot_of
from agrajag.model.enums import Classification, ProbeIdentity, Status
from agrajag.model.health import HistoryEntry
from tests.builders import NOW, a_health, a_job

USER = ProbeIdentity.USER
SYSTEM = ProbeIdentity.SYSTEM


def works(identity: ProbeIdentity, **changes: Any) -> ProbeOutcome:
    """A probe with credentials that has worked."""
    given: dict[str, Any] = {
        "identity": identity,
        "had_credentials": True,
        "success": True,
        "duration_ms": 20,
        "status_code": 200,
        "error_signature": None,
        "raw_response": '{"results": []}',
        "at": NOW,
    }
    return ProbeOutcome(**(given | changes))


def fails(
    identity: ProbeIdentity, signature: str = "http-5xx", status: int | None = 500, **changes: Any
) -> ProbeOutcome:
    """A probe with credentials that has failed."""
    given = {"success": False, "status_code": status, "error_signature": signature, "raw_response": "no"}
    return works(identity, **(given | changes))


def an_entry(minutes_ago: int, status: Status = Status.DOWN, **changes: Any) -> HistoryEntry:
    """A change of status so long ago."""
    at = NOW - timedelta(minutes=minutes_ago)
    classification = Classification.WORKING if status is Status.OK else Classification.TECHNICALLY_BROKEN
    given: dict[str, Any] = {"at": at, "last_at": at, "status": status, "by": "somebody"}
    return HistoryEntry(**(given | {"classification": classification} | changes))


def a_snapshot(*history: HistoryEntry, cooldowns: tuple[Any, ...] = (), **job: Any) -> Snapshot:
    """What is known of `a_job(**job)`; a document only where there is something to stand in it."""
    health = a_health(history=history, cooldowns=cooldowns) if history or cooldowns else None
    return snapshot_of(a_job(**job), health, NOW)

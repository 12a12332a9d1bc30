"""Reads the history of a tool: whether it comes and goes, and how long it is usually away.

Only what is written down counts. Two outages are the least that a pattern can be seen in.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby

from agrajag.diagnosis.snapshot import Snapshot
from agrajag.model.enums import Classification, Status

RECENT = timedelta(hours=1)
FLAPS = 2
MANY_ERRORS = 10
_FIRST_PAUSE = timedelta(minutes=15)
_LONGEST_PAUSE = timedelta(hours=2)
_LONGEST_OUTAGE = timedelta(hours=24)


def is_flapping(snapshot: Snapshot) -> bool:
    """Whether the tool came and went within the last hour, or so many errors joined that it cannot be one slip."""
    return recent_troubles(snapshot) >= FLAPS or snapshot.job.error_count >= MANY_ERRORS


def recent_troubles(snapshot: Snapshot) -> int:
    """How often the last hour brought trouble: times that the tool was not OK, or that it was found intermittent.

    One long outage is one trouble, however often it was written down.
    """
    recent = [entry for entry in snapshot.history if entry.last_at >= snapshot.at - RECENT]
    times_away = sum(1 for is_ok, _ in groupby(recent, lambda entry: entry.status is Status.OK) if not is_ok)
    found = sum(entry.count for entry in recent if entry.classification is Classification.INTERMITTENT)
    return max(times_away, found)


def intermittent_recovery(snapshot: Snapshot, now: datetime) -> datetime:
    """When a tool that comes and goes is to be believed again: the later, the more often it was in trouble lately.

    (spec agrajag §10: a pattern within the last hour suggests a longer time)
    """
    doubled = _FIRST_PAUSE * (1 << min(recent_troubles(snapshot), 3))
    return now + min(doubled, _LONGEST_PAUSE)


def outage_recovery(snapshot: Snapshot, now: datetime) -> datetime | None:
    """When the tool will be back if this outage is like the earlier ones; None where that cannot be told."""
    spans = list(_outages(snapshot))
    if len(spans) < FLAPS:
        return None
    verdict = snapshot.health.verdict if snapshot.health is not None else None
    began = verdict.since if verdict is not None and verdict.status is Status.DOWN else None
    expected = (began or now) + sorted(spans)[len(spans) // 2]
    return min(expected, now + _LONGEST_OUTAGE) if expected > now else None


def _outages(snapshot: Snapshot) -> Iterator[timedelta]:
    """How long each outage of the history lasted that has ended, the newest first."""
    ended: datetime | None = None
    began: datetime | None = None
    for entry in snapshot.history:
        if entry.status is Status.DOWN:
            began = entry.at
            continue
        if began is not None and ended is not None and ended > began:
            yield ended - began
        began, ended = None, entry.at
    if began is not None and ended is not None and ended > began:
        yield ended - began

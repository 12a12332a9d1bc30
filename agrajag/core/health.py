"""Transitions of one health document: how a status is written and how its history grows.

The newest evidence decides, not the last arrival: an error that happened before what the document already rests on
changes no status. A weaker status never replaces a DOWN that has not expired.
"""

from dataclasses import dataclass
from datetime import datetime

from agrajag.core.policy import Policy
from agrajag.model.enums import Classification, Status
from agrajag.model.health import Cooldown, HistoryEntry, ToolHealth, VerdictFacet

CHECKER = "agrajag-checker"


@dataclass(frozen=True, slots=True)
class Marking:
    """A status to be written, with what is known about it."""

    status: Status
    classification: Classification | None
    expected_recovery_at: datetime | None
    note: str | None
    by: str = CHECKER


def accepts(verdict: VerdictFacet, marking: Marking, now: datetime) -> bool:
    """Whether evidence of `now` may write `marking` over `verdict`."""
    if verdict.evidence_at is not None and now < verdict.evidence_at:
        return False
    return not (marking.status is Status.DEGRADED and is_unexpired_down(verdict, now))


def only_counts_on(before: ToolHealth, after: ToolHealth) -> bool:
    """Whether `after` says nothing new: more of the same failures, their number and the time of the newest."""
    verdict = before.verdict
    return (
        _but_verdict_and_cooldowns(before) == _but_verdict_and_cooldowns(after)
        and (
            verdict is after.verdict
            or verdict.with_changes(evidence_at=after.verdict.evidence_at) == after.verdict
        )
        and len(before.cooldowns) == len(after.cooldowns)
        and all(map(_is_same_pause, before.cooldowns, after.cooldowns))
    )


def _but_verdict_and_cooldowns(health: ToolHealth) -> tuple[object, ...]:
    return (
        health.link,
        health.override,
        health.last_diagnosis,
        health.last_checked_at,
        health.last_success_at,
        health.history,
    )


def _is_same_pause(before: Cooldown, after: Cooldown) -> bool:
    return before is after or before.with_changes(last_triggered_at=after.last_triggered_at) == after


def is_unexpired_down(verdict: VerdictFacet, now: datetime) -> bool:
    """Whether the verdict is DOWN and its recovery, if one was promised, lies ahead."""
    recovery = verdict.expected_recovery_at
    return verdict.status is Status.DOWN and (recovery is None or now < recovery)


def marked(verdict: VerdictFacet, marking: Marking, now: datetime) -> VerdictFacet:
    """The verdict after `marking`. `since` moves only when the status really changes."""
    return VerdictFacet(
        status=marking.status,
        since=verdict.since if verdict.status is marking.status and verdict.since else now,
        expected_recovery_at=marking.expected_recovery_at,
        classification=marking.classification,
        note=marking.note,
        by=marking.by,
        evidence_at=now,
    )


def remembered(
    history: tuple[HistoryEntry, ...], marking: Marking, now: datetime, policy: Policy
) -> tuple[HistoryEntry, ...]:
    """The history with `marking` in front, newest first, at most `policy.history_size` entries.

    A repeat of the newest entry (same status, classification, note and author) is counted there instead, so that a
    flapping tool does not push out what happened before.
    """
    newest = history[0] if history else None
    if newest is not None and _same(newest, marking):
        repeated = newest.with_changes(
            count=newest.count + 1,
            last_at=max(newest.last_at, now),
            expected_recovery_at=marking.expected_recovery_at,
        )
        return (repeated, *history[1:])
    entry = HistoryEntry(
        at=now,
        last_at=now,
        status=marking.status,
        classification=marking.classification,
        note=marking.note,
        by=marking.by,
        expected_recovery_at=marking.expected_recovery_at,
    )
    return (entry, *history)[: policy.history_size]


def _same(entry: HistoryEntry, marking: Marking) -> bool:
    return (
        entry.status is marking.status
        and entry.classification is marking.classification
        and entry.note == marking.note
        and entry.by == marking.by
    )

"""The cooldowns that an answer asks for beside its verdict (spec agrajag §5.3), one by one, within bounds.

At most five, for this tool only, of a signature that is known, for the user whose job it is or, from PROJECT up, for
everybody, and never beyond the cap. Each stands in the document of the job, where errors of its signature are judged.
"""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from agrajag.core.apply_guards import Guard
from agrajag.core.cooldown_room import put_stated
from agrajag.core.draft import Draft
from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.model.enums import Classification, Scope
from agrajag.model.health import Cooldown
from agrajag.model.jobs import CooldownAdjustment

MAX_APPLIED = 5


class Bounds(NamedTuple):
    """Whose cooldowns an answer may set, and what goes into them. `seen_at` is its newest evidence."""

    scope: Scope
    user_id: str | None
    classification: Classification
    by: str
    now: datetime
    seen_at: datetime


def known_signatures(draft: Draft, asked: str, rules: RuleSet) -> frozenset[str]:
    """Those of the job, of its document, and of the rules."""
    of_document = {entry.error_signature for entry in draft.cooldowns}
    last = draft.last_diagnosis
    return frozenset(
        {asked, *of_document, *([last.error_signature] if last else []), *(r.signature for r in rules.rules)}
    )


def adjust(
    draft: Draft,
    adjustments: Iterable[CooldownAdjustment],
    known: Collection[str],
    bounds: Bounds,
    policy: Policy,
    clock: datetime,
) -> Iterator[Guard]:
    """Set them, and yield what kept one from being set as it was asked for. `clock` serves leases only."""
    for number, adjustment in enumerate(adjustments):
        if number == MAX_APPLIED:
            yield Guard.TOO_MANY_ADJUSTMENTS
            return
        refused = _refusal(adjustment, known, bounds)
        if refused is not None:
            yield refused
            continue
        span = policy.capped(adjustment.duration)
        if span < adjustment.duration:
            yield Guard.LONG_ADJUSTMENT
        if not put_stated(draft, _cooldown(adjustment, span, bounds), bounds.now, policy, clock):
            yield Guard.NO_ROOM


def _refusal(adjustment: CooldownAdjustment, known: Collection[str], bounds: Bounds) -> Guard | None:
    if adjustment.user_id not in {None, bounds.user_id}:
        return Guard.FOREIGN_USER
    if adjustment.user_id is None and bounds.scope.rank < Scope.PROJECT.rank:
        return Guard.TOO_WIDE_ADJUSTMENT
    if adjustment.error_signature not in known:
        return Guard.UNKNOWN_SIGNATURE
    return Guard.EMPTY_ADJUSTMENT if adjustment.duration <= timedelta(0) else None


def _cooldown(adjustment: CooldownAdjustment, span: timedelta, bounds: Bounds) -> Cooldown:
    return Cooldown(
        error_signature=adjustment.error_signature,
        user_id=adjustment.user_id,
        since=bounds.now,
        next_spawn_allowed_at=bounds.now + span,
        last_classification=bounds.classification,
        last_triggered_at=bounds.seen_at,
        note=bounds.by,
    )

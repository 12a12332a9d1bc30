"""How a verdict that stands gets into the documents: status, cooldowns, what was diagnosed, the user's inbox item.

Nothing here says which verdict stands; each function looks only at what is in its way there.
"""

from datetime import datetime

from agrajag.core.adjustments import Bounds, adjust, known_signatures
from agrajag.core.apply_case import Case, Stands
from agrajag.core.apply_guards import Guard, held_recovery
from agrajag.core.cooldown import BACKOFFS, covers, is_active, is_remembered, joined
from agrajag.core.draft import Draft
from agrajag.core.health import Marking, is_unexpired_down
from agrajag.core.inbox_text import message, shown_hint
from agrajag.core.jobs import derived_id
from agrajag.core.lookup import USER_CLASSES
from agrajag.core.recheck import USER_REQUEST
from agrajag.model.answers import InboxItem
from agrajag.model.enums import Classification, Scope, Status, Trigger
from agrajag.model.health import LastDiagnosis

OF_ONE_USER = frozenset({Classification.USER_PERMISSION, Classification.USER_INPUT})
"""Verdicts about one user that touch no status."""
_STATUS_OF = {
    Classification.TECHNICALLY_BROKEN: Status.DOWN,
    Classification.USER_SPECIFIC_TECHNICAL: Status.DOWN,
    Classification.INTERMITTENT: Status.DEGRADED,
    Classification.UNCLEAR: Status.DEGRADED,
}


def mark(case: Case, stands: Stands, key: str) -> bool:
    """Write the status that the verdict stands for; False where something speaks against it."""
    classification = stands.classification
    status = _STATUS_OF.get(classification)
    if status is None:
        return True
    held_back = _held_back(case, status, stands, key)
    if held_back is not None:
        case.guards.append(held_back)
        return False
    diagnosis = case.event.diagnosis
    wanted = diagnosis.expected_recovery_at if diagnosis else None
    recovery, guard = held_recovery(wanted, classification, case.now, case.policy)
    if guard is not None:
        case.guards.append(guard)
    draft = case.drafts.make(key)
    marking = Marking(status, classification, recovery, case.note, case.event.by)
    draft.write(marking, stands.seen_at, case.policy)
    case.touch(draft)
    return True


def _held_back(case: Case, status: Status, stands: Stands, key: str) -> Guard | None:
    if status is Status.DOWN and case.event.tool_name in case.policy.never_down:
        return Guard.NEVER_DOWN
    draft = case.drafts.find(key)
    evidence_at = draft.verdict.evidence_at if draft is not None else None
    if evidence_at is not None and stands.seen_at < evidence_at:
        return Guard.NEWER_EVIDENCE
    found, is_unclear = case.found, stands.classification is Classification.UNCLEAR
    if is_unclear and found.worked_at is not None and found.failed_at is None:
        return Guard.ALL_WORKED
    if status is Status.DEGRADED and (is_unclear or found.worked_at is None) and _is_down(case, stands.scope):
        return Guard.DOWN_STANDS
    return None


def _is_down(case: Case, scope: Scope) -> bool:
    """Whether an unexpired DOWN stands there or wider: a narrower DEGRADED would hide it from the user."""
    return any(
        is_unexpired_down(wider.verdict, case.now) or wider.link.down_since is not None
        for wider in case.cascade()
        if wider.scope.rank >= scope.rank
    )


def tell_user(case: Case, stands: Stands, key: str) -> str | None:
    """Open the user's inbox item for what is their own, and pause their errors alone; the hint that they are given."""
    user_id = case.asked.own_user_id
    if stands.classification is not Classification.USER_SPECIFIC_TECHNICAL or user_id is None:
        return None
    event = case.event
    if event.trigger is Trigger.TOOL_CALL_ERROR:
        _pause_user(case, user_id)
    signature = case.claim.error_signature
    if signature == USER_REQUEST and case.found.user_signature is not None:
        signature = case.found.user_signature
    hint = shown_hint(event.diagnosis.user_action_hint) if event.diagnosis else None
    told = message(event.tool_name, hint, case.locale)
    draft = case.drafts.make(key)
    draft.inbox.open(
        InboxItem(
            item_id=derived_id("inbox", event.tenant_id, user_id, event.tool_name, signature, event.job_id),
            revision=1,
            tenant_id=event.tenant_id,
            assigned_to_user_id=user_id,
            tool_name=event.tool_name,
            error_signature=signature,
            opening_job_id=event.job_id,
            title=told.title,
            body=told.body,
            created_at=stands.seen_at,
            updated_at=case.now,
        )
    )
    case.touch(draft)
    return hint


def _pause_user(case: Case, user_id: str) -> None:
    """What was claimed for everybody is this user's own: their pause is that of the class, and others have none."""
    own, claim = case.own, case.claim
    if claim.user_id is None:
        own.forget_cooldowns(lambda entry: entry is not claim)
    known = own.cooldown(claim.error_signature, user_id)
    hits = claim.hits
    if known is not None and known is not claim and is_remembered(known, case.now, case.policy):
        hits = max(hits, known.hits + 1)
    span = case.policy.capped(BACKOFFS[Classification.USER_SPECIFIC_TECHNICAL].after(hits))
    entry = claim.with_changes(
        user_id=user_id,
        hits=hits,
        last_classification=Classification.USER_SPECIFIC_TECHNICAL,
        since=claim.since if is_active(claim, case.now) else case.now,
        next_spawn_allowed_at=max(claim.next_spawn_allowed_at, case.now + span),
    )
    own.put_cooldown(entry if known is None or known is claim else joined(known, entry, case.now))


def adjust_cooldowns(case: Case, stands: Stands) -> None:
    """Set the cooldowns that come with the verdict; none come with one that was not said, nor with WORKING."""
    diagnosis = case.event.diagnosis
    adjustments = diagnosis.cooldown_adjustments if diagnosis else ()
    if not adjustments:
        return
    if not stands.is_trusted or stands.classification is Classification.WORKING:
        case.guards.append(Guard.UNTRUSTED_ADJUSTMENTS)
        return
    user_id = case.asked.own_user_id
    bounds = Bounds(stands.scope, user_id, stands.classification, case.event.by, case.now, stands.seen_at)
    known = known_signatures(case.own, case.claim.error_signature, case.rules)
    case.guards += adjust(case.own, adjustments, known, bounds, case.policy, case.clock)


def remember(case: Case, stands: Stands, key: str) -> None:
    """Let a real answer answer for the errors of its signature that follow soon."""
    if not stands.is_answer:
        return
    is_theirs = stands.classification in USER_CLASSES
    draft = case.own if stands.classification in OF_ONE_USER else case.drafts.make(key)
    draft.last_diagnosis = LastDiagnosis(
        classification=stands.classification,
        note=case.note,
        by=case.event.by,
        at=case.now,
        error_signature=case.claim.error_signature,
        job_id=case.event.job_id,
        user_id=case.asked.own_user_id if is_theirs else case.claim.user_id,
    )
    case.touch(draft)


def to_heal(case: Case) -> Draft | None:
    """The narrowest document whose verdict is not OK and for which a probe speaks; else the job's own, if one does.

    None is wider than the question.
    """
    spoken_for = _spoken_for(case)
    for draft in spoken_for:
        if draft.verdict.status is not Status.OK:
            return draft
    return case.own if case.own in spoken_for else None


def heal(case: Case, draft: Draft, worked_at: datetime) -> bool:
    """Make the verdict OK, unless newer evidence stands against it; end what the probes disprove."""
    _end_pauses(case)
    evidence_at = draft.verdict.evidence_at
    if evidence_at is not None and worked_at < evidence_at:
        case.guards.append(Guard.NEWER_EVIDENCE)
        return False
    ok = Marking(Status.OK, Classification.WORKING, None, case.note, case.event.by)
    draft.write(ok, worked_at, case.policy)
    case.touch(draft)
    return True


def worked_for(case: Case, draft: Draft) -> datetime | None:
    """When the tool last worked for those that a document is about: for one user only what worked as them."""
    is_personal = draft.scope.rank < Scope.PROJECT.rank
    return case.found.user_worked_at if is_personal else case.found.worked_at


def _spoken_for(case: Case) -> list[Draft]:
    return [
        draft
        for draft in case.cascade()
        if draft.scope.rank <= case.asked.scope.rank and worked_for(case, draft) is not None
    ]


def _end_pauses(case: Case) -> None:
    """End the cooldowns, and archive the inbox items, of those for whom it was seen to work."""
    user_id = case.asked.own_user_id if case.found.user_worked_at is not None else None
    for draft in _spoken_for(case):
        worked_at = worked_for(case, draft)
        if worked_at is None:
            continue
        ended = draft.end_cooldowns(worked_at, lambda entry: covers(entry, None, user_id))
        if ended + draft.inbox.archive_until(worked_at):
            case.touch(draft)

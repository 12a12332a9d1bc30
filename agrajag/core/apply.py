"""What becomes of the answer to a diagnosis job (spec agrajag §5.2 step 5), by its evidence and not by its words.

The questions, in order: is it the answer to a job that is in flight here, may it say anything about now, which verdict
stands, where is that written, and does something newer or stronger stand there. Whatever the answers, the job has
ended, and its claim is released: a later error is judged by the freshness of what was found.
"""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from agrajag.core.apply_case import Case, Stands
from agrajag.core.apply_guards import (
    NOT_TRIED,
    REASONS,
    Guard,
    Question,
    credential_signatures,
    judged,
    target_scope,
)
from agrajag.core.apply_writing import (
    OF_ONE_USER,
    adjust_cooldowns,
    heal,
    mark,
    remember,
    tell_user,
    to_heal,
    worked_for,
)
from agrajag.core.draft import Draft
from agrajag.core.drafts import Drafts
from agrajag.core.evidence import newest, probed
from agrajag.core.lookup import Caller
from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.core.probe_failures import is_of_several
from agrajag.core.redact import redacted_line
from agrajag.core.repeats import repeat_of
from agrajag.core.times import event_time
from agrajag.core.verdicts import Arrival, Repeat
from agrajag.model.enums import Classification, CloseReason, Scope, Trigger
from agrajag.model.health import Cooldown
from agrajag.model.jobs import DiagnosisJob, DiagnosisResult
from agrajag.model.keys import health_key
from agrajag.model.wire_model import MAX_NOTE

_MAX_REASON = 200


class Ending(StrEnum):
    """What became of an answer: carried out, not carried out for a reason, or too late to be looked at."""

    APPLIED = "applied"
    HELD_BACK = "held_back"
    STALE = "stale"


class Applied(NamedTuple):
    """What became of an answer: what CLOSED says of its process, and the guards that were met.

    `verdict` is the one that stands, None where there is none; `applied` whether it was carried out.
    """

    close_reason: CloseReason
    verdict: Classification | None
    applied: bool
    guards: tuple[Guard, ...]
    now: datetime
    human_note: str | None = None
    user_action_hint: str | None = None
    parent_process_id: str | None = None

    @property
    def ending(self) -> Ending:
        """What became of it in one word."""
        if self.close_reason is CloseReason.STALE:
            return Ending.STALE
        return Ending.APPLIED if self.applied else Ending.HELD_BACK

    @property
    def reason(self) -> str | None:
        """Why not everything was done as the answer said; None where it was."""
        return "; ".join(REASONS[guard] for guard in dict.fromkeys(self.guards))[:_MAX_REASON] or None


def apply(
    arrival: Arrival[DiagnosisResult], drafts: Drafts, rules: RuleSet, policy: Policy, clock: datetime
) -> Applied | Repeat:
    """Decide about one answer and move the drafts of its tool accordingly.

    The same record a second time, and the same process's answer to a job that it has answered, move nothing and give a
    `Repeat`. `clock`, the worker's, serves leases and lateness only.
    """
    event = arrival.event
    now = event_time(event.finished_at, arrival.appended_at)
    key = health_key(event.tenant_id, event.scope, event.scope_id, event.tool_name)
    own = drafts.find(key)
    if own is None:
        return _left_alone(event, Guard.UNCLAIMED, now)
    if (repeat := repeat_of(arrival, drafts.present(_keys(event, key)))) is not None:
        return repeat
    if event.job_id in own.jobs.handled_ids:
        if event.process_id in own.jobs.answered_by:
            return Repeat((key,), None)
        return _left_alone(event, Guard.ANSWERED, now)
    claim = next((entry for entry in own.cooldowns if entry.job_id == event.job_id), None)
    if claim is None:
        return _left_alone(event, Guard.UNCLAIMED, now)
    job = own.jobs.find(event.job_id)
    case = _case(arrival, drafts, rules, policy, clock, own, claim, job)
    _end_job(case)
    parent = job.originating_process_id if job is not None and job.trigger is Trigger.USER_REQUEST else None
    return _decided(case)._replace(parent_process_id=parent)


def _keys(event: DiagnosisResult, own: str) -> list[str]:
    """The documents that the answer can have changed."""
    session_id = event.scope_id if event.scope is Scope.SESSION else None
    caller = Caller(event.tenant_id, event.project_id, event.originating_user_id, session_id)
    return list(dict.fromkeys((own, *caller.keys(event.tool_name))))


def _left_alone(event: DiagnosisResult, guard: Guard, now: datetime) -> Applied:
    """No document waits for the answer: it leaves no trace, and is the same each time it comes."""
    return Applied(CloseReason.STALE, None, False, (guard,), now, _note_of(event))


def _note_of(event: DiagnosisResult) -> str | None:
    if event.diagnosis is not None:
        return redacted_line(event.diagnosis.human_note, MAX_NOTE)
    return None if event.failure is None else f"could not be diagnosed: {event.failure}"


def _case(
    arrival: Arrival[DiagnosisResult],
    drafts: Drafts,
    rules: RuleSet,
    policy: Policy,
    clock: datetime,
    own: Draft,
    claim: Cooldown,
    job: DiagnosisJob | None,
) -> Case:
    """What was asked, by what the table knows of the job; by the answer's own words where it knows no more."""
    event = arrival.event
    now = event_time(event.finished_at, arrival.appended_at)
    reported = job.error_count > 0 if job else event.trigger is not Trigger.USER_REQUEST
    found = probed(event.evidence, now, credential_signatures(rules), was_reported=reported)
    of_session = event.scope is Scope.SESSION
    asked = Question(
        tenant_id=event.tenant_id,
        scope=event.scope,
        scope_id=event.scope_id,
        project_id=event.scope_id if event.scope is Scope.PROJECT else (job or event).project_id,
        user_id=(job or event).originating_user_id,
        session_id=event.scope_id if of_session else job.originating_session_id if job else None,
        reported=reported,
        is_of_several=is_of_several((job or event).distinct_users),
        is_of_credential=claim.user_id is not None,
    )
    return Case(
        arrival=arrival,
        drafts=drafts,
        rules=rules,
        policy=policy,
        clock=clock,
        now=now,
        found=found,
        own=own,
        claim=claim.with_changes(claimed_by=None, job_id=None, lease_until=None),
        asked=asked,
        reported_at=claim.last_triggered_at if reported else None,
        locale=event.locale or (job.locale if job else None),
        note=_note_of(event),
        guards=[Guard.NO_CREDENTIALS] if found.ignored else [],
    )


def _end_job(case: Case) -> None:
    """Later errors of the signature may claim again, once its pause is over."""
    own, found = case.own, case.found
    own.jobs.end(case.event.job_id, case.event.process_id)
    own.put_cooldown(case.claim)
    own.last_checked_at = newest(own.last_checked_at, found.worked_at, found.failed_at)
    case.touch(own)


def _closed(
    case: Case, close_reason: CloseReason, guard: Guard, verdict: Classification | None = None
) -> Applied:
    """Nothing of the answer is written."""
    note = REASONS[guard] if guard is Guard.NOT_CHECKED else case.note
    return Applied(close_reason, verdict, False, (*case.guards, guard), case.now, note)


def _decided(case: Case) -> Applied:
    event = case.event
    if event.tool_name in case.policy.never_diagnosed:
        return _closed(case, CloseReason.DONE, Guard.NEVER_DIAGNOSED)
    if case.clock - case.now > case.policy.late_after:
        return _closed(case, CloseReason.STALE, Guard.LATE)
    if event.failure in NOT_TRIED or (event.diagnosis is None and event.failure is None):
        return _closed(case, CloseReason.DONE, Guard.NOT_TRIED)
    stands = _standing(case)
    if stands is None:
        guard = Guard.NOT_CHECKED if case.found.worked_at is None else Guard.ALL_WORKED
        return _closed(case, CloseReason.DONE, guard, Classification.UNCLEAR)
    if stands.classification is Classification.WORKING:
        return _working(case, stands)
    return _failing(case, stands)


def _standing(case: Case) -> Stands | None:
    """The verdict that stands; None where neither an error nor a failing probe is behind one that something fails."""
    event, diagnosis, found, asked = case.event, case.event.diagnosis, case.found, case.asked
    is_answer = diagnosis is not None and event.failure is None and not event.is_fallback
    said = diagnosis.classification if diagnosis is not None and is_answer else Classification.UNCLEAR
    classification, guards = judged(said, asked, found)
    seen_at = newest(found.worked_at, found.failed_at, case.reported_at)
    is_grounded = asked.reported or found.failed_at is not None
    if seen_at is None or not (is_grounded or classification is Classification.WORKING):
        return None
    case.guards += guards
    wanted = diagnosis.scope if diagnosis else event.scope
    if said is Classification.USER_SPECIFIC_TECHNICAL and Guard.UNPROVEN in guards:
        wanted = Scope.USER  # nobody has said that it is anybody else's
    scope, scope_id = _scope(case, wanted, classification)
    is_trusted = is_answer and classification is said
    return Stands(classification, is_answer, is_trusted, scope, scope_id, seen_at)


def _scope(case: Case, wanted: Scope, classification: Classification) -> tuple[Scope, str]:
    """Where the verdict belongs: never wider than the question, nor than what anything has shown."""
    asked = case.asked
    scope, scope_id, is_narrower = target_scope(wanted, classification, asked)
    if is_narrower:
        case.guards.append(Guard.TOO_WIDE)
    is_about_all = scope.rank > Scope.USER.rank and classification not in OF_ONE_USER
    is_one_users = case.found.is_one_users and not asked.is_of_several
    if is_about_all and is_one_users and asked.own_user_id is not None:
        case.guards.append(Guard.OTHERS_WORK)
        return Scope.USER, asked.own_user_id
    return scope, scope_id


def _failing(case: Case, stands: Stands) -> Applied:
    user_id = case.asked.own_user_id
    key = case.key(stands.scope, stands.scope_id)
    if stands.classification in OF_ONE_USER and user_id is not None:
        key = case.key(Scope.USER, user_id)  # nobody else's success says anything about what is theirs
    outdated = case.outdated(case.drafts.find(key), stands.seen_at)
    if outdated is not None:
        return _closed(case, CloseReason.STALE, outdated, stands.classification)
    done = mark(case, stands, key)
    hint = tell_user(case, stands, key)
    adjust_cooldowns(case, stands)
    remember(case, stands, key)
    return _done(case, stands, done, hint)


def _working(case: Case, stands: Stands) -> Applied:
    draft = to_heal(case)
    if draft is None:
        case.guards.append(Guard.NOT_AS_USER)
        return _done(case, stands, False)
    worked_at = worked_for(case, draft) or stands.seen_at
    outdated = case.outdated(draft, worked_at)
    if outdated is not None:
        return _closed(case, CloseReason.STALE, outdated, stands.classification)
    done = heal(case, draft, worked_at)
    adjust_cooldowns(case, stands)
    remember(case, stands, case.own.key)
    return _done(case, stands, done)


def _done(case: Case, stands: Stands, done: bool, hint: str | None = None) -> Applied:
    guards = tuple(case.guards)
    return Applied(CloseReason.DONE, stands.classification, done, guards, case.now, case.note, hint)

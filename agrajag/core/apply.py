"""What becomes of the answer to a diagnosis job (spec agrajag §5.2 step 5), by its evidence and not by its words.

The questions, in order: is it the answer to a job that is in flight here, may it say anything about now, which verdict
stands, where is that written, and does something newer or stronger stand there. Whatever the answers, the job has
ended, and its claim is released: a later error is judged by the freshness of what was found.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from agrajag.core.adjustments import Bounds, adjust, known_signatures
from agrajag.core.apply_guards import (
    NOT_TRIED,
    REASONS,
    Guard,
    Question,
    held_recovery,
    judged,
    target_scope,
)
from agrajag.core.cooldown import BACKOFFS, covers, is_remembered, merged
from agrajag.core.draft import Draft
from agrajag.core.drafts import Drafts
from agrajag.core.evidence import newest, probed
from agrajag.core.health import Marking, is_unexpired_down
from agrajag.core.inbox_text import MAX_HINT, message, plain_text
from agrajag.core.jobs import derived_id
from agrajag.core.lookup import Caller
from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.core.recheck import USER_REQUEST
from agrajag.core.redact import redacted_line
from agrajag.core.repeats import repeat_of
from agrajag.core.times import event_time, milliseconds
from agrajag.core.verdicts import Arrival, Repeat
from agrajag.model.answers import InboxItem
from agrajag.model.enums import Classification, CloseReason, Scope, Status, Trigger
from agrajag.model.health import Cooldown, LastDiagnosis
from agrajag.model.jobs import DiagnosisResult
from agrajag.model.keys import health_key
from agrajag.model.wire_model import MAX_NOTE

MAX_REASON = 200
_STATUS_OF = {
    Classification.TECHNICALLY_BROKEN: Status.DOWN,
    Classification.USER_SPECIFIC_TECHNICAL: Status.DOWN,
    Classification.INTERMITTENT: Status.DEGRADED,
    Classification.UNCLEAR: Status.DEGRADED,
}
_OF_ONE_USER = frozenset({Classification.USER_PERMISSION, Classification.USER_INPUT})


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

    @property
    def reason(self) -> str | None:
        """Why not everything was done as the answer said; None where it was."""
        return "; ".join(REASONS[guard] for guard in dict.fromkeys(self.guards))[:MAX_REASON] or None


class _Stands(NamedTuple):
    """A verdict on its way into the documents."""

    classification: Classification
    is_answer: bool
    """Whether somebody has found it out, and it is not what is written where nobody has."""
    is_trusted: bool
    """Whether it is the very verdict of the answer."""
    scope: Scope
    scope_id: str
    seen_at: datetime
    """The newest evidence."""


def apply(
    arrival: Arrival[DiagnosisResult], drafts: Drafts, rules: RuleSet, policy: Policy, clock: datetime
) -> Applied | Repeat:
    """Decide about one answer and move the drafts of its tool accordingly.

    The same record a second time, and the same process's answer to a job that it has answered, move nothing and give a
    `Repeat`. `clock`, the worker's, serves leases and lateness only.
    """
    return _Apply(arrival, drafts, rules, policy, clock).decided()


class _Apply:
    """The decision about one answer: its inputs, and the few things that several questions need."""

    def __init__(
        self,
        arrival: Arrival[DiagnosisResult],
        drafts: Drafts,
        rules: RuleSet,
        policy: Policy,
        clock: datetime,
    ) -> None:
        self.arrival = arrival
        self.drafts = drafts
        self.rules = rules
        self.policy = policy
        self.clock = clock
        event = self.event = arrival.event
        self.now = event_time(event.finished_at, arrival.appended_at)
        self.key = health_key(event.tenant_id, event.scope, event.scope_id, event.tool_name)
        self.found = probed(event.evidence, self.now)
        self.guards: list[Guard] = [Guard.NO_CREDENTIALS] if self.found.ignored else []
        diagnosis = event.diagnosis
        self.note = redacted_line(diagnosis.human_note, MAX_NOTE) if diagnosis else None

    def decided(self) -> Applied | Repeat:
        own = self.drafts.find(self.key)
        claim = None
        if own is not None:
            if (repeat := repeat_of(self.arrival, [own])) is not None:
                return repeat
            if self.event.job_id in own.jobs.handled_ids:
                if self.event.process_id in own.jobs.answered_by:
                    return Repeat((self.key,), None)
                return self._closed(CloseReason.STALE, Guard.ANSWERED)
            claim = next((entry for entry in own.cooldowns if entry.job_id == self.event.job_id), None)
        if own is None or claim is None:
            return self._closed(CloseReason.STALE, Guard.UNCLAIMED)
        self._ask(own, claim)
        self._end_job(own)
        return self._judged()

    def _ask(self, own: Draft, claim: Cooldown) -> None:
        """What was asked, by what the table knows of the job; by the answer's own words where it knows no more."""
        event = self.event
        job = own.jobs.find(event.job_id)
        self.own = own
        self.signature = claim.error_signature
        reported = job.error_count > 0 if job else event.trigger is not Trigger.USER_REQUEST
        session_id = job.originating_session_id if job else None
        self.asked = Question(
            event.tenant_id,
            event.scope,
            event.scope_id,
            event.scope_id if event.scope is Scope.PROJECT else (job or event).project_id,
            (job or event).originating_user_id,
            event.scope_id if event.scope is Scope.SESSION else session_id,
            reported,
        )
        self.reported_at = claim.last_triggered_at if reported else None
        self.locale = event.locale or (job.locale if job else None)
        self.claim = claim.with_changes(claimed_by=None, job_id=None, lease_until=None)

    def _end_job(self, own: Draft) -> None:
        """Later errors of the signature may claim again, once its pause is over."""
        own.jobs.end(self.event.job_id, self.event.process_id)
        own.put_cooldown(self.claim)
        own.last_checked_at = newest(own.last_checked_at, self.found.worked_at, self.found.failed_at)
        self._touch(own)

    def _touch(self, draft: Draft) -> None:
        draft.touch(self.arrival.origin, self.arrival.offset, self.now, self.arrival.appended_ms)

    def _closed(
        self, close_reason: CloseReason, guard: Guard, verdict: Classification | None = None
    ) -> Applied:
        """Nothing of the answer is written."""
        self.guards.append(guard)
        note = REASONS[guard] if guard is Guard.NOT_CHECKED else self.note
        return Applied(close_reason, verdict, False, tuple(self.guards), self.now, note)

    # --- which verdict stands ---

    def _judged(self) -> Applied:
        event, diagnosis = self.event, self.event.diagnosis
        if event.tool_name in self.policy.never_diagnosed:
            return self._closed(CloseReason.DONE, Guard.NEVER_DIAGNOSED)
        if self.clock - self.now > self.policy.late_after:
            return self._closed(CloseReason.STALE, Guard.LATE)
        if event.failure in NOT_TRIED or (diagnosis is None and event.failure is None):
            return self._closed(CloseReason.DONE, Guard.NOT_TRIED)
        is_answer = diagnosis is not None and event.failure is None and not event.is_fallback
        if diagnosis is None:
            self.note = f"could not be diagnosed: {event.failure}"
        said = diagnosis.classification if diagnosis and is_answer else Classification.UNCLEAR
        classification, guards = judged(said, self.asked, self.found)
        self.guards += guards
        seen_at = newest(self.found.worked_at, self.found.failed_at, self.reported_at)
        is_grounded = self.asked.reported or self.found.failed_at is not None
        if seen_at is None or not (is_grounded or classification is Classification.WORKING):
            guard = Guard.NOT_CHECKED if self.found.worked_at is None else Guard.ALL_WORKED
            return self._closed(CloseReason.DONE, guard, Classification.UNCLEAR)
        scope, scope_id = self._scope(diagnosis.scope if diagnosis else event.scope, classification)
        is_trusted = is_answer and classification is said
        stands = _Stands(classification, is_answer, is_trusted, scope, scope_id, seen_at)
        return self._working(stands) if classification is Classification.WORKING else self._failing(stands)

    def _scope(self, wanted: Scope, classification: Classification) -> tuple[Scope, str]:
        """Where the verdict belongs: never wider than the question, nor than what the probes have shown."""
        scope, scope_id, is_narrower = target_scope(wanted, classification, self.asked)
        if is_narrower:
            self.guards.append(Guard.TOO_WIDE)
        user_id = self.asked.own_user_id
        is_about_all = scope.rank > Scope.USER.rank and classification not in _OF_ONE_USER
        if is_about_all and self.found.is_one_users and user_id is not None:
            self.guards.append(Guard.OTHERS_WORK)
            return Scope.USER, user_id
        return scope, scope_id

    def _outdated(self, draft: Draft | None, seen_at: datetime, user_id: str | None) -> Guard | None:
        """What has happened to a document since the newest evidence that makes the answer say nothing any more."""
        if draft is None:
            return None
        if draft.is_deleted_since(seen_at):
            return Guard.DELETED
        if draft.last_success_at is not None and draft.last_success_at >= seen_at:
            return Guard.NEWER_SUCCESS
        last = draft.last_diagnosis
        if last is not None and last.at > seen_at and last.user_id in {None, user_id}:
            return Guard.NEWER_DIAGNOSIS
        return None

    # --- something fails ---

    def _failing(self, stands: _Stands) -> Applied:
        user_id = self.asked.own_user_id
        key = self._document(stands.scope, stands.scope_id)
        if stands.classification in _OF_ONE_USER and user_id is not None:
            key = self._document(
                Scope.USER, user_id
            )  # nobody else's success says anything about what is theirs
        outdated = self._outdated(self.drafts.find(key), stands.seen_at, user_id)
        if outdated is not None:
            return self._closed(CloseReason.STALE, outdated, stands.classification)
        done = self._mark(stands, key)
        hint = self._told_user(stands, key)
        self._adjust(stands)
        self._remember(stands, key)
        return self._done(stands, done, hint)

    def _done(self, stands: _Stands, done: bool, hint: str | None = None) -> Applied:
        return Applied(
            CloseReason.DONE, stands.classification, done, tuple(self.guards), self.now, self.note, hint
        )

    def _mark(self, stands: _Stands, key: str) -> bool:
        """Write the status that the verdict stands for, if nothing speaks against it."""
        classification = stands.classification
        status = _STATUS_OF.get(classification)
        if status is None:
            return True
        held_back = self._held_back(status, stands, key)
        if held_back is not None:
            self.guards.append(held_back)
            return False
        diagnosis = self.event.diagnosis
        expected_at = diagnosis.expected_recovery_at if diagnosis else None
        recovery, guard = held_recovery(
            milliseconds(expected_at) if expected_at else None, classification, self.now, self.policy
        )
        if guard is not None:
            self.guards.append(guard)
        draft = self.drafts.make(key)
        draft.write(
            Marking(status, classification, recovery, self.note, self.event.by), stands.seen_at, self.policy
        )
        self._touch(draft)
        return True

    def _held_back(self, status: Status, stands: _Stands, key: str) -> Guard | None:
        if status is Status.DOWN and self.event.tool_name in self.policy.never_down:
            return Guard.NEVER_DOWN
        draft = self.drafts.find(key)
        evidence_at = draft.verdict.evidence_at if draft is not None else None
        if evidence_at is not None and stands.seen_at < evidence_at:
            return Guard.NEWER_EVIDENCE
        if stands.classification is not Classification.UNCLEAR:
            return None
        if self.found.worked_at is not None and self.found.failed_at is None:
            return Guard.ALL_WORKED
        # A narrower DEGRADED would hide a wider DOWN as well as replace one of its own scope.
        is_down = any(
            is_unexpired_down(wider.verdict, self.now) or wider.link.down_since is not None
            for wider in self._cascade()
            if wider.stands and wider.scope.rank >= stands.scope.rank
        )
        return Guard.DOWN_STANDS if is_down else None

    def _told_user(self, stands: _Stands, key: str) -> str | None:
        """Open the user's inbox item, and pause their errors alone; the hint that they are given."""
        user_id = self.asked.own_user_id
        if stands.classification is not Classification.USER_SPECIFIC_TECHNICAL or user_id is None:
            return None
        event = self.event
        if event.trigger is Trigger.TOOL_CALL_ERROR:
            self._pause(user_id)
        signature = self.signature
        if signature == USER_REQUEST and self.found.user_signature is not None:
            signature = self.found.user_signature
        given = event.diagnosis.user_action_hint if event.diagnosis else None
        hint = plain_text(given, MAX_HINT) or None if given else None
        told = message(event.tool_name, hint, self.locale)
        ids = event.tenant_id, user_id, event.tool_name, signature, event.job_id
        draft = self.drafts.make(key)
        draft.inbox.open(
            InboxItem(
                item_id=derived_id("inbox", *ids),
                revision=1,
                tenant_id=event.tenant_id,
                assigned_to_user_id=user_id,
                tool_name=event.tool_name,
                error_signature=signature,
                opening_job_id=event.job_id,
                title=told.title,
                body=told.body,
                created_at=stands.seen_at,
                updated_at=self.now,
            )
        )
        self._touch(draft)
        return hint

    def _pause(self, user_id: str) -> None:
        """What was claimed for everybody is this user's own: their pause is that of the class, others have none."""
        claim = self.claim
        if claim.user_id is None:
            self.own.forget_cooldowns(lambda entry: entry is not claim)
        known = self.own.cooldown(self.signature, user_id)
        hits = claim.hits
        if known is not None and known is not claim and is_remembered(known, self.now, self.policy):
            hits = max(hits, known.hits + 1)
        span = self.policy.capped(BACKOFFS[Classification.USER_SPECIFIC_TECHNICAL].after(hits))
        entry = claim.with_changes(
            user_id=user_id,
            hits=hits,
            last_classification=Classification.USER_SPECIFIC_TECHNICAL,
            next_spawn_allowed_at=max(claim.next_spawn_allowed_at, self.now + span),
        )
        self.own.put_cooldown(entry if known is None or known is claim else merged(known, entry))

    def _adjust(self, stands: _Stands) -> None:
        diagnosis = self.event.diagnosis
        adjustments = diagnosis.cooldown_adjustments if diagnosis else ()
        if not adjustments:
            return
        if not stands.is_trusted or stands.classification is Classification.WORKING:
            self.guards.append(Guard.UNTRUSTED_ADJUSTMENTS)
            return
        bounds = Bounds(
            stands.scope,
            self.asked.own_user_id,
            stands.classification,
            self.event.by,
            self.now,
            stands.seen_at,
        )
        known = known_signatures(self.own, self.signature, self.rules)
        self.guards += adjust(self.own, adjustments, known, bounds, self.policy, self.clock)

    def _remember(self, stands: _Stands, key: str) -> None:
        """Let a real answer answer for those errors of its signature that follow soon."""
        if not stands.is_answer:
            return
        classification = stands.classification
        is_theirs = classification in _OF_ONE_USER or classification is Classification.USER_SPECIFIC_TECHNICAL
        user_id = self.asked.own_user_id if is_theirs else self.claim.user_id
        draft = self.own if classification in _OF_ONE_USER else self.drafts.make(key)
        draft.last_diagnosis = LastDiagnosis(
            classification=classification,
            note=self.note,
            by=self.event.by,
            at=self.now,
            error_signature=self.signature,
            job_id=self.event.job_id,
            user_id=user_id,
        )
        self._touch(draft)

    # --- it works ---

    def _working(self, stands: _Stands) -> Applied:
        """Make the narrowest verdict OK that is not, as far as the probes speak for it, and end what they disprove."""
        healed = self._to_heal()
        if healed is None:
            self.guards.append(Guard.NOT_AS_USER)
            return self._done(stands, False)
        seen_at = self._worked_at(healed) or stands.seen_at
        outdated = self._outdated(healed, seen_at, self.asked.own_user_id)
        if outdated is not None:
            return self._closed(CloseReason.STALE, outdated, stands.classification)
        evidence_at = healed.verdict.evidence_at
        is_older = evidence_at is not None and seen_at < evidence_at
        if is_older:
            self.guards.append(Guard.NEWER_EVIDENCE)
        else:
            ok = Marking(Status.OK, Classification.WORKING, None, self.note, self.event.by)
            healed.write(ok, seen_at, self.policy)
            self._touch(healed)
        self._end_pauses()
        self._adjust(stands)
        self._remember(stands, self.key)
        return self._done(stands, not is_older)

    def _worked_at(self, draft: Draft) -> datetime | None:
        """When the tool last worked for those that a document is about: for one user only what worked as them."""
        return self.found.user_worked_at if draft.scope.rank < Scope.PROJECT.rank else self.found.worked_at

    def _to_heal(self) -> Draft | None:
        spoken_for = [
            draft for draft in self._cascade() if draft.stands and self._worked_at(draft) is not None
        ]
        for draft in spoken_for:
            if draft.verdict.status is not Status.OK:
                return draft
        return self.own if self.own in spoken_for else None

    def _end_pauses(self) -> None:
        """End the cooldowns, and archive the inbox items, of those for whom it was seen to work."""
        as_user = self.found.user_worked_at is not None
        user_id = self.asked.own_user_id if as_user else None
        for draft in self._cascade():
            worked_at = self._worked_at(draft)
            if worked_at is None or not draft.stands:
                continue
            ended = draft.end_cooldowns(worked_at, lambda entry: covers(entry, None, user_id))
            if ended + draft.inbox.archive_until(worked_at):
                self._touch(draft)

    # --- what several questions need ---

    def _document(self, scope: Scope, scope_id: str) -> str:
        return health_key(self.event.tenant_id, scope, scope_id, self.event.tool_name)

    def _cascade(self) -> Sequence[Draft]:
        """The documents of the originator's cascade that are not wider than the question, narrowest first."""
        asked = self.asked
        caller = Caller(asked.tenant_id, asked.project_id, asked.own_user_id, asked.session_id)
        present = self.drafts.present(caller.keys(self.event.tool_name))
        return [draft for draft in present if draft.scope.rank <= asked.scope.rank]

"""Layer 1: what one error means and what it changes (spec agrajag §4.1).

The questions, in order: was this very record decided before, what matched, is it too old to say anything
about now, does a diagnosis already run for it, does a cooldown cover it, is there a fresh answer; and only
then: what begins. Every error is counted on its document once, whatever the answer.
"""

from collections.abc import Sequence
from datetime import datetime

from agrajag.core.cooldown import active_cover, covers, in_flight, is_remembered, span_for
from agrajag.core.cooldown_room import has_room
from agrajag.core.draft import Draft
from agrajag.core.drafts import Drafts
from agrajag.core.features import Features
from agrajag.core.health import Marking
from agrajag.core.jobs import job_id_of, user_fingerprint
from agrajag.core.lookup import USER_CLASSES, Caller
from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.core.redact import detail_of
from agrajag.core.repeats import repeat_of
from agrajag.core.rule_status import RuleStatus, rule_status
from agrajag.core.rules import Rule
from agrajag.core.times import event_time
from agrajag.core.verdicts import Arrival, Repeat, Verdict
from agrajag.model.enums import Classification, CredentialKind, Outcome, Scope, Trigger
from agrajag.model.events import ToolCallError
from agrajag.model.health import MAX_JOBS, Cooldown
from agrajag.model.jobs import MAX_DETAIL, DiagnosisJob
from agrajag.model.keys import health_key

UNAUTHORIZED = 401
TOO_MANY_REQUESTS = 429


def triage(
    arrival: Arrival[ToolCallError], drafts: Drafts, rules: RuleSet, policy: Policy, clock: datetime
) -> Verdict | Repeat:
    """Decide about one error and move the drafts of its tool accordingly.

    The same arrival decided twice moves nothing the second time and gives a `Repeat`. `clock`, the worker's, serves
    leases and lateness only; every deadline comes from the event's own time.
    """
    return _Triage(arrival, drafts, rules, policy, clock).decided()


class _Triage:
    """The decision about one error: its inputs, and the few things that several questions need."""

    def __init__(
        self, arrival: Arrival[ToolCallError], drafts: Drafts, rules: RuleSet, policy: Policy, clock: datetime
    ) -> None:
        self.arrival = arrival
        self.drafts = drafts
        self.rules = rules
        self.policy = policy
        self.clock = clock
        event = self.event = arrival.event
        self.caller = Caller.of(event)
        self.present = drafts.present(self.caller.keys(event.tool_name))
        self.features = Features(event)
        self.now = event_time(event.occurred_at, arrival.appended_at)
        self.rule: Rule | None = None

    def decided(self) -> Verdict | Repeat:
        if self.present and (repeat := repeat_of(self.arrival, self.present)) is not None:
            return repeat
        rule = self.rule = self.rules.first_match(self.features)
        classification = rule.classification if rule else Classification.UNCLEAR
        event = self.event
        self.scope, self.scope_id = self.caller.target(event.tool_name, classification)
        self.key = health_key(event.tenant_id, self.scope, self.scope_id, event.tool_name)
        self.user_id = self._user_key(classification)
        if event.probe:
            return self._verdict(Outcome.PROBE)
        self.target = self.drafts.make(self.key)
        if self.target.is_deleted_since(self.now):
            return self._verdict(Outcome.SUPERSEDED)
        self._touch(self.target)
        self.target.errors += event.count
        if rule is None:
            return self._verdict(Outcome.UNMATCHED)
        if self.clock - self.now > self.policy.late_after:
            return self._verdict(Outcome.LATE)
        return (self._covered(rule) if self.present else None) or self._begun(rule)

    def _verdict(
        self,
        outcome: Outcome,
        cooldown_until: datetime | None = None,
        job_id: str | None = None,
        job: DiagnosisJob | None = None,
    ) -> Verdict:
        return Verdict(
            outcome,
            self.rule,
            self.scope,
            self.scope_id,
            self.key,
            self.user_id,
            self.now,
            cooldown_until,
            job_id,
            job,
        )

    def _touch(self, draft: Draft) -> None:
        draft.touch(self.arrival.origin, self.arrival.offset, self.now, self.arrival.appended_ms)

    def _user_key(self, classification: Classification) -> str | None:
        """Whom a cooldown or claim is for: this user where the error may be about their credential, else everybody."""
        if classification in USER_CLASSES:
            return self.event.user_id
        return self.event.user_id if self._is_credential_like() else None

    def _is_credential_like(self) -> bool:
        """Whether the error may be about this user's own credential: one that others share fails for all of them."""
        kind, features = self.event.credential_kind, self.features
        if kind is CredentialKind.SHARED or kind is CredentialKind.NONE:
            return False
        if features.http_status == TOO_MANY_REQUESTS:
            return kind is CredentialKind.USER
        return features.http_status == UNAUTHORIZED or features.has_auth_marker

    def _covered(self, rule: Rule) -> Verdict | None:
        """The verdict where something that stands already answers the error; None where something begins."""
        if self._is_superseded(rule):
            return self._verdict(Outcome.SUPERSEDED)
        wider = self._from_target_up()
        joined = self._joined(rule, wider)
        if joined is not None:
            return joined
        for draft in wider:
            cover = active_cover(draft.cooldowns, rule.signature, self.user_id, self.now) or active_cover(
                draft.cooldowns, rule.signature, self.event.user_id, self.now
            )
            if cover is not None:
                self.target.suppressed += self.event.count
                draft.fail_again(cover, self.now, confirms_status=self._status(rule).written is not None)
                if draft is not self.target:
                    self._touch(draft)
                return self._verdict(Outcome.SUPPRESSED, cover.next_spawn_allowed_at)
        if rule.classification is Classification.UNCLEAR and self._is_diagnosed(rule):
            return self._verdict(Outcome.ALREADY_DIAGNOSED)
        return None if self._has_room(rule) else self._verdict(Outcome.NO_ROOM)

    def _from_target_up(self) -> Sequence[Draft]:
        """The documents whose cooldowns and jobs speak for the target: itself, and the wider ones."""
        for position, draft in enumerate(self.present):
            if draft is self.target or draft.scope.rank >= self.scope.rank:
                return self.present[position:]
        return ()

    def _is_superseded(self, rule: Rule) -> bool:
        """Whether the tool has worked since for those whom the error is about: then it says nothing about now.

        That is what its own document says. There somebody else's success says nothing about what is one user's own.
        """
        is_personal = self.user_id is not None or rule.classification in USER_CLASSES
        if is_personal and self.scope.rank > Scope.USER.rank:
            return False
        succeeded_at = self.target.last_success_at
        return succeeded_at is not None and self.now <= succeeded_at

    def _joined(self, rule: Rule, wider: Sequence[Draft]) -> Verdict | None:
        """Join the job in flight for this signature and user, if there is one."""
        for draft in wider:
            for entry in draft.cooldowns:
                if not (in_flight(entry, self.clock) and covers(entry, rule.signature, self.user_id)):
                    continue
                job = draft.jobs.to_join(entry.job_id)
                if job is None:
                    continue
                draft.coalesced += self.event.count
                self._touch(draft)
                if job.wants_signal:
                    job.add_signal(detail_of(self.event, MAX_DETAIL))
                resend = job.join(self.event.count, self.event.user_id)
                return self._verdict(
                    Outcome.COALESCED,
                    entry.next_spawn_allowed_at,
                    entry.job_id,
                    job.frozen() if resend else None,
                )
        return None

    def _is_diagnosed(self, rule: Rule) -> bool:
        """Whether a diagnosis of this signature is fresh, or newer than the error (spec agrajag §8.2)."""
        for draft in self.present:
            last = draft.last_diagnosis
            if last is None or last.error_signature != rule.signature:
                continue
            if last.user_id is not None and last.user_id != self.event.user_id:
                continue
            if last.at > self.now or self.now - last.at < self.policy.freshness:
                return True
        return False

    def _has_room(self, rule: Rule) -> bool:
        """Whether the target can hold one more cooldown and, for a job, one more of these; forgotten ones make room."""
        if not has_room(self.target, rule.signature, self.user_id, self.now, self.policy, self.clock):
            return False
        return not self._wants_diagnosis(rule) or self.target.jobs.have_room(MAX_JOBS, self.clock)

    def _wants_diagnosis(self, rule: Rule) -> bool:
        """Whether a job begins where nothing covers the error."""
        is_unclear = rule.classification is Classification.UNCLEAR
        return is_unclear and self.event.tool_name not in self.policy.never_diagnosed

    def _begun(self, rule: Rule) -> Verdict:
        """Nothing covers the error: begin a cooldown, with the status and the job that the rule asks for."""
        known = self.target.cooldown(rule.signature, self.user_id)
        hits = known.hits + 1 if known is not None and is_remembered(known, self.now, self.policy) else 1
        until = self.now + span_for(rule, hits, self.features, self.now, self.policy)
        status = self._status(rule)
        outcome = Outcome.MARKED if self._marks(status, rule, until) else Outcome.COOLING_DOWN
        unmarked = status.is_held_back
        wants_diagnosis = self._wants_diagnosis(rule)
        job = self._claimed(rule) if wants_diagnosis else None
        undiagnosed = rule.classification is Classification.UNCLEAR and not wants_diagnosis
        self.target.put_cooldown(
            Cooldown(
                error_signature=rule.signature,
                user_id=self.user_id,
                since=self.now,
                next_spawn_allowed_at=until,
                hits=hits,
                last_classification=rule.classification,
                last_triggered_at=self.now,
                note=rule.note,
                claimed_by=job.claimed_by if job else None,
                job_id=job.job_id if job else None,
                lease_until=job.lease_until if job else None,
            )
        )
        if job is not None:
            return self._verdict(Outcome.ENQUEUED, until, job.job_id, job)._replace(unmarked=unmarked)
        if undiagnosed or unmarked:
            outcome = Outcome.UNDIAGNOSED if undiagnosed else Outcome.UNMARKED
        return self._verdict(outcome, until)._replace(undiagnosed=undiagnosed, unmarked=unmarked)

    def _status(self, rule: Rule) -> RuleStatus:
        return rule_status(rule, self.event, self.policy)

    def _marks(self, status: RuleStatus, rule: Rule, until: datetime) -> bool:
        """Write the status, if there is one to be written and nothing stands against it."""
        if status.written is None:
            return False
        marking = Marking(status.written, rule.classification, until, rule.note)
        return self.target.mark(marking, self.now, self.policy)

    def _claimed(self, rule: Rule) -> DiagnosisJob | None:
        """The job that this event claims; None where the very job was claimed before."""
        event, claimed_by = self.event, self.arrival.event_id
        job_id = job_id_of(
            event.tenant_id,
            self.scope,
            self.scope_id,
            event.tool_name,
            rule.signature,
            event.user_id,
            claimed_by,
        )
        if self.target.jobs.is_known(job_id):
            return None
        job = DiagnosisJob(
            job_id=job_id,
            tenant_id=event.tenant_id,
            project_id=event.project_id,
            scope=self.scope,
            scope_id=self.scope_id,
            tool_name=event.tool_name,
            originating_user_id=event.user_id,
            originating_session_id=event.session_id,
            originating_process_id=event.process_id,
            trigger=Trigger.TOOL_CALL_ERROR,
            error_signature=rule.signature,
            error_detail=detail_of(event, MAX_DETAIL) or None,
            error_count=event.count,
            distinct_users=1 if event.user_id else 0,
            user_fingerprints=(user_fingerprint(event.user_id),) if event.user_id else (),
            transport=event.transport,
            credential_kind=event.credential_kind,
            locale=event.locale,
            claimed_by=claimed_by,
            created_at=self.now,
            lease_until=self.arrival.appended_at + self.policy.lease,
            otel=event.otel,
        )
        self.target.jobs.start(job)
        return job

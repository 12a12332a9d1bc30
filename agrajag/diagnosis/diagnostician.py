"""Decides without a model: what the probes of a run and the history of a tool say about it.

The worst answer is a healthy tool called DOWN, so that one needs two signs of the same technical failure and no sign of
life. The default is to say less: what one user alone meets stays with that user, what only sometimes fails is
INTERMITTENT, and what the evidence does not tell is UNCLEAR.
"""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from agrajag.core.cooldown import BACKOFFS
from agrajag.core.recheck import USER_REQUEST
from agrajag.core.retry_after import wait_from_header
from agrajag.diagnosis.hints import Advice, hint
from agrajag.diagnosis.patterns import intermittent_recovery, is_flapping, outage_recovery
from agrajag.diagnosis.planner import Refusals
from agrajag.diagnosis.probe import ProbeOutcome
from agrajag.diagnosis.proof import concerns_all, is_only_slow, is_several, is_shared_credential_refused
from agrajag.diagnosis.signs import AMBIGUOUS, TECHNICAL, Sign, reported_sign
from agrajag.diagnosis.signs_seen import signs_seen
from agrajag.diagnosis.snapshot import Snapshot
from agrajag.model.enums import Classification, CredentialKind, Scope, Transport
from agrajag.model.jobs import CooldownAdjustment, Diagnosis
from agrajag.model.wire_model import MAX_NOTE

SLOW_MS = 2_000
_LONGEST_WAIT = timedelta(hours=24)
_USUAL_WAIT = timedelta(minutes=5)
_RETRY_AFTER = re.compile(r"retry[-_ ]?after[\"'\s:=]{1,6}([^\"'\n,;}]{1,40})", re.IGNORECASE)
_SHORT_WAIT = timedelta(minutes=10)
_MARKS_EXPIRY = re.compile(r"expired|token_expired|invalid_grant", re.IGNORECASE)


class Pausing(NamedTuple):
    """Which cooldowns come with an answer: of the job's signature, and of those that the probes met."""

    until: datetime | None = None
    user_id: str | None = None


def decide(
    snapshot: Snapshot, outcomes: Sequence[ProbeOutcome], refusals: Refusals, now: datetime
) -> Diagnosis:
    """What these probes and this history say. Never wider than the job, except for a user's own beside a session."""
    return _Case(snapshot, outcomes, refusals, now).decided()


class _Case:
    """One decision: its inputs and the few things that several questions need."""

    def __init__(
        self, snapshot: Snapshot, outcomes: Sequence[ProbeOutcome], refusals: Refusals, now: datetime
    ) -> None:
        self.snapshot = snapshot
        self.job = snapshot.job
        self.outcomes = outcomes
        self.refusals = refusals
        self.now = now
        self.found = signs_seen(outcomes, reported_sign(snapshot.job))

    def decided(self) -> Diagnosis:
        found = self.found
        if not (found.user.anything or found.system.anything):
            return self._unclear("No probe has told anything.")
        if Sign.RATE_LIMIT in found.fails and not found.user.only_works:
            return self._rate_limited()
        if found.user.flips or found.system.flips:
            return self._intermittent("The same probe has failed and worked.")
        if not found.works:
            return self._nothing_works()
        if found.user.only_fails:
            return self._fails_for_the_user()
        if TECHNICAL & set(found.system.fails):
            return self._intermittent("It works for the user, not for the system.")
        return self._works()

    # --- nothing works ---

    def _nothing_works(self) -> Diagnosis:
        signs = set(self.found.fails)
        if signs <= TECHNICAL | AMBIGUOUS:
            return self._technical()
        if signs == {Sign.PERMISSION} and self.found.user.only_fails:
            return self._permission("It is refused for want of a permission.")
        if signs == {Sign.CREDENTIAL}:
            return self._nobodys_credential_works()
        return self._unclear("It fails, and not in a way that tells whose fault it is.")

    def _nobodys_credential_works(self) -> Diagnosis:
        found = self.found
        if not found.system.anything:
            return self._own_credential("The user's credential is refused; nothing tells how others fare.")
        if is_shared_credential_refused(found, self.job):
            return self._broken("The credential that all share is refused.")
        return self._unclear("Every credential is refused.")

    def _technical(self) -> Diagnosis:
        sign = self.found.technical
        if sign is None:
            if TECHNICAL & set(self.found.fails):
                return self._intermittent("It fails, but not twice in the same way.")
            return self._unclear("It fails in a way that was not reported, and that may be the probe's own.")
        if not concerns_all(sign, self.found, self.job):
            return self._unclear("It fails for this user; nothing tells how others fare.")
        if is_only_slow(sign, self.found, self.job):
            return self._intermittent("It is too slow for a probe.")
        wait = self._asked_wait()
        if wait is not None and wait <= _SHORT_WAIT:
            return self._intermittent("It asks to come back soon.", self.now + wait)
        recovery = outage_recovery(self.snapshot, self.now) if wait is None else self.now + wait
        return self._broken(f"It fails for everybody alike ({sign}).", recovery)

    # --- it fails for one identity ---

    def _fails_for_the_user(self) -> Diagnosis:
        found, signs = self.found, set(self.found.user.fails)
        if Sign.PERMISSION in signs:
            return self._permission("The user lacks a permission; it works for the system.")
        if Sign.INPUT in signs:
            return self._unclear("The same input is refused for the user, and accepted for the system.")
        if is_several(self.job) or not found.user.had_credentials:
            return self._intermittent("It fails for some only, and not for reasons of one user.")
        if Sign.CREDENTIAL in signs:
            return self._own_credential("It fails with the user's credential, and works for the system.")
        if is_flapping(self.snapshot):
            return self._intermittent("It works now and then.")
        if Sign.ELSEWHERE in signs:
            return self._unclear("It sends the user elsewhere, and works for the system.")
        if signs & AMBIGUOUS:
            return self._unclear(
                "It tells the user of an error that may be anybody's, and works for the system."
            )
        if len(found.user.fails) < 2 and found.reported not in signs:
            return self._unclear("It has failed once for the user, and works for the system.")
        return self._own(
            "It fails for the user again and again, and works for the system.", Advice.ASK_OPERATOR
        )

    # --- it works ---

    def _works(self) -> Diagnosis:
        reported = self.found.reported
        if reported is Sign.INPUT or (reported is Sign.MISSING and self.job.transport is not Transport.MCP):
            return self._answer(
                Classification.USER_INPUT,
                "It works with good input; the failed call was a wrong one.",
                pausing=self._own_pausing(),
            )
        if reported is Sign.SCHEMA:
            return self._unclear("It answers; whether as its schema says, a probe cannot tell.")
        if reported is Sign.RATE_LIMIT:
            return self._rate_limited()
        if not self.found.user.anything and self._is_about_the_user():
            if reported is Sign.CREDENTIAL:
                return self._own_credential("A credential was refused; with the system's own it works.")
            if reported is Sign.PERMISSION:
                return self._permission("A permission was wanting; it works for the system.")
        if reported is Sign.TIMEOUT and any(outcome.duration_ms >= SLOW_MS for outcome in self.outcomes):
            return self._intermittent("It works, slowly.")
        if is_flapping(self.snapshot):
            return self._intermittent("It works now, and was in trouble again and again.")
        return self._answer(Classification.WORKING, "It works.")

    def _is_about_the_user(self) -> bool:
        is_shared = self.job.credential_kind in (CredentialKind.SHARED, CredentialKind.NONE)
        return self.job.originating_user_id is not None and not is_shared and not is_several(self.job)

    # --- the answers ---

    def _unclear(self, why: str) -> Diagnosis:
        return self._answer(Classification.UNCLEAR, why)

    def _broken(self, why: str, recovery: datetime | None = None) -> Diagnosis:
        return self._answer(
            Classification.TECHNICALLY_BROKEN,
            why,
            recovery=recovery,
            pausing=Pausing(recovery, self._pausing_user()),
        )

    def _intermittent(self, why: str, recovery: datetime | None = None) -> Diagnosis:
        recovery = recovery or intermittent_recovery(self.snapshot, self.now)
        return self._answer(Classification.INTERMITTENT, why, recovery=recovery)

    def _permission(self, why: str) -> Diagnosis:
        return self._answer(Classification.USER_PERMISSION, why, pausing=self._own_pausing())

    def _own_credential(self, why: str) -> Diagnosis:
        told = [self.job.error_signature]
        told += [f"{outcome.error_signature} {outcome.raw_response}" for outcome in self._failed()]
        is_expired = any(_MARKS_EXPIRY.search(text) for text in told)
        return self._own(why, Advice.RENEW if is_expired else Advice.CHECK_CREDENTIALS)

    def _own(self, why: str, advice: Advice) -> Diagnosis:
        """Something that is this user's own; without a user it is nobody's."""
        if self.job.originating_user_id is None or is_several(self.job):
            return self._unclear(why)
        return self._answer(
            Classification.USER_SPECIFIC_TECHNICAL,
            why,
            scope=Scope.USER,
            advice=advice,
            pausing=self._own_pausing(),
        )

    def _rate_limited(self) -> Diagnosis:
        until = self.now + (self._asked_wait() or _USUAL_WAIT)
        found = self.found
        is_own = found.user.only_fails and found.user.had_credentials and not found.system.fails
        is_own = is_own and self.job.originating_user_id is not None and not is_several(self.job)
        return self._answer(
            Classification.INTERMITTENT,
            "It limits how often it may be called.",
            recovery=until,
            scope=min(self.job.scope, Scope.USER, key=lambda one: one.rank) if is_own else None,
            pausing=Pausing(until, self.job.originating_user_id if is_own else self._pausing_user()),
        )

    def _asked_wait(self) -> timedelta | None:
        """What the tool itself has asked to wait, in a response or by a cooldown that Layer 1 read from one."""
        for outcome in self._failed():
            asked = _RETRY_AFTER.search(outcome.raw_response)
            wait = wait_from_header(asked[1], self.now) if asked else None
            if wait is not None:
                return min(wait, _LONGEST_WAIT)
        signatures = {outcome.error_signature for outcome in self._failed()}
        waits = [
            entry.next_spawn_allowed_at - self.now
            for entry in self.snapshot.cooldowns
            if entry.error_signature in signatures
            and entry.last_classification is Classification.INTERMITTENT
        ]
        return min(max(waits, default=timedelta(0)), _LONGEST_WAIT) or None

    def _failed(self) -> list[ProbeOutcome]:
        return [outcome for outcome in self.outcomes if not outcome.success]

    def _pausing_user(self) -> str | None:
        """Whom a cooldown at the job's scope is for: everybody from a project up."""
        return None if self.job.scope.rank >= Scope.PROJECT.rank else self.job.originating_user_id

    def _own_pausing(self) -> Pausing | None:
        user_id = self.job.originating_user_id
        return None if user_id is None else Pausing(None, user_id)

    def _answer(
        self,
        classification: Classification,
        why: str,
        *,
        recovery: datetime | None = None,
        scope: Scope | None = None,
        advice: Advice | None = None,
        pausing: Pausing | None = None,
    ) -> Diagnosis:
        return Diagnosis(
            classification=classification,
            scope=scope or self.job.scope,
            expected_recovery_at=recovery,
            human_note=f"{why} {self._told()}".strip()[:MAX_NOTE],
            user_action_hint=hint(advice, self.job.tool_name, self.job.locale) if advice else None,
            cooldown_adjustments=self._adjustments(classification, pausing) if pausing else (),
        )

    def _adjustments(
        self, classification: Classification, pausing: Pausing
    ) -> tuple[CooldownAdjustment, ...]:
        span = BACKOFFS[classification].first if pausing.until is None else pausing.until - self.now
        met = [outcome.error_signature for outcome in self._failed() if outcome.error_signature]
        signatures = dict.fromkeys([self.job.error_signature, *met])
        signatures.pop(USER_REQUEST, None)
        if pausing.user_id is None and self.job.scope.rank < Scope.PROJECT.rank:
            return ()
        return tuple(
            CooldownAdjustment(error_signature=signature, user_id=pausing.user_id, duration=span)
            for signature in signatures
        )

    def _told(self) -> str:
        """What was probed, in short; signatures and numbers only."""
        told = [
            f"As {outcome.identity}: {'works' if outcome.success else outcome.error_signature or 'fails'}"
            + (f" ({outcome.status_code})" if outcome.status_code is not None else "")
            + "."
            for outcome in self.outcomes
        ]
        told += [f"As {identity}: not probed, {refusal}." for identity, refusal in self.refusals.items()]
        return " ".join(told)

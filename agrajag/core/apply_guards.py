"""The guards between the answer of a diagnosis and what is written: which verdict stands, for whom, until when.

A model can be lied to and can lie. So its verdict stands only as far as the probes of its run and the reported errors
carry it, never wider than its question, and never longer than the cap. What does not stand becomes UNCLEAR: nobody
knows.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from agrajag.core.evidence import Probed
from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.core.times import milliseconds
from agrajag.model.enums import Classification, Scope, ServiceFailure

_UNAUTHORIZED = 401
FALLBACK_SPAN = timedelta(minutes=15)
"""When a tool is expected back of which nobody knows what is wrong (spec agrajag §5.2)."""

NOT_TRIED = frozenset(
    {
        ServiceFailure.LEASE_EXPIRED,
        ServiceFailure.RECIPE_BROKEN,
        ServiceFailure.NO_RECIPE,
        ServiceFailure.OVER_BUDGET,
        ServiceFailure.CANCELLED,
        ServiceFailure.NOT_POSSIBLE,
        ServiceFailure.NOT_READABLE,
        ServiceFailure.CRASHED,
        ServiceFailure.RETRIES_EXHAUSTED,
    }
)
"""Failures that are ours alone: a shortage, a mistake or an absence on our side says nothing about the tool."""


class Guard(StrEnum):
    """What kept an answer from being written as it came, in one word."""

    UNCLAIMED = "unclaimed"
    ANSWERED = "answered"
    LATE = "late"
    NEWER_SUCCESS = "newer_success"
    NEWER_DIAGNOSIS = "newer_diagnosis"
    NEWER_EVIDENCE = "newer_evidence"
    DELETED = "deleted"
    NEVER_DIAGNOSED = "never_diagnosed"
    NEVER_DOWN = "never_down"
    NOT_TRIED = "not_tried"
    NOT_CHECKED = "not_checked"
    NO_CREDENTIALS = "no_credentials"
    CONTRADICTED = "contradicted"
    UNPROVEN = "unproven"
    NO_USER = "no_user"
    ALL_WORKED = "all_worked"
    OTHERS_WORK = "others_work"
    NOT_AS_USER = "not_as_user"
    DOWN_STANDS = "down_stands"
    TOO_WIDE = "too_wide"
    PAST_RECOVERY = "past_recovery"
    LONG_RECOVERY = "long_recovery"
    TOO_MANY_ADJUSTMENTS = "too_many_adjustments"
    FOREIGN_USER = "foreign_user"
    TOO_WIDE_ADJUSTMENT = "too_wide_adjustment"
    UNKNOWN_SIGNATURE = "unknown_signature"
    LONG_ADJUSTMENT = "long_adjustment"
    EMPTY_ADJUSTMENT = "empty_adjustment"
    NO_ROOM = "no_room"
    UNTRUSTED_ADJUSTMENTS = "untrusted_adjustments"


REASONS: Mapping[Guard, str] = {
    Guard.UNCLAIMED: "unclaimed: no document waits for this answer",
    Guard.ANSWERED: "another process has answered the job",
    Guard.LATE: "the answer is too old to say anything about now",
    Guard.NEWER_SUCCESS: "the tool has worked since",
    Guard.NEWER_DIAGNOSIS: "a newer diagnosis stands",
    Guard.NEWER_EVIDENCE: "newer evidence stands",
    Guard.DELETED: "the document was deleted since",
    Guard.NEVER_DIAGNOSED: "diagnosis of this tool is switched off",
    Guard.NEVER_DOWN: "this tool is kept from being marked DOWN",
    Guard.NOT_TRIED: "the failure is ours and says nothing about the tool",
    Guard.NOT_CHECKED: "could not be checked: no probe failed and no error was reported",
    Guard.NO_CREDENTIALS: "what fails for want of credentials is no evidence",
    Guard.CONTRADICTED: "a probe contradicts the verdict",
    Guard.UNPROVEN: "no probe has shown it",
    Guard.NO_USER: "there is no user whose own it could be",
    Guard.ALL_WORKED: "every probe worked",
    Guard.OTHERS_WORK: "it works for the system: only the user's own was written",
    Guard.NOT_AS_USER: "no probe worked as the user",
    Guard.DOWN_STANDS: "an unexpired DOWN stands",
    Guard.TOO_WIDE: "wider than the question",
    Guard.PAST_RECOVERY: "the recovery time is over",
    Guard.LONG_RECOVERY: "the recovery time was cut",
    Guard.TOO_MANY_ADJUSTMENTS: "too many cooldowns",
    Guard.FOREIGN_USER: "a cooldown of another user",
    Guard.TOO_WIDE_ADJUSTMENT: "a cooldown for everybody on what is one user's",
    Guard.UNKNOWN_SIGNATURE: "a cooldown of an unknown signature",
    Guard.LONG_ADJUSTMENT: "a cooldown was cut",
    Guard.EMPTY_ADJUSTMENT: "a cooldown of no length",
    Guard.NO_ROOM: "no room for a cooldown",
    Guard.UNTRUSTED_ADJUSTMENTS: "cooldowns beside a verdict that has none",
}
"""What CLOSED says about each."""


class Question(NamedTuple):
    """What was asked, by the ids of the job alone.

    `reported`: whether an error stands behind it; `is_of_several`: whether errors of more than one user do;
    `is_of_credential`: whether the error may be about its user's own credential.
    """

    tenant_id: str
    scope: Scope
    scope_id: str
    project_id: str | None
    user_id: str | None
    session_id: str | None
    reported: bool
    is_of_several: bool = False
    is_of_credential: bool = False

    @property
    def own_user_id(self) -> str | None:
        """Whose own a USER_SPECIFIC_TECHNICAL is: the user that was asked about, else the originating one."""
        return self.scope_id if self.scope is Scope.USER else self.user_id

    def id_of(self, scope: Scope) -> str | None:
        """Which session, user, project or tenant a scope means here; None where the job does not say."""
        if scope is self.scope:
            return self.scope_id
        return {
            Scope.SESSION: self.session_id,
            Scope.USER: self.own_user_id,
            Scope.PROJECT: self.project_id,
            Scope.TENANT: self.tenant_id,
            Scope.GLOBAL: "",
        }[scope]


def credential_signatures(rules: RuleSet) -> frozenset[str]:
    """What the rules in force call a credential that is refused: by 401, or as a user's own trouble."""
    return frozenset(
        rule.signature
        for rule in rules.rules
        if rule.classification is Classification.USER_SPECIFIC_TECHNICAL
        or rule.match.http_statuses == (_UNAUTHORIZED, _UNAUTHORIZED)
    )


class Judged(NamedTuple):
    """The classification that stands, and what has changed it on the way."""

    classification: Classification
    guards: tuple[Guard, ...] = ()


def judged(classification: Classification, asked: Question, found: Probed) -> Judged:
    """Which verdict stands, given what the run has shown."""
    if classification is Classification.USER_SPECIFIC_TECHNICAL and asked.own_user_id is None:
        return Judged(Classification.UNCLEAR, (Guard.NO_USER,))
    if found.contradict(classification):
        return Judged(Classification.UNCLEAR, (Guard.CONTRADICTED,))
    if not _is_shown(classification, asked, found):
        return Judged(Classification.UNCLEAR, (Guard.UNPROVEN,))
    return Judged(classification)


def _is_shown(classification: Classification, asked: Question, found: Probed) -> bool:
    """Whether the run has shown what the verdict says, where it says that a tool is DOWN or well."""
    match classification:
        case Classification.WORKING:
            return found.worked_at is not None
        case Classification.TECHNICALLY_BROKEN:
            return found.show_outage(of_several=asked.is_of_several, has_user=asked.user_id is not None)
        case Classification.USER_SPECIFIC_TECHNICAL:
            return found.show_users_own(is_credential_reported=asked.is_of_credential and asked.reported)
        case _:
            return True


def target_scope(scope: Scope, classification: Classification, asked: Question) -> tuple[Scope, str, bool]:
    """Where a verdict is written, and whether that is narrower than was wanted.

    The scope that the answer names, held to that of the job; where the job does not say whose that would be, the next
    wider one. The one exception: what was asked about a session may be written on its user.
    """
    if classification is Classification.USER_SPECIFIC_TECHNICAL and asked.own_user_id is not None:
        return Scope.USER, asked.own_user_id, False
    is_sessions_user = asked.scope is Scope.SESSION and scope is Scope.USER and asked.user_id is not None
    if scope.rank > asked.scope.rank and not is_sessions_user:
        return asked.scope, asked.scope_id, True
    for wider in Scope:
        scope_id = asked.id_of(wider)
        if wider.rank >= scope.rank and scope_id is not None:
            return wider, scope_id, False
    raise ValueError("a job names its own scope")


def held_recovery(
    expected_at: datetime | None, classification: Classification, now: datetime, policy: Policy
) -> tuple[datetime | None, Guard | None]:
    """When the tool may be expected back: never in the past, never beyond the cap.

    What is UNCLEAR is expected back after a quarter of an hour where the answer does not say when.
    """
    guard = None
    if expected_at is not None:
        expected_at = milliseconds(expected_at)
    if expected_at is not None and expected_at <= now:
        expected_at, guard = None, Guard.PAST_RECOVERY
    if expected_at is None and classification is Classification.UNCLEAR:
        expected_at = now + policy.capped(FALLBACK_SPAN)
    if expected_at is not None and (latest := now + policy.capped(expected_at - now)) < expected_at:
        expected_at, guard = latest, Guard.LONG_RECOVERY
    return expected_at, guard

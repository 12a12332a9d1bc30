"""Decides whether a call should be made at all, by what is known of its tool and by the caller's own policy.

Health never gates by itself: without a policy that says so nothing is refused, a tool that is not well is only
annotated. And no policy refuses what nobody understands (UNCLEAR), what better input would mend (USER_INPUT), or what
is not believed any more. What has just stopped refusing is worth one try before everybody calls again.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from agrajag.core.annotate import annotation
from agrajag.core.cooldown import covers, is_active
from agrajag.core.lookup import Caller, speaks_for
from agrajag.core.plain_words import plain_words_for
from agrajag.core.policy import Policy
from agrajag.model.answers import CheckResult
from agrajag.model.enums import Classification, Status
from agrajag.model.health import Cooldown, ToolHealth
from agrajag.model.keys import health_key

_REFUSING = frozenset(
    {
        Classification.TECHNICALLY_BROKEN,
        Classification.USER_SPECIFIC_TECHNICAL,
        Classification.USER_PERMISSION,
        Classification.INTERMITTENT,
    }
)


class Decision(StrEnum):
    """What to do with a call. ALLOW_ANNOTATED: make it, and tell the model what is known of the tool."""

    ALLOW = "allow"
    ALLOW_ANNOTATED = "allow_annotated"
    REFUSE = "refuse"


class Refusal(StrEnum):
    """Why a call is refused: the tool's status, a pause that covers the caller, or somebody else's one try."""

    DOWN = "down"
    DEGRADED = "degraded"
    COOLDOWN = "cooldown"
    ONE_TRY = "one_try"


@dataclass(frozen=True, slots=True)
class GuardPolicy:
    """What a caller does not want to call: a tool that is DOWN, one that is DEGRADED, one that is paused for them."""

    refuse_down: bool = False
    refuse_degraded: bool = False
    refuse_cooling: bool = False

    @property
    def is_idle(self) -> bool:
        """Whether it refuses nothing at all."""
        return not (self.refuse_down or self.refuse_degraded or self.refuse_cooling)

    def refuses(self, status: Status) -> bool:
        """Whether a tool of this status is not called."""
        return (status is Status.DOWN and self.refuse_down) or (
            status is Status.DEGRADED and self.refuse_degraded
        )


class Admission(NamedTuple):
    """The answer to one call.

    `annotation` is for the model, `reason` says in plain words why a call is refused, `until` when the refusal is
    expected to end; `signature` is that of the cooldown behind it. `half_open`: this is the one try after a refusal has
    ended, and others wait for what becomes of it.
    """

    decision: Decision = Decision.ALLOW
    status: Status = Status.OK
    annotation: str | None = None
    refusal: Refusal | None = None
    until: datetime | None = None
    reason: str | None = None
    signature: str | None = None
    half_open: bool = False

    @property
    def is_allowed(self) -> bool:
        """Whether the call may be made."""
        return self.decision is not Decision.REFUSE


NOTHING_KNOWN = Admission()


def is_long_quiet(documents: Iterable[ToolHealth], now: datetime, policy: Policy) -> bool:
    """Whether none of these documents has anything to say for or against a call, nor had it lately: the usual case,
    told before anything else is asked. Then `admission` knows nothing, and nothing has lately ended."""
    since = now - policy.hits_memory
    for document in documents:
        if not document.is_undisputed:
            return False
        for entry in document.cooldowns:
            if entry.next_spawn_allowed_at > since:
                return False
    return True


def admission(
    documents: Sequence[ToolHealth], caller: Caller, now: datetime, policy: Policy, own: GuardPolicy
) -> Admission:
    """Whether to make a call, given the documents that apply to the caller, narrowest first.

    `policy` says what is believed of them, `own` is the caller's.
    """
    speaking = speaks_for(documents, now, policy)
    status = Status.OK if speaking is None else speaking.status_at(now)
    pause = _pause(documents, caller, now) if own.refuse_cooling else None
    if status is Status.OK and pause is None:
        return NOTHING_KNOWN
    told = annotation(documents, now, policy)
    if speaking is not None and own.refuses(status) and _is_understood(speaking, now):
        refusal, until = Refusal[status.name], _until(speaking, now)
    elif pause is not None:
        refusal, until = Refusal.COOLDOWN, pause.next_spawn_allowed_at
    else:
        return Admission(Decision.ALLOW_ANNOTATED, status, told)
    return Admission(
        Decision.REFUSE,
        status,
        told,
        refusal,
        until,
        plain_words_for(documents, caller, now, policy),
        pause.error_signature if pause is not None else None,
    )


def admission_after(check: CheckResult, own: GuardPolicy, now: datetime) -> Admission | None:
    """The refusal of the next such call that follows from what was just found about one; None where none does.

    For the moment until the documents tell the same: a model may try again within milliseconds.
    """
    if check.classification not in _REFUSING:
        return None
    if own.refuses(check.status):
        refusal, until = Refusal[check.status.name], check.expected_recovery_at or check.cooldown_until
    elif own.refuse_cooling and check.cooldown_until is not None:
        refusal, until = Refusal.COOLDOWN, check.cooldown_until
    else:
        return None
    if until is not None and until <= now:
        return None
    return Admission(Decision.REFUSE, check.status, None, refusal, until, check.hint, check.error_signature)


def held_back(admitted: Admission, until: datetime) -> Admission:
    """The same call, while somebody else's one try is under way or has just failed."""
    return admitted._replace(
        decision=Decision.REFUSE,
        refusal=Refusal.ONE_TRY,
        until=until,
        reason="it may work again: one call is trying, wait for what becomes of it",
    )


class Ended(NamedTuple):
    """A refusal that has ended: what it was about, whose it was (None: everybody's), and when."""

    key: str
    user_id: str | None
    at: datetime


def lately_ended(
    documents: Iterable[ToolHealth], caller: Caller, now: datetime, policy: Policy, own: GuardPolicy
) -> tuple[Ended, ...]:
    """The refusals of the caller that have ended, so that nobody knows yet whether the tool works again.

    One counts for as long as the workers would count the next failure as following it. What a success has healed, and
    what a person has spoken about, does not.
    """
    found: list[Ended] = []
    since = now - policy.hits_memory
    for document in documents:
        if not document.is_undisputed and document.active_override(now) is not None:
            break
        ends: dict[str | None, datetime] = {}
        for user_id, at in _ends(document, caller, own, since, now):
            ends[user_id] = max(at, ends.get(user_id, at))
        if ends:
            key = health_key(document.tenant_id, document.scope, document.scope_id, document.tool_name)
            found += (Ended(key, user_id, at) for user_id, at in ends.items())
    return tuple(found)


def _ends(
    document: ToolHealth, caller: Caller, own: GuardPolicy, since: datetime, now: datetime
) -> Iterator[tuple[str | None, datetime]]:
    """When, after `since`, what the document says has stopped refusing the caller, and whose it was."""
    if not document.is_undisputed and (recovery := document.verdict.expected_recovery_at) is not None:
        verdict = document.verdict
        refused = own.refuses(verdict.status) and verdict.classification in _REFUSING
        if refused and since < recovery <= now:
            yield None, recovery
    if not own.refuse_cooling:
        return
    healed_at = document.last_success_at
    for entry in document.cooldowns:
        is_healed = healed_at is not None and healed_at >= entry.last_triggered_at
        if since < entry.next_spawn_allowed_at <= now and _refuses(entry, caller) and not is_healed:
            yield entry.user_id, entry.next_spawn_allowed_at


def _pause(documents: Iterable[ToolHealth], caller: Caller, now: datetime) -> Cooldown | None:
    """Of the pauses that refuse the caller the one that lasts longest."""
    found: Cooldown | None = None
    for document in documents:
        for entry in document.cooldowns:
            if is_active(entry, now) and _refuses(entry, caller):
                found = max(found or entry, entry, key=lambda one: one.next_spawn_allowed_at)
    return found


def _refuses(entry: Cooldown, caller: Caller) -> bool:
    return entry.last_classification in _REFUSING and covers(entry, None, caller.user_id)


def _is_understood(document: ToolHealth, now: datetime) -> bool:
    """Whether it is known why the document shows its status: a person or a connection says so, or a clear verdict."""
    if document.active_override(now) is not None or document.link.down_since is not None:
        return True
    return document.verdict.classification in _REFUSING


def _until(document: ToolHealth, now: datetime) -> datetime | None:
    if (override := document.active_override(now)) is not None:
        return override.until
    return None if document.link.down_since is not None else document.verdict.expected_recovery_at

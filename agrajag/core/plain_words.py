"""Says in plain words how a tool is: for whom, since when or until when, and why.

One printable line of bounded length, whatever notes and names hold: it is shown on pages, in terminals and in mails.
"""

from collections.abc import Iterable
from datetime import datetime

from agrajag.core.cooldown import covers, in_flight, is_active
from agrajag.core.lookup import Caller, has_lapsed, speaks_for, unconfirmed_since
from agrajag.core.policy import Policy
from agrajag.core.shown import one_line
from agrajag.core.times import time_words
from agrajag.model.enums import Classification, Scope, Status
from agrajag.model.health import Cooldown, ToolHealth, VerdictFacet
from agrajag.model.reading import MAX_WORDS, Cooling

UNKNOWN = "nothing is known against it"
WORKING = "working"

_MAX_NAME = 60
_MAX_REASON = 160

_STATES = {Status.OK: WORKING, Status.DEGRADED: "degraded", Status.DOWN: "down"}
_REASONS = {
    Classification.TECHNICALLY_BROKEN: "it is broken",
    Classification.USER_SPECIFIC_TECHNICAL: "their own account or credential",
    Classification.USER_PERMISSION: "a permission is missing",
    Classification.USER_INPUT: "what it was asked",
    Classification.INTERMITTENT: "it fails now and then",
    Classification.UNCLEAR: "the cause is unclear",
}


def plain_words(document: ToolHealth, now: datetime, policy: Policy) -> str:
    """How the tool is for those whom this document is about; at most 400 characters."""
    state, until = _state(document, now, policy)
    spared = document.counters.suppressed + document.counters.coalesced
    return _joined(state, _pauses(_lasting(document, now), until, now), _spared(spared))


def plain_words_for(documents: Iterable[ToolHealth], caller: Caller, now: datetime, policy: Policy) -> str:
    """How the tool is for one caller, given the documents that apply, narrowest first; at most 400 characters.

    The state is that of the document that speaks for the caller; the cooldowns are all that cover the caller.
    """
    found = list(documents)
    if not found:
        return UNKNOWN
    speaking = speaks_for(found, now, policy)
    state, until = (WORKING, None) if speaking is None else _state(speaking, now, policy)
    covering = [
        entry
        for document in found
        for entry in _lasting(document, now)
        if covers(entry, None, caller.user_id)
    ]
    return _joined(state, _pauses(covering, until, now))


def cooling(document: ToolHealth, now: datetime) -> tuple[Cooling, ...]:
    """The cooldowns that last at `now`, the one that ends last in front."""
    return tuple(
        Cooling(
            user_id=entry.user_id,
            error_signature=entry.error_signature,
            classification=entry.last_classification,
            since=entry.since,
            until=entry.next_spawn_allowed_at,
            last_triggered_at=entry.last_triggered_at,
            hits=entry.hits,
            note=entry.note,
            in_flight=in_flight(entry, now),
            job_id=entry.job_id if in_flight(entry, now) else None,
            words=_cooling_words(document, entry, now),
        )
        for entry in sorted(
            _lasting(document, now), key=lambda entry: entry.next_spawn_allowed_at, reverse=True
        )
    )


def _state(document: ToolHealth, now: datetime, policy: Policy) -> tuple[str, datetime | None]:
    """The state with its reason, and until when it is told to last."""
    whom = _whom(document)
    if (override := document.active_override(now)) is not None:
        said = f"said to be {_STATES[override.status]}{whom} by {_name(override.by)}"
        time = _until_or_since(override.until, override.at, now)
        return _because(f"{said}{time}", override.reason), override.until
    if document.link.down_since is not None:
        closed = f"all connections closed{whom} since {time_words(document.link.down_since, now)}"
        return _because(closed, document.link.cause), None
    verdict = document.verdict
    if verdict.status is Status.OK:
        return WORKING, None
    state, until = f"{_STATES[verdict.status]}{whom}", verdict.expected_recovery_at
    if (unconfirmed := unconfirmed_since(document, now, policy)) is not None:
        state, until = f"unconfirmed since {time_words(unconfirmed, now)}, was {state}", None
    elif until is not None and has_lapsed(document, now, policy):
        state, until = f"expected back since {time_words(until, now)}, was {state}", None
    else:
        state += _until_or_since(until, verdict.since, now)
    return _because(state, _reason(verdict)), until


def _whom(document: ToolHealth) -> str:
    name = _name(document.scope_id)
    match document.scope:
        case Scope.SESSION:
            return f" for session {name} only"
        case Scope.USER:
            return f" for {name} only"
        case Scope.PROJECT:
            return f" for project {name}"
        case Scope.TENANT:
            return f" for all of {name}"
        case Scope.GLOBAL:
            return " everywhere"


def _pauses(entries: Iterable[Cooldown], told_until: datetime | None, now: datetime) -> str:
    """What is to be said of cooldowns that outlast what was told already."""
    ends = [entry for entry in entries if told_until is None or entry.next_spawn_allowed_at > told_until]
    if not ends:
        return ""
    last = max(ends, key=lambda entry: entry.next_spawn_allowed_at)
    until = time_words(last.next_spawn_allowed_at, now)
    if len(ends) > 1:
        return f"{len(ends)} cooldowns, the last until {until}"
    return f"cooling down until {until} from {_name(last.error_signature)}"


def _cooling_words(document: ToolHealth, entry: Cooldown, now: datetime) -> str:
    of_user = document.scope is not Scope.USER and entry.user_id is not None
    whom = f" for {_name(entry.user_id or '')} only" if of_user else _whom(document)
    since = f" since {time_words(entry.since, now)}" if entry.since is not None else ""
    until = time_words(entry.next_spawn_allowed_at, now)
    what = f"no new diagnosis of {_name(entry.error_signature)}{whom}"
    told = _because(f"{what}{since} until {until}", _reason(entry))
    again = f"{entry.hits} times in a row" if entry.hits > 1 else ""
    return _joined(told, again, "a diagnosis is running" if in_flight(entry, now) else "")


def _lasting(document: ToolHealth, now: datetime) -> list[Cooldown]:
    return [entry for entry in document.cooldowns if is_active(entry, now)]


def _spared(count: int) -> str:
    return f"{count:,} {'diagnosis' if count == 1 else 'diagnoses'} spared" if count else ""


def _until_or_since(until: datetime | None, since: datetime | None, now: datetime) -> str:
    if until is not None:
        return f" until {time_words(until, now)}"
    return f" since {time_words(since, now)}" if since is not None else ""


def _because(state: str, reason: str | None) -> str:
    line = one_line(reason or "", _MAX_REASON)
    return f"{state}: {line}" if line else state


def _reason(told: VerdictFacet | Cooldown) -> str:
    classification = told.classification if isinstance(told, VerdictFacet) else told.last_classification
    return told.note or _REASONS.get(classification or Classification.WORKING, "")


def _name(text: str) -> str:
    return one_line(text, _MAX_NAME) or "?"


def _joined(*parts: str) -> str:
    return one_line("; ".join(part for part in parts if part), MAX_WORDS)

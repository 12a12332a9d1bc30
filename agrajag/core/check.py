"""What a caller is told about its error: one typed word, whether to expect a change, and a hint in plain text."""

from collections.abc import Iterable

from agrajag.core.features import Features
from agrajag.core.lookup import speaks_for
from agrajag.core.policy import Policy
from agrajag.core.verdicts import Arrival, Verdict
from agrajag.model.answers import CheckResult
from agrajag.model.enums import Classification, Outcome, Status, ToolErrorCode
from agrajag.model.events import ToolCallError
from agrajag.model.health import ToolHealth

UNMATCHED_RULE = "none"
UNMATCHED_SIGNATURE = "unmatched"

_UNREACHABLE = frozenset(
    {
        "java.net.ConnectException",
        "java.net.UnknownHostException",
        "java.net.NoRouteToHostException",
        "java.net.SocketTimeoutException",
    }
)
_HINT_OF_OUTCOME = {
    Outcome.ENQUEUED: "diagnosis pending",
    Outcome.COALESCED: "diagnosis pending",
    Outcome.ALREADY_DIAGNOSED: "already diagnosed",
    Outcome.UNDIAGNOSED: "nobody looks into it: diagnosis of this tool is switched off",
    Outcome.UNMARKED: "the tool does not work now, but is kept from being marked DOWN: wait before the next try",
}
_HINT_OF_CLASS = {
    Classification.USER_INPUT: "the tool is healthy: change the input and try again",
    Classification.USER_PERMISSION: "this user may not do that: do not try again without other permissions",
    Classification.USER_SPECIFIC_TECHNICAL: "this user's own credential or account is the problem",
    Classification.TECHNICALLY_BROKEN: "the backend is unavailable for everybody: do not retry before it is back",
    Classification.INTERMITTENT: "this passes by itself: wait before the next try",
}
_TELLS_THE_CLASS = frozenset({Outcome.MARKED, Outcome.COOLING_DOWN, Outcome.SUPPRESSED})


def check_result(
    arrival: Arrival[ToolCallError],
    verdict: Verdict,
    rule_set_hash: str,
    documents: Iterable[ToolHealth],
    policy: Policy,
) -> CheckResult:
    """The answer to one error, given the documents that apply to its caller, narrowest first, as they stand after it.

    The status is the one that the caller would see: that of the document that speaks for it (`core.lookup`).
    """
    event, rule, now = arrival.event, verdict.rule, verdict.now
    classification = rule.classification if rule else Classification.UNCLEAR
    health = speaks_for(documents, now, policy)
    return CheckResult(
        event_id=arrival.event_id,
        reply_to=event.reply_to,
        tenant_id=event.tenant_id,
        tool_name=event.tool_name,
        scope=verdict.scope,
        scope_id=verdict.scope_id,
        user_id=event.user_id,
        rule_id=rule.id if rule else UNMATCHED_RULE,
        rule_set_hash=rule_set_hash,
        error_signature=rule.signature if rule else UNMATCHED_SIGNATURE,
        classification=classification,
        outcome=verdict.outcome,
        error_code=error_code(arrival, classification, rule.error_code if rule else None),
        status=health.status_at(now) if health else Status.OK,
        cooldown_until=verdict.cooldown_until,
        expected_recovery_at=health.verdict.expected_recovery_at if health else None,
        job_id=verdict.job_id,
        hint=_hint(verdict, classification),
        at=now,
        otel=event.otel,
    )


def _hint(verdict: Verdict, classification: Classification) -> str | None:
    if verdict.outcome not in _TELLS_THE_CLASS:
        return _HINT_OF_OUTCOME.get(verdict.outcome)
    own = verdict.rule.hint if verdict.rule else None
    return own or _HINT_OF_CLASS.get(classification)


def error_code(
    arrival: Arrival[ToolCallError], classification: Classification, stated: ToolErrorCode | None = None
) -> ToolErrorCode:
    """The reporter's own code where it sent one of ours; else the one that the rule states, else what the error shows.

    Permission is DISALLOWED; an exception that means "no connection", without a status, is BACKEND_UNREACHABLE; the
    rest is BACKEND_FAILED.
    """
    reported = arrival.event.error.error_code
    if reported is not None and reported in ToolErrorCode.__members__:
        return ToolErrorCode[reported]
    if stated is not None:
        return stated
    if classification is Classification.USER_PERMISSION:
        return ToolErrorCode.DISALLOWED
    features = Features(arrival.event)
    if features.http_status is None and not _UNREACHABLE.isdisjoint(features.exception_names):
        return ToolErrorCode.BACKEND_UNREACHABLE
    return ToolErrorCode.BACKEND_FAILED

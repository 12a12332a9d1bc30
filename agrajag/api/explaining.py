"""The route that explains one error: which rule decides and why, and what Layer 1 would do; nothing is done."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import Field

from agrajag.api.bodies import body_docs
from agrajag.api.parts import Parts, PartsGiven
from agrajag.api.permissions import Act, Principal
from agrajag.api.principal import TenantPrincipal, must_be_allowed
from agrajag.api.problems import problem_responses
from agrajag.api.reported import one_report_schema, read_report
from agrajag.api.scopes import Asked
from agrajag.api.segments import SEGMENT, TenantSegment
from agrajag.core.explain import Considered, Explanation, explain, nothing_stands
from agrajag.core.lookup import Caller
from agrajag.core.times import EPOCH
from agrajag.core.verdicts import Arrival
from agrajag.model.answers import CheckResult, Hash, RuleId
from agrajag.model.enums import Classification, Scope, Status
from agrajag.model.events import ToolCallError
from agrajag.model.health import HealthEntry
from agrajag.model.keys import health_key
from agrajag.model.wire_model import Duration, Signature, Time, WireModel

router = APIRouter(prefix=f"/brain/{{tenant:{SEGMENT}}}/rules", tags=["documents"])


class ExplanationAsked(Asked):
    """Over which documents."""

    standing: bool = Field(False, description="Over the health documents that stand now, not over none.")


class SelectorTold(WireModel):
    """Whether one selector of a rule fits the error, and why."""

    selector: str
    holds: bool
    why: str


class RuleTold(WireModel):
    """A rule that fits the error; the first of them decides."""

    id: RuleId
    pack: str | None = None
    """The rule pack that it comes from."""
    signature: Signature
    classification: Classification
    decides: bool
    selectors: tuple[SelectorTold, ...]


class Explained(WireModel):
    """What Layer 1 does about one error, and why."""

    rule_set_hash: Hash
    rules: tuple[RuleTold, ...]
    """Those that fit, in their order."""
    answer: CheckResult | None = None
    """What the caller would be told."""
    words: tuple[str, ...]
    """What begins, for people."""
    cooldown: Duration | None = None
    """How long the cooldown lasts that would begin."""
    status: Status | None = None
    """The status that would be written."""
    expected_recovery_at: Time | None = None
    on_trial: "Explained | None" = None
    """The same with the shadow rules in force; missing where they would change nothing."""


@router.post(
    "/explain",
    response_model=Explained,
    response_model_exclude_none=True,
    responses=problem_responses(),
    openapi_extra=body_docs(one_report_schema(ToolCallError)),
)
async def explain_error(
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    asked: Annotated[ExplanationAsked, Query()],
    request: Request,
) -> Explained:
    """Explains an error as if it came now: which rule decides and why, and what would begin."""
    must_be_allowed(principal, Act.READ_RULES)
    body = await request.body()
    event = await asyncio.to_thread(read_report, body, ToolCallError, tenant)
    read = _standing(event, principal, parts) if asked.standing else nothing_stands
    now = parts.now()
    rules, policy = parts.documents.effective(tenant, event.project_id)
    told = await asyncio.to_thread(explain, _arrival(event, now), rules, policy, now, read)
    return explained(told)


def explained(told: Explanation) -> Explained:
    """An explanation as it is told over HTTP."""
    effects = told.effects
    written = effects.written
    return Explained(
        rule_set_hash=told.rule_set_hash,
        rules=tuple(_rule(one) for one in told.considered if one.matches),
        answer=told.answer,
        words=told.words,
        cooldown=effects.span,
        status=written.status if written is not None else None,
        expected_recovery_at=written.expected_recovery_at if written is not None else None,
        on_trial=explained(told.trial) if told.trial is not None else None,
    )


def _rule(one: Considered) -> RuleTold:
    return RuleTold(
        id=one.rule.id,
        pack=one.rule.pack,
        signature=one.rule.signature,
        classification=one.rule.classification,
        decides=one.decides,
        selectors=tuple(SelectorTold(**found._asdict()) for found in one.findings),
    )


def _arrival(event: ToolCallError, now: datetime) -> Arrival[ToolCallError]:
    """The error as if it came now, and were no older than it says."""
    at = now if event.occurred_at is None else min(event.occurred_at, now)
    ms = (at - EPOCH) // timedelta(milliseconds=1)
    return Arrival(event, event.event_id or "explained", "explained-0", 0, at, ms)


def _standing(
    event: ToolCallError, principal: Principal, parts: Parts
) -> Callable[[str], HealthEntry | None]:
    """The documents that stand for the error's caller. Raises a 403 where the principal may not see them all."""
    if event.user_id is not None:
        must_be_allowed(principal, Act.READ_HEALTH, principal.whose_user(event.user_id))
    if event.session_id is not None:
        must_be_allowed(principal, Act.READ_HEALTH, principal.whose(Scope.SESSION, event.session_id))
    caller = Caller.of(event)
    entries = {
        health_key(one.tenant_id, one.scope, one.scope_id, one.tool_name): HealthEntry(
            revision=one.revision, health=one
        )
        for one in parts.view.documents_of(caller, event.tool_name)
    }
    return entries.get

"""The routes that ask something of a health document: override, clear, recheck, and dismiss a message."""

import math
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import StringConstraints

from agrajag.api.asking import (
    AskingGiven,
    IdempotencyKey,
    ReasonQuery,
    a_command,
    commanded,
)
from agrajag.api.bodies import Body, body_docs, read_body, schema_of
from agrajag.api.command_readings import Commanded, job_end
from agrajag.api.commanding import command_location
from agrajag.api.parts import PartsGiven
from agrajag.api.permissions import Act, refusal
from agrajag.api.principal import TenantPrincipal
from agrajag.api.problems import FieldProblem, Problem, ProblemType, Refused, not_found, problem_responses
from agrajag.api.scoped import Scoped
from agrajag.api.segments import TenantSegment
from agrajag.api.store_access import store_needed
from agrajag.model.enums import CommandKind, Scope, Status
from agrajag.model.events import Locale
from agrajag.model.wire_model import MAX_NOTE, Duration, Id, Signature, Time

router = APIRouter(prefix="/brain/{tenant:segment}", tags=["commands"], responses={"4XX": {"model": Problem}})

_TOOL = "/tools/{tool:segment}"
_PROBLEMS = problem_responses(ProblemType.REFUSED, ProblemType.UNAVAILABLE)

SignatureQuery = Annotated[
    Signature | None, Query(alias="errorSignature", description="The cooldowns of this signature only.")
]
UserQuery = Annotated[Id | None, Query(alias="userId", description="The cooldowns of this user only.")]
LocaleQuery = Annotated[
    Locale | None, Query(description="The language of what a diagnosis tells the user, such as `de-CH`.")
]
ItemSegment = Annotated[Id, Path(alias="itemId", description="The message.")]


class OverrideAsked(Body):
    """What a person says of a tool, above all evidence: until its end, or until it is lifted."""

    status: Status
    reason: Annotated[str, StringConstraints(min_length=1, max_length=MAX_NOTE, pattern=r"\S")]
    until: Time | None = None
    duration: Duration | None = None


@router.put(
    f"{_TOOL}/override",
    response_model=Commanded,
    responses=_PROBLEMS,
    openapi_extra=body_docs(schema_of(OverrideAsked)),
)
async def override(asking: AskingGiven, request: Request) -> Commanded:
    """Sets the status by hand."""
    asking.must_be_allowed(Act.OVERRIDE)
    said = await read_body(request, OverrideAsked)
    if said.until is not None and said.duration is not None:
        problem = FieldProblem(field="body.until", reason="either until or duration")
        raise Refused(ProblemType.INVALID, "either until or duration", errors=[problem])
    fields = {name: getattr(said, name) for name in OverrideAsked.model_fields}
    return await asking.command(CommandKind.OVERRIDE, **fields)


@router.delete(f"{_TOOL}/override", response_model=Commanded, responses=_PROBLEMS)
async def lift_override(asking: AskingGiven, reason: ReasonQuery = None) -> Commanded:
    """Takes back a status that was set by hand; evidence counts again."""
    asking.must_be_allowed(Act.OVERRIDE)
    return await asking.command(CommandKind.LIFT_OVERRIDE, reason=reason)


@router.delete(f"{_TOOL}/cooldowns", response_model=Commanded, responses=_PROBLEMS)
async def clear_cooldowns(
    asking: AskingGiven,
    error_signature: SignatureQuery = None,
    user_id: UserQuery = None,
    reason: ReasonQuery = None,
) -> Commanded:
    """Ends the cooldowns that fit, so that the next call is tried at once."""
    asking.must_be_allowed(Act.CLEAR_COOLDOWN)
    return await asking.command(
        CommandKind.CLEAR_COOLDOWN, error_signature=error_signature, user_id=user_id, reason=reason
    )


@router.post(
    f"{_TOOL}/recheck",
    response_model=Commanded,
    responses={
        HTTPStatus.ACCEPTED: {
            "model": Commanded,
            "description": "The diagnosis goes on; what becomes of it is told at Location.",
            "headers": {"Location": {"schema": {"type": "string"}}},
        },
        **_PROBLEMS,
        **problem_responses(ProblemType.TOO_MANY),
    },
)
async def recheck(
    asking: AskingGiven, response: Response, reason: ReasonQuery = None, locale: LocaleQuery = None
) -> Commanded:
    """Has the tool diagnosed now, and waits a little for what is found (spec agrajag §11).

    It is probed as whoever asks; another user's document by admins only, and then as the system.
    """
    asking.must_be_allowed(Act.RECHECK)
    principal, parts, tenant = asking.principal, asking.parts, asking.tenant
    _refuse_too_many(parts.rechecks.wait_seconds(tenant, principal.user, asking.tool))
    done = await asking.command(CommandKind.RECHECK, user_id=asking.probed_as, reason=reason, locale=locale)
    result = done.command
    if result.job_id is None:
        return done
    end = await parts.commanding.end_of(tenant, result.job_id, parts.values.recheck_wait_seconds)
    if end is None:
        response.status_code = HTTPStatus.ACCEPTED
        response.headers["Location"] = command_location(tenant, result.command_id)
        return done
    # What ends a job changes the document after its beginning, unless nothing of it could be applied.
    written = result.revision if result.revision is None or not end.applied else result.revision + 1
    health = await asking.health_since(written or 0)
    return done.with_changes(end=job_end(end, principal), health=health)


@router.post("/inbox/{itemId:segment}/dismiss", response_model=Commanded, responses=_PROBLEMS)
async def dismiss(
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    item_id: ItemSegment,
    reason: ReasonQuery = None,
    key: IdempotencyKey = None,
) -> Commanded:
    """Takes a message out of its user's inbox; dismissed again, nothing matches."""
    with store_needed():
        item = await (await parts.store.opened()).inbox.find(tenant, item_id)
    if item is None or refusal(principal, Act.DISMISS_INBOX, principal.whose_user(item.assigned_to_user_id)):
        raise not_found("message")  # whose it is, is told to nobody else
    command = a_command(
        CommandKind.DISMISS_INBOX,
        principal,
        parts,
        tenant_id=tenant,
        tool_name=item.tool_name,
        scoped=Scoped(Scope.USER, item.assigned_to_user_id),
        key=key,
        reason=reason,
        inbox_item_id=item_id,
    )
    return await commanded(command, principal, parts, named=key is not None)


def _refuse_too_many(wait_seconds: float) -> None:
    if wait_seconds:
        after = {"Retry-After": str(math.ceil(wait_seconds))}
        raise Refused(ProblemType.TOO_MANY, "this tool was rechecked by you very often", headers=after)

"""The routes that ask something of a health document: override, clear, recheck, and dismiss a message."""

import math
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import Field, StringConstraints, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from agrajag.api.asking import AskingGiven, ChangeAsked, WhyAsked
from agrajag.api.bodies import Body, body_docs, read_body, schema_of
from agrajag.api.command_readings import Commanded, job_end
from agrajag.api.commanding import command_location
from agrajag.api.permissions import Act, refusal
from agrajag.api.problems import FieldProblem, ProblemType, Refused, not_found, problem_responses
from agrajag.api.scopes import Place
from agrajag.api.segments import SEGMENT, ToolSegment
from agrajag.api.store_access import store_needed
from agrajag.model.enums import CommandKind, Scope, Status
from agrajag.model.events import Locale
from agrajag.model.wire_model import MAX_NOTE, Duration, Id, Signature, Time

router = APIRouter(prefix="/brain", tags=["commands"])

_TENANT = f"/{{tenant:{SEGMENT}}}"
_TOOL = f"{_TENANT}/tools/{{tool:{SEGMENT}}}"
_PROBLEMS = problem_responses(ProblemType.REFUSED, ProblemType.UNAVAILABLE)

MessageSegment = Annotated[Id, Path(alias="itemId", description="The message.")]


SpanAsked = Annotated[
    Duration,
    # The format `duration` of JSON Schema has spans of many years, and no fractions.
    WithJsonSchema(
        {
            "type": "string",
            "pattern": r"^P(?=.)([0-9]{1,3}D)?(T(?=.)([0-9]{1,3}H)?([0-9]{1,4}M)?([0-9]{1,5}S)?)?$",
            "description": "ISO 8601, such as PT2H; at most 366 days.",
        }
    ),
]


class OverrideAsked(Body):
    """What a person says of a tool, above all evidence: until its end, or until it is lifted."""

    status: Status
    reason: Annotated[str, StringConstraints(min_length=1, max_length=MAX_NOTE, pattern=r"\S")]
    until: Time | None = None
    duration: SpanAsked | None = None


class LiftAsked(ChangeAsked, WhyAsked):
    """Which document's override is lifted, and why."""


class ClearAsked(ChangeAsked, WhyAsked):
    """Which cooldowns end, and why."""

    error_signature: Signature | SkipJsonSchema[None] = Field(
        None, description="Those of this signature only."
    )
    user_id: Id | SkipJsonSchema[None] = Field(None, description="Those of this user only.")


class RecheckAsked(ChangeAsked, WhyAsked):
    """What is rechecked, and why."""

    locale: Locale | SkipJsonSchema[None] = Field(
        None, description="The language of what a diagnosis tells the user, such as `de-CH`."
    )


@router.put(
    f"{_TOOL}/override",
    response_model=Commanded,
    response_model_exclude_none=True,
    responses=_PROBLEMS,
    openapi_extra=body_docs(schema_of(OverrideAsked)),
)
async def override_status(
    asking: AskingGiven, tool: ToolSegment, asked: Annotated[ChangeAsked, Query()], request: Request
) -> Commanded:
    """Sets the status by hand."""
    place = asking.place(Act.OVERRIDE, asked)
    said = await read_body(request, OverrideAsked)
    if said.until is not None and said.duration is not None:
        raise _refused_until("either until or duration")
    return await asking.command(
        CommandKind.OVERRIDE,
        tool,
        place,
        project_id=asked.project_id,
        status=said.status,
        reason=said.reason,
        duration=said.duration,
        until=_in_utc(said.until),
    )


@router.delete(
    f"{_TOOL}/override", response_model=Commanded, response_model_exclude_none=True, responses=_PROBLEMS
)
async def lift_override(
    asking: AskingGiven, tool: ToolSegment, asked: Annotated[LiftAsked, Query()]
) -> Commanded:
    """Takes back a status that was set by hand; evidence counts again."""
    place = asking.place(Act.OVERRIDE, asked)
    return await asking.command(
        CommandKind.LIFT_OVERRIDE, tool, place, project_id=asked.project_id, reason=asked.reason
    )


@router.delete(
    f"{_TOOL}/cooldowns", response_model=Commanded, response_model_exclude_none=True, responses=_PROBLEMS
)
async def clear_cooldowns(
    asking: AskingGiven, tool: ToolSegment, asked: Annotated[ClearAsked, Query()]
) -> Commanded:
    """Ends the cooldowns that fit, so that the next call is tried at once."""
    place = asking.place(Act.CLEAR_COOLDOWN, asked)
    return await asking.command(
        CommandKind.CLEAR_COOLDOWN,
        tool,
        place,
        project_id=asked.project_id,
        error_signature=asked.error_signature,
        user_id=asked.user_id,
        reason=asked.reason,
    )


@router.post(
    f"{_TOOL}/recheck",
    response_model=Commanded,
    response_model_exclude_none=True,
    responses={
        HTTPStatus.ACCEPTED.value: {
            "model": Commanded,
            "description": "The diagnosis goes on; what becomes of it is told at Location.",
            "headers": {"Location": {"schema": {"type": "string"}}},
        },
        **_PROBLEMS,
        **problem_responses(ProblemType.TOO_MANY),
    },
)
async def recheck(
    asking: AskingGiven, tool: ToolSegment, asked: Annotated[RecheckAsked, Query()], response: Response
) -> Commanded:
    """Has the tool diagnosed now, and waits a little for what is found (spec agrajag §11).

    It is probed as whoever asks; another user's document by admins only, and then as the system.
    """
    place = asking.place(Act.RECHECK, asked)
    principal, parts, tenant = asking.principal, asking.parts, asking.tenant
    _refuse_too_many(parts.rechecks.wait_seconds(tenant, principal.user, tool), "this tool")
    _refuse_too_many(parts.rechecks_in_all.wait_seconds(tenant, principal.user), "tools")
    done = await asking.command(
        CommandKind.RECHECK,
        tool,
        place,
        project_id=asked.project_id,
        user_id=asking.probed_as(place),
        reason=asked.reason,
        locale=asked.locale,
    )
    result = done.command
    if result.job_id is None:
        return done
    end = await parts.commanding.end_of(tenant, result.job_id, parts.values.recheck_wait_seconds)
    if end is None:
        response.status_code = HTTPStatus.ACCEPTED
        response.headers["Location"] = command_location(tenant, result.command_id)
        return done
    # What ends a job changes the document after its beginning, unless nothing of it could be applied.
    written = result.revision + 1 if result.revision is not None and end.applied else 0
    health = await asking.health_since(tool, place, written)
    return done.with_changes(end=job_end(end, principal), health=health)


@router.post(
    f"{_TENANT}/inbox/{{itemId:{SEGMENT}}}/dismiss",
    response_model=Commanded,
    response_model_exclude_none=True,
    responses=_PROBLEMS,
)
async def dismiss_message(
    asking: AskingGiven, item_id: MessageSegment, asked: Annotated[WhyAsked, Query()]
) -> Commanded:
    """Takes a message out of its user's inbox; dismissed again, nothing matches."""
    principal = asking.principal
    with store_needed():
        item = await (await asking.parts.store.opened()).inbox.find(asking.tenant, item_id)
    if item is None or refusal(principal, Act.DISMISS_INBOX, principal.whose_user(item.assigned_to_user_id)):
        raise not_found("message")  # whose it is, is told to nobody else
    return await asking.command(
        CommandKind.DISMISS_INBOX,
        item.tool_name,
        Place(Scope.USER, item.assigned_to_user_id),
        reason=asked.reason,
        inbox_item_id=item_id,
    )


def _in_utc(until: datetime | None) -> datetime | None:
    try:
        return None if until is None else until.astimezone(UTC)
    except OverflowError:
        raise _refused_until("is outside the years 1 to 9999 in UTC") from None


def _refused_until(reason: str) -> Refused:
    problem = FieldProblem(field="body.until", reason=reason)
    return Refused(ProblemType.REFUSED, f"{problem.field}: {reason}", errors=[problem])


def _refuse_too_many(wait_seconds: float, what: str) -> None:
    if wait_seconds:
        after = {"Retry-After": str(math.ceil(wait_seconds))}
        raise Refused(ProblemType.TOO_MANY, f"you have had {what} rechecked very often", headers=after)

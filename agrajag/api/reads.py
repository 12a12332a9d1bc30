"""The routes that read the view in memory: who asks, how tools are, and what is paused. They need neither store nor
broker."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from agrajag.api.answers import NOT_MODIFIED, IfNoneMatch, PageAsked, list_answer, record_answer
from agrajag.api.parts import Parts, PartsGiven
from agrajag.api.permissions import Act, Principal, Role
from agrajag.api.principal import PrincipalGiven, TenantPrincipal, must_be_allowed
from agrajag.api.problems import ProblemType, Refused, not_found, problem_responses
from agrajag.api.scopes import Asked, ScopeAsked, place_of
from agrajag.api.segments import SEGMENT, TenantSegment, ToolSegment
from agrajag.api.showing import found, policy_of, sees, shown, shown_cascade
from agrajag.core.lookup import Caller, believed_status
from agrajag.model.enums import Scope, Status
from agrajag.model.health import HistoryEntry, ToolHealth
from agrajag.model.reading import CascadeReading, HealthReading, Key
from agrajag.model.wire_model import Count, Id, ScopeId, WireModel
from agrajag.view.selection import Wanted

router = APIRouter(prefix="/brain", tags=["health"])

_TENANT = f"/{{tenant:{SEGMENT}}}"
_TOOL = f"{_TENANT}/tools/{{tool:{SEGMENT}}}"
_READ = problem_responses() | NOT_MODIFIED
_READ_SINCE = problem_responses(ProblemType.NOT_YET) | NOT_MODIFIED


class Seat(WireModel):
    """A tenant that a token may see, and as whom."""

    tenant: Id
    user: Id
    role: Role


class Seats(WireModel):
    """Whoever asks, tenant by tenant."""

    items: tuple[Seat, ...]


class HealthList(WireModel):
    """Health documents in the order of their keys."""

    items: tuple[HealthReading, ...]
    next_after: Key | None


class History(WireModel):
    """Changes of status, newest first."""

    items: tuple[HistoryEntry, ...]
    next_after: Key | None


class ToolPart(Asked):
    """Which tools."""

    tool: Annotated[str, Field(max_length=256)] = Field("", description="A part of the tool's name.")


class HealthAsked(PageAsked, ToolPart):
    """Which documents a list is of."""

    status: Status | SkipJsonSchema[None] = Field(None, description="Those that are so now.")
    scope: Scope | SkipJsonSchema[None] = Field(None, description="Those of this scope.")
    scope_id: ScopeId | SkipJsonSchema[None] = Field(
        None, description="Those of this session, user or project."
    )


class SinceAsked(Asked):
    """How new it has to be."""

    min_revision: Count = Field(
        0, description="Wait up to two seconds until a document of this revision, or a newer one, is shown."
    )


class OneAsked(ScopeAsked, SinceAsked):
    """Which document, and how new it has to be."""


class CascadeAsked(SinceAsked):
    """For whom."""

    project_id: Id | SkipJsonSchema[None] = Field(None, description="The caller's project.")
    user_id: Id | SkipJsonSchema[None] = Field(None, description="The caller.")
    session_id: Id | SkipJsonSchema[None] = Field(None, description="The caller's session.")


@router.get("", responses=problem_responses())
async def who_am_i(principal: PrincipalGiven, parts: PartsGiven) -> Seats:
    """Tells whose the token is; for whoever may see every tenant, the first 500 that have a health document."""
    tenants = parts.view.tenants() if principal.tenant is None else [principal.tenant]
    return Seats(items=tuple(Seat(tenant=name, user=principal.user, role=principal.role) for name in tenants))


@router.get(f"{_TENANT}/health", response_model=HealthList, responses=_READ)
async def list_health(
    request: Request,
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    asked: Annotated[HealthAsked, Query()],
    known: IfNoneMatch = None,
) -> Response:
    """Lists the health documents that the token may see."""
    if asked.scope is not None and asked.scope_id is not None:
        must_be_allowed(principal, Act.READ_HEALTH, principal.whose(asked.scope, asked.scope_id))
    wanted = Wanted(
        scope=asked.scope,
        scope_id=asked.scope_id,
        tool_part=asked.tool,
        statuses=None if asked.status in (None, Status.OK) else frozenset({asked.status}),
        seen=sees(principal),
    )
    page = await found(
        parts,
        tenant,
        wanted,
        keep=lambda one: asked.status in (None, believed_status(one, parts.now(), policy_of(parts, one))),
        after=asked.after,
        limit=asked.limit,
    )
    return list_answer(request, (shown(parts, principal, one) for one in page.documents), page.next_after)


@router.get(f"{_TOOL}/health", response_model=HealthReading, responses=_READ_SINCE)
async def read_health(
    request: Request,
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    tool: ToolSegment,
    asked: Annotated[OneAsked, Query()],
    known: IfNoneMatch = None,
) -> Response:
    """Tells how a tool is for those of one scope."""
    document = await _document(parts, principal, tenant, tool, asked, asked.min_revision)
    return record_answer(request, shown(parts, principal, document), document.revision)


@router.get(f"{_TOOL}/history", response_model=History, responses=_READ)
async def read_history(
    request: Request,
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    tool: ToolSegment,
    asked: Annotated[ScopeAsked, Query()],
    known: IfNoneMatch = None,
) -> Response:
    """Tells how a tool was for those of one scope, the newest change first."""
    document = await _document(parts, principal, tenant, tool, asked)
    return list_answer(request, document.history, None)


@router.get(f"{_TOOL}/cascade", response_model=CascadeReading, responses=_READ_SINCE)
async def read_cascade(
    request: Request,
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    tool: ToolSegment,
    asked: Annotated[CascadeAsked, Query()],
    known: IfNoneMatch = None,
) -> Response:
    """Tells how a tool is for one caller: which document speaks for them, and all that apply."""
    caller = Caller(tenant, asked.project_id, asked.user_id, asked.session_id)
    places = _places(caller)
    for scope, scope_id in places:
        must_be_allowed(principal, Act.READ_HEALTH, principal.whose(scope, scope_id))
    if asked.min_revision:
        await _seen_in_one(parts, tenant, tool, places, asked.min_revision)
    return record_answer(request, shown_cascade(parts, principal, caller, tool))


async def _document(
    parts: Parts, principal: Principal, tenant: str, tool: str, asked: ScopeAsked, min_revision: int = 0
) -> ToolHealth:
    place = place_of(principal, tenant, asked.scope, asked.scope_id)
    must_be_allowed(principal, Act.READ_HEALTH, principal.whose(*place))
    if min_revision:
        await _seen_in_one(parts, tenant, tool, [place], min_revision)
    document = parts.view.find(tenant, *place, tool)
    if document is None:
        raise not_found("health document")
    return document


async def _seen_in_one(
    parts: Parts, tenant: str, tool: str, places: list[tuple[Scope, str]], revision: int
) -> None:
    """Return once one of the documents is shown as of this revision; raises a 503 where that takes too long."""
    wait = parts.values.revision_wait_seconds
    waiting = {
        asyncio.create_task(parts.view.at_least(tenant, *place, tool, revision, wait)) for place in places
    }
    try:
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if any(task.result() for task in done):
                return
    finally:
        for task in waiting:
            task.cancel()
    reason = f"revision {revision} is not shown yet"
    raise Refused(ProblemType.NOT_YET, reason, headers={"Retry-After": "1"})


def _places(caller: Caller) -> list[tuple[Scope, str]]:
    """Whose documents apply to a caller."""
    named = {
        Scope.SESSION: caller.session_id,
        Scope.USER: caller.user_id,
        Scope.PROJECT: caller.project_id,
        Scope.TENANT: caller.tenant_id,
        Scope.GLOBAL: "",
    }
    return [(scope, scope_id) for scope, scope_id in named.items() if scope_id is not None]

"""The routes that say what became of a command, and who did what and why."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from agrajag.api.answers import NOT_MODIFIED, IfNoneMatch, PageAsked, list_answer, record_answer
from agrajag.api.command_readings import CommandReading, DocumentPlace, command_reading, health_at
from agrajag.api.parts import PartsGiven
from agrajag.api.permissions import Act, Principal, refusal
from agrajag.api.principal import TenantPrincipal, must_be_allowed
from agrajag.api.problems import ProblemType, not_found, problem_responses
from agrajag.api.segments import SEGMENT, TenantSegment
from agrajag.api.store_access import store_needed
from agrajag.model.answers import HealthCommand
from agrajag.model.wire_model import Id, WireModel

router = APIRouter(prefix="/brain", tags=["audit"])

_TENANT = f"/{{tenant:{SEGMENT}}}"
_STORED = problem_responses(ProblemType.UNAVAILABLE) | NOT_MODIFIED

CommandSegment = Annotated[
    Id, Path(alias="commandId", description="The id that the answer to a write gives.")
]


class AuditList(WireModel):
    """Commands, the newest first."""

    items: tuple[CommandReading, ...]
    next_after: str | None


@router.get(f"{_TENANT}/commands/{{commandId:{SEGMENT}}}", response_model=CommandReading, responses=_STORED)
async def read_command(
    request: Request,
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    command_id: CommandSegment,
    known: IfNoneMatch = None,
) -> Response:
    """Tells what became of a command, and how its tool is now."""
    must_be_allowed(principal, Act.READ_COMMAND)
    found = await parts.commanding.find(tenant, command_id)
    asked = found.asked
    if not _may_know(principal, asked):
        raise not_found("command")
    place = DocumentPlace(tenant, asked.scope, asked.scope_id, asked.tool_name)
    health = health_at(place, principal, parts)
    told = command_reading(asked, found.asked_at, found.result, found.end, principal, health)
    return record_answer(request, told)


@router.get(f"{_TENANT}/audit", response_model=AuditList, responses=_STORED)
async def list_audit(
    request: Request,
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    asked: Annotated[PageAsked, Query()],
    known: IfNoneMatch = None,
) -> Response:
    """Lists who asked for what and why, whichever way it was asked; the newest first, thirty days back."""
    must_be_allowed(principal, Act.READ_AUDIT)
    with store_needed():
        store = await parts.store.opened()
        page = await store.commands.page(tenant, after=asked.after or None, limit=asked.limit)
    items = (command_reading(one.command, one.asked_at, one.result, None, principal) for one in page.commands)
    return list_answer(request, items, page.next_after)


def _may_know(principal: Principal, asked: HealthCommand) -> bool:
    """Their own commands, and those about documents that they may see."""
    whose = principal.whose(asked.scope, asked.scope_id)
    return asked.by == principal.user or refusal(principal, Act.READ_HEALTH, whose) is None

"""The routes that say what became of a command, and who did what and why."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from agrajag.api.command_readings import CommandReading, Place, command_reading, health_at
from agrajag.api.parts import PartsGiven
from agrajag.api.permissions import Act, Principal, refusal
from agrajag.api.principal import TenantPrincipal, must_be_allowed
from agrajag.api.problems import Problem, ProblemType, not_found, problem_responses
from agrajag.api.segments import TenantSegment
from agrajag.api.store_access import store_needed
from agrajag.model.answers import HealthCommand
from agrajag.model.wire_model import Id, WireModel

router = APIRouter(prefix="/brain/{tenant:segment}", tags=["audit"], responses={"4XX": {"model": Problem}})

_PROBLEMS = problem_responses(ProblemType.UNAVAILABLE)
MAX_LIMIT = 500

CommandSegment = Annotated[
    Id, Path(alias="commandId", description="The id that the answer to a write gives.")
]
LimitQuery = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="How many, at most.")]
AfterQuery = Annotated[str | None, Query(max_length=4_096, description="The `nextAfter` of the page before.")]


class AuditPage(WireModel):
    """Commands, the newest first."""

    items: tuple[CommandReading, ...]
    next_after: str | None = None
    """Where the next page begins; missing on the last."""


@router.get("/commands/{commandId:segment}", response_model=CommandReading, responses=_PROBLEMS)
async def command(
    principal: TenantPrincipal, parts: PartsGiven, tenant: TenantSegment, command_id: CommandSegment
) -> CommandReading:
    """Tells what became of a command, and how its tool is now."""
    must_be_allowed(principal, Act.READ_COMMAND)
    known = await parts.commanding.find(tenant, command_id)
    asked = known.asked
    if not _may_know(principal, asked):
        raise not_found("command")
    place = Place(tenant, asked.scope, asked.scope_id, asked.tool_name)
    health = health_at(place, asked.project_id, principal, parts)
    return command_reading(asked, known.asked_at, known.result, known.end, principal, health)


@router.get("/audit", response_model=AuditPage, responses=_PROBLEMS)
async def audit(
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    limit: LimitQuery = 100,
    after: AfterQuery = None,
) -> AuditPage:
    """Lists who asked for what and why, whichever way it was asked; the newest first, thirty days back."""
    must_be_allowed(principal, Act.READ_AUDIT)
    with store_needed():
        page = await (await parts.store.opened()).commands.page(tenant, after=after, limit=limit)
    items = tuple(
        command_reading(one.command, one.asked_at, one.result, None, principal) for one in page.commands
    )
    return AuditPage(items=items, next_after=page.next_after)


def _may_know(principal: Principal, asked: HealthCommand) -> bool:
    """Their own commands, and those about documents that they may see."""
    whose = principal.whose(asked.scope, asked.scope_id)
    return asked.by == principal.user or refusal(principal, Act.READ_HEALTH, whose) is None

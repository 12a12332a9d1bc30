"""The routes that read the store: what service engines did, and what users were told. Without it they answer 503."""

from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import AwareDatetime, Field
from pydantic.json_schema import SkipJsonSchema

from agrajag.api.answers import NOT_MODIFIED, IfNoneMatch, PageAsked, list_answer, record_answer
from agrajag.api.parts import PartsGiven
from agrajag.api.permissions import Act, Role, Whose
from agrajag.api.principal import TenantPrincipal, must_be_allowed
from agrajag.api.problems import ProblemType, not_found, problem_responses
from agrajag.api.segments import SEGMENT, TenantSegment
from agrajag.api.store_access import store_needed
from agrajag.core.stories import Call, Story
from agrajag.model.answers import InboxItem
from agrajag.model.enums import InboxStatus
from agrajag.model.processes import ProcessEvent, RunUsage, ToolCallEvent
from agrajag.model.wire_model import Id, Time, WireModel

router = APIRouter(prefix="/brain", tags=["past"])

_TENANT = f"/{{tenant:{SEGMENT}}}"
_STORED = problem_responses(ProblemType.UNAVAILABLE) | NOT_MODIFIED
_LONGEST_AGO = timedelta(days=31)


class RunList(WireModel):
    """Processes, each with its newest step; that which did something last in front."""

    items: tuple[ProcessEvent, ...]
    next_after: str | None


class RunCall(WireModel):
    """One tool call: its beginning and its end, as far as they are known."""

    started: ToolCallEvent | None = None
    ended: ToolCallEvent | None = None


class Run(WireModel):
    """All that is known of one process."""

    process_id: Id
    job_id: Id
    tenant_id: Id
    project_id: Id | None = None
    began_at: Time
    steps: tuple[ProcessEvent, ...]
    calls: tuple[RunCall, ...]
    usage: RunUsage | None = None


class InboxList(WireModel):
    """What users were told; that which changed last in front."""

    items: tuple[InboxItem, ...]
    next_after: str | None


class RunsAsked(PageAsked):
    """Which processes."""

    job_id: Id | SkipJsonSchema[None] = Field(None, description="The attempts at this job.")
    project_id: Id | SkipJsonSchema[None] = Field(None, description="Those of this project.")
    since: AwareDatetime | SkipJsonSchema[None] = Field(
        None, description="From when on; by default all that is kept, which is a month."
    )
    until: AwareDatetime | SkipJsonSchema[None] = Field(None, description="Before when.")


class InboxAsked(PageAsked):
    """Which messages."""

    user_id: Id | SkipJsonSchema[None] = Field(
        None, description="Whose; by default one's own, for an admin everybody's."
    )
    status: InboxStatus | SkipJsonSchema[None] = Field(None, description="Those that are so.")


@router.get(f"{_TENANT}/runs", response_model=RunList, responses=_STORED)
async def list_runs(
    request: Request,
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    asked: Annotated[RunsAsked, Query()],
    known: IfNoneMatch = None,
) -> Response:
    """Lists what service engines did."""
    must_be_allowed(principal, Act.READ_RUNS)
    with store_needed():
        store = await parts.store.opened()
        page = await store.processes.page(
            tenant,
            since=_moment(asked.since, parts.now() - _LONGEST_AGO),
            until=_moment(asked.until, parts.now() + timedelta(days=1)),
            job_id=asked.job_id,
            project_id=asked.project_id,
            after=asked.after or None,
            limit=asked.limit,
        )
    return list_answer(request, page.records, page.next_after)


@router.get(f"{_TENANT}/runs/{{process:{SEGMENT}}}", response_model=Run, responses=_STORED)
async def read_run(
    request: Request,
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    process: Annotated[Id, Path(description="The id of the process.")],
    known: IfNoneMatch = None,
) -> Response:
    """Tells all that is known of one process: its steps, its tool calls, what it has used."""
    must_be_allowed(principal, Act.READ_RUNS)
    with store_needed():
        store = await parts.store.opened()
        story = await store.audit.story(tenant, process)
    if story is None:
        raise not_found("run")
    return record_answer(request, _run(story))


@router.get(f"{_TENANT}/inbox", response_model=InboxList, responses=_STORED)
async def list_inbox(
    request: Request,
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    asked: Annotated[InboxAsked, Query()],
    known: IfNoneMatch = None,
) -> Response:
    """Lists what users were told that they can do something about."""
    user_id = asked.user_id
    if user_id is None and principal.role is not Role.ADMIN:
        user_id = principal.user
    whose = Whose.ANOTHERS if user_id is None else principal.whose_user(user_id)
    must_be_allowed(principal, Act.READ_INBOX, whose)
    with store_needed():
        store = await parts.store.opened()
        page = await store.inbox.page(
            tenant, user_id=user_id, status=asked.status, after=asked.after or None, limit=asked.limit
        )
    return list_answer(request, page.records, page.next_after)


def _moment(given: datetime | None, otherwise: datetime) -> datetime:
    return otherwise if given is None else given


def _run(story: Story) -> Run:
    return Run(
        process_id=story.process_id,
        job_id=story.job_id,
        tenant_id=story.tenant_id,
        project_id=story.project_id,
        began_at=story.began_at,
        steps=story.steps,
        calls=tuple(map(_call, story.calls)),
        usage=story.usage,
    )


def _call(call: Call) -> RunCall:
    return RunCall(started=call.started, ended=call.ended)

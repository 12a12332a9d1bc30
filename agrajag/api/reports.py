"""The routes for services that report without a Kafka client: an answer says that Kafka has what was reported."""

import asyncio
from http import HTTPStatus

from fastapi import APIRouter, Request

from agrajag.api.asking import IdempotencyKey
from agrajag.api.bodies import body_docs
from agrajag.api.commanding import command_id_of
from agrajag.api.parts import Parts, PartsGiven
from agrajag.api.permissions import Act, Principal
from agrajag.api.principal import TenantPrincipal, must_be_allowed
from agrajag.api.problems import Missing, ProblemType, needing, problem_responses
from agrajag.api.reported import read_reports, reports_schema
from agrajag.api.segments import SEGMENT, TenantSegment
from agrajag.model.events import SystemEvent, ToolCallError, ToolCallSucceeded
from agrajag.model.wire_model import Id, WireModel
from agrajag.wire.reports import Report, report_output

router = APIRouter(prefix=f"/brain/{{tenant:{SEGMENT}}}/reports", tags=["reports"])

SOURCE = "agrajag/api"
_PROBLEMS = problem_responses(ProblemType.UNAVAILABLE)


class Reported(WireModel):
    """Kafka has these events."""

    event_ids: tuple[Id, ...]
    """In the order in which they were sent."""


@router.post(
    "/errors",
    status_code=HTTPStatus.ACCEPTED,
    response_model=Reported,
    responses=_PROBLEMS,
    openapi_extra=body_docs(reports_schema(ToolCallError)),
)
async def report_errors(
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    request: Request,
    key: IdempotencyKey = None,
) -> Reported:
    """Takes failed calls, one or many as `{"events": […]}`: all of them or, where one is wrong, none."""
    return await _reported(ToolCallError, principal, parts, tenant, request, key)


@router.post(
    "/successes",
    status_code=HTTPStatus.ACCEPTED,
    response_model=Reported,
    responses=_PROBLEMS,
    openapi_extra=body_docs(reports_schema(ToolCallSucceeded)),
)
async def report_successes(
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    request: Request,
    key: IdempotencyKey = None,
) -> Reported:
    """Takes successful calls of tools that something is said against."""
    return await _reported(ToolCallSucceeded, principal, parts, tenant, request, key)


@router.post(
    "/links",
    status_code=HTTPStatus.ACCEPTED,
    response_model=Reported,
    responses=_PROBLEMS,
    openapi_extra=body_docs(reports_schema(SystemEvent)),
)
async def report_links(
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    request: Request,
    key: IdempotencyKey = None,
) -> Reported:
    """Takes connections that came or went, with their tools."""
    return await _reported(SystemEvent, principal, parts, tenant, request, key)


async def _reported(
    model: type[Report],
    principal: Principal,
    parts: Parts,
    tenant: str,
    request: Request,
    key: str | None,
) -> Reported:
    must_be_allowed(principal, Act.REPORT)
    body = await request.body()
    # A large batch takes a while, and others are served meanwhile.
    reports: list[Report] = await asyncio.to_thread(read_reports, body, model, tenant)
    name = command_id_of(tenant, principal.user, key)
    ids = [report.event_id or f"{name}-{number}" for number, report in enumerate(reports)]
    with needing(Missing.KAFKA):
        await parts.sender.send(
            report_output(parts.topics, report, event_id, SOURCE)
            for report, event_id in zip(reports, ids, strict=True)
        )
    return Reported(event_ids=tuple(ids))

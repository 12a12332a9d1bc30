"""The route of the stream of changes."""

from typing import Annotated

from fastapi import APIRouter, Header, Request
from pydantic.json_schema import SkipJsonSchema

from agrajag.api.changes.answer import MEDIA_TYPE, ChangesAnswer
from agrajag.api.changes.stream import ChangeStream
from agrajag.api.parts import PartsGiven
from agrajag.api.permissions import Act
from agrajag.api.principal import TenantPrincipal, must_be_allowed, still_theirs
from agrajag.api.problems import ProblemType, problem_responses
from agrajag.api.segments import TenantSegment

router = APIRouter(prefix="/brain", tags=["changes"])

EVENT_SCHEMA = {
    "type": "object",
    "properties": {
        "event": {"enum": ["reset", "changed", "gone", "current"]},
        "data": {"type": "string", "description": "JSON"},
        "id": {"type": "string"},
        "retry": {"type": "integer"},
    },
    "required": ["event", "data"],
}
"""One event of the stream, as OpenAPI tells it."""


@router.get(
    "/{tenant:segment}/changes",
    status_code=200,
    response_class=ChangesAnswer,
    responses={
        200: {
            "description": "Server-sent events, without end",
            "content": {MEDIA_TYPE: {"itemSchema": EVENT_SCHEMA}},
        },
        **problem_responses(ProblemType.UNAVAILABLE),
    },
)
async def follow_changes(
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    request: Request,
    last_event_id: Annotated[
        str | SkipJsonSchema[None], Header(description="The id of the last event that is known.")
    ] = None,
) -> ChangesAnswer:
    """Tells each change of health as it happens (server-sent events).

    `reset`: forget what you know, all there is follows, up to `current`. `changed`: a `HealthReading`. `gone`: `key`
    and `revision` of a document that was deleted. With the id of the last known event only what came after it is told.
    """
    must_be_allowed(principal, Act.READ_HEALTH)
    stream = ChangeStream(parts, tenant, principal, still_theirs(request, parts, principal), last_event_id)
    return ChangesAnswer(parts, stream)

"""The route that lists what is paused: for whom, until when and why."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from agrajag.api.answers import NOT_MODIFIED, IfNoneMatch, PageAsked, list_answer
from agrajag.api.parts import PartsGiven
from agrajag.api.permissions import Act, shown_to
from agrajag.api.principal import TenantPrincipal, must_be_allowed
from agrajag.api.problems import problem_responses
from agrajag.api.reads import ToolPart
from agrajag.api.segments import SEGMENT, TenantSegment
from agrajag.api.showing import found, key_of, sees
from agrajag.core.cooldown import is_active
from agrajag.core.plain_words import cooling
from agrajag.model.enums import Scope
from agrajag.model.health import Cooldown, ToolHealth
from agrajag.model.reading import Key, Words
from agrajag.model.wire_model import Count, Id, ScopeId, WireModel
from agrajag.view.selection import Wanted

router = APIRouter(prefix="/brain", tags=["health"])


class CooldownReading(WireModel):
    """One cooldown, with the document that it stands in."""

    key: Key
    tool_name: Id
    scope: Scope
    scope_id: ScopeId
    revision: Count
    """Of the document."""
    active: bool
    """Whether it lasts; one that is over is remembered for a while, so that the next one is longer."""
    words: Words | None = None
    """For people, as long as it lasts."""
    cooldown: Cooldown


class CooldownList(WireModel):
    """Cooldowns in the order of their documents' keys; those of one document are never divided between pages."""

    items: tuple[CooldownReading, ...]
    next_after: Key | None


class CooldownsAsked(PageAsked, ToolPart):
    """Which cooldowns; `limit` counts documents."""

    user_id: Id | SkipJsonSchema[None] = Field(None, description="Those of this user alone.")
    active: bool = Field(True, description="Those that last; false: those that are over.")


@router.get(
    f"/{{tenant:{SEGMENT}}}/cooldowns",
    response_model=CooldownList,
    responses=problem_responses() | NOT_MODIFIED,
)
async def list_cooldowns(
    request: Request,
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    asked: Annotated[CooldownsAsked, Query()],
    known: IfNoneMatch = None,
) -> Response:
    """Lists the cooldowns that the token may see."""
    if asked.user_id is not None:
        must_be_allowed(principal, Act.READ_HEALTH, principal.whose_user(asked.user_id))

    def listed(document: ToolHealth) -> list[CooldownReading]:
        words = {(one.error_signature, one.user_id): one.words for one in cooling(document, parts.now())}
        return [
            _reading(document, entry, words.get((entry.error_signature, entry.user_id)))
            for entry in _of_user(shown_to(principal, document), asked.user_id)
            if is_active(entry, parts.now()) is asked.active
        ]

    page = await found(
        parts,
        tenant,
        Wanted(tool_part=asked.tool, with_cooldowns=True, seen=sees(principal)),
        keep=lambda document: bool(listed(document)),
        after=asked.after,
        limit=asked.limit,
    )
    items = [item for document in page.documents for item in listed(document)]
    return list_answer(request, items, page.next_after)


def _of_user(document: ToolHealth, user_id: str | None) -> Iterator[Cooldown]:
    theirs = document.scope is Scope.USER and document.scope_id == user_id
    for entry in document.cooldowns:
        if user_id is None or theirs or entry.user_id == user_id:
            yield entry


def _reading(document: ToolHealth, entry: Cooldown, words: str | None) -> CooldownReading:
    return CooldownReading(
        key=key_of(document),
        tool_name=document.tool_name,
        scope=document.scope,
        scope_id=document.scope_id,
        revision=document.revision,
        active=words is not None,
        words=words,
        cooldown=entry,
    )

"""Shows health documents of the view to somebody: those that they may see, without what in them is about others."""

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import NamedTuple

from agrajag.api.parts import Parts
from agrajag.api.permissions import Principal, may_see_scope, shown_to
from agrajag.core.lookup import Caller
from agrajag.core.policy import Policy
from agrajag.core.reading import cascade_reading, reading
from agrajag.model.enums import Scope
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key
from agrajag.model.reading import CascadeReading, HealthReading
from agrajag.view.selection import MAX_SELECTED, Wanted


class Found(NamedTuple):
    """Some documents of a list; `next_after` is the key of the last one, where others follow."""

    documents: tuple[ToolHealth, ...]
    next_after: str | None


def policy_of(parts: Parts, document: ToolHealth) -> Policy:
    """The policy by which a document is read."""
    project = document.scope_id if document.scope is Scope.PROJECT else None
    return parts.policy(document.tenant_id, project)


def shown(parts: Parts, principal: Principal, document: ToolHealth) -> HealthReading:
    """The document as of now, as the principal may see it."""
    return reading(shown_to(principal, document), parts.now(), policy_of(parts, document))


def shown_cascade(parts: Parts, principal: Principal, caller: Caller, tool_name: str) -> CascadeReading:
    """How a tool is now for a caller whom the principal may ask about."""
    documents = [shown_to(principal, one) for one in parts.view.documents_of(caller, tool_name)]
    return cascade_reading(documents, caller, parts.now(), parts.policy(caller.tenant_id, caller.project_id))


def sees(principal: Principal) -> Callable[[Scope, str], bool]:
    """Whether a document of this scope may be shown to the principal."""
    return partial(may_see_scope, principal)


async def found(
    parts: Parts,
    tenant_id: str,
    wanted: Wanted,
    *,
    keep: Callable[[ToolHealth], bool] = lambda _document: True,
    after: str,
    limit: int,
) -> Found:
    """The first `limit` documents behind `after` that are wanted and kept, in the order of their keys."""
    documents: list[ToolHealth] = []
    async for document in _all(parts, tenant_id, wanted, after, limit + 1):
        if keep(document):
            if len(documents) == limit:
                return Found(tuple(documents), key_of(documents[-1]))
            documents.append(document)
    return Found(tuple(documents), None)


def key_of(document: ToolHealth) -> str:
    """The key of a document."""
    return health_key(document.tenant_id, document.scope, document.scope_id, document.tool_name)


async def _all(
    parts: Parts, tenant_id: str, wanted: Wanted, after: str, at_once: int
) -> AsyncIterator[ToolHealth]:
    following: str | None = after
    while following is not None:
        page = await parts.view.select(tenant_id, wanted, after=following, limit=min(at_once, MAX_SELECTED))
        for document in page.documents:
            yield document
        following = page.next_after

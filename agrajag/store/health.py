"""The health documents as the store shows them: one by key, those that apply to a caller, a tenant's by pages.

The status of a document can change without a write, when an override runs out. So a document is indexed under
every status it can have, and the one at `now` decides in the end.
"""

from datetime import UTC, datetime
from typing import Any, ClassVar, NamedTuple

from pymongo import ASCENDING, IndexModel

from agrajag.core.lookup import Caller
from agrajag.model.enums import Scope, Status
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key
from agrajag.store.bson_form import to_bson
from agrajag.store.failures import translated
from agrajag.store.guarded import PRESENT, GuardedCollection, Write

_BEFORE_ANY_UNTIL = datetime.min.replace(tzinfo=UTC)
_AFTER_ANY_UNTIL = datetime.max.replace(tzinfo=UTC)


class HealthPage(NamedTuple):
    """Documents in the order of their keys; `next_after` is the key to go on after, None on the last page."""

    documents: tuple[ToolHealth, ...]
    next_after: str | None


def health_write(health: ToolHealth) -> Write:
    """The document under its key `tenant|scope|scopeId|tool`. Raises InputError as `to_bson` does."""
    key = health_key(health.tenant_id, health.scope, health.scope_id, health.tool_name)
    statuses = {health.status_at(moment) for moment in (_BEFORE_ANY_UNTIL, _AFTER_ANY_UNTIL)}
    return Write(key, health.revision, to_bson(health) | {"possibleStatuses": sorted(map(str, statuses))})


class HealthCollection(GuardedCollection):
    """`tool_health`: a mirror of the compacted topic `health-changed`.

    All reads raise TransientError or PermanentError. A document that is no ToolHealth, written by somebody
    else, is logged and counts as absent.
    """

    name: ClassVar[str] = "tool_health"
    indexes: ClassVar[tuple[IndexModel, ...]] = (
        IndexModel([("tenantId", ASCENDING), ("scope", ASCENDING), ("_id", ASCENDING)]),
        IndexModel([("tenantId", ASCENDING), ("possibleStatuses", ASCENDING), ("_id", ASCENDING)]),
    )

    async def get(self, key: str) -> ToolHealth | None:
        """The document under `key`, None if there is none or it is gone."""
        with translated("reading one health document"):
            document = await self._collection.find_one({"_id": key, **PRESENT})
        return None if document is None else self._read(ToolHealth, document)

    async def cascade(self, caller: Caller, tool_name: str) -> list[ToolHealth]:
        """The documents of the tool that apply to the caller, narrowest scope first."""
        keys = caller.keys(tool_name)
        with translated("reading the health documents of a caller"):
            documents = await self._collection.find({"_id": {"$in": keys}, **PRESENT}).to_list()
        documents.sort(key=lambda document: keys.index(document["_id"]))
        return [health for document in documents if (health := self._read(ToolHealth, document)) is not None]

    async def page(
        self,
        tenant_id: str,
        *,
        now: datetime,
        status: Status | None = None,
        scope: Scope | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> HealthPage:
        """At most `limit` (from 1) of the tenant's documents with this status at `now` and of this scope.

        A document that changes between two pages is seen in its old or its new state, and never twice.
        """
        selected = _filter(tenant_id, status, scope)
        if after is not None:
            selected["_id"] = {"$gt": after}
        found: list[ToolHealth] = []
        last_key: str | None = None
        with translated("listing health documents"):
            async with self._collection.find(selected, batch_size=limit + 1).sort("_id", ASCENDING) as cursor:
                async for document in cursor:
                    health = self._read(ToolHealth, document)
                    if health is None or (status is not None and health.status_at(now) is not status):
                        continue
                    if len(found) == limit:
                        return HealthPage(tuple(found), last_key)
                    found.append(health)
                    last_key = document["_id"]
        return HealthPage(tuple(found), None)

    async def count(
        self, tenant_id: str, *, now: datetime, status: Status | None = None, scope: Scope | None = None
    ) -> int:
        """How many documents `page` would list in all."""
        selected = _filter(tenant_id, status, scope)
        with translated("counting health documents"):
            counted = await self._collection.count_documents(selected)
            if status is None:
                return counted
            async for document in self._collection.find(selected | {"override.until": {"$ne": None}}):
                health = self._read(ToolHealth, document)
                if health is not None and health.status_at(now) is not status:
                    counted -= 1
        return counted


def _filter(tenant_id: str, status: Status | None, scope: Scope | None) -> dict[str, Any]:
    selected: dict[str, Any] = {"tenantId": tenant_id}
    if scope is not None:
        selected["scope"] = scope.value
    if status is not None:
        selected["possibleStatuses"] = status.value
    return selected

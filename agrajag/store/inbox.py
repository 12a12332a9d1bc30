"""The inbox as the store shows it: what a user can still do something about."""

from typing import ClassVar

from pymongo import ASCENDING, IndexModel

from agrajag.model.answers import InboxItem
from agrajag.model.enums import InboxStatus
from agrajag.store.bson_form import to_bson
from agrajag.store.failures import translated
from agrajag.store.guarded import GuardedCollection, Write
from agrajag.store.newest import NewestPage, newest_page


def inbox_write(item: InboxItem) -> Write:
    """The item under its id. Raises InputError as `to_bson` does."""
    return Write(item.item_id, item.revision, to_bson(item))


class InboxCollection(GuardedCollection):
    """`inbox`: a mirror of the compacted topic `inbox-items`.

    All reads raise TransientError or PermanentError. What is no InboxItem, written by somebody else, is logged and
    counts as absent.
    """

    name: ClassVar[str] = "inbox"
    indexes: ClassVar[tuple[IndexModel, ...]] = (
        IndexModel(
            [
                ("tenantId", ASCENDING),
                ("assignedToUserId", ASCENDING),
                ("status", ASCENDING),
                ("updatedAt", ASCENDING),
            ]
        ),
        IndexModel([("tenantId", ASCENDING), ("updatedAt", ASCENDING)]),
    )

    async def find(self, tenant_id: str, item_id: str) -> InboxItem | None:
        """The item of a tenant under its id, whatever its status; None if there is none."""
        with translated("reading an inbox item"):
            found = await self._collection.find_one({"_id": item_id, "tenantId": tenant_id})
        return None if found is None else self._read(InboxItem, found)

    async def open_items(self, tenant_id: str, user_id: str) -> list[InboxItem]:
        """What is still open for a user, in the order in which it last changed."""
        selected = {
            "tenantId": tenant_id,
            "assignedToUserId": user_id,
            "status": InboxStatus.PENDING.value,
        }
        with translated("listing the inbox of a user"):
            found = await self._collection.find(selected).sort("updatedAt", ASCENDING).to_list()
        return [item for one in found if (item := self._read(InboxItem, one)) is not None]

    async def page(
        self,
        tenant_id: str,
        *,
        user_id: str | None = None,
        status: InboxStatus | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> NewestPage[InboxItem]:
        """At most `limit` (from 1) items of a tenant, or of one user, that which changed last in front. Raises
        InputError for an `after` that was never given out."""
        chosen = {"assignedToUserId": user_id, "status": status and status.value}
        selected = {"tenantId": tenant_id} | {name: value for name, value in chosen.items() if value}
        with translated("listing an inbox"):
            return await newest_page(
                self._collection,
                selected,
                "updatedAt",
                lambda found: self._read(InboxItem, found),
                after=after,
                limit=limit,
            )

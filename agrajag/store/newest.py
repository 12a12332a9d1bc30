"""Pages of what changed last, the newest first, that go on at the same place while others are written."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, NamedTuple, TypeVar

from pymongo import DESCENDING
from pymongo.asynchronous.collection import AsyncCollection

from agrajag.core.times import EPOCH
from agrajag.errors import InputError

Record = TypeVar("Record")

_MS = timedelta(milliseconds=1)
_LATEST = datetime(9999, 1, 1, tzinfo=UTC)


class NewestPage(NamedTuple, Generic[Record]):
    """Records with the newest in front; `next_after` is where the next page begins, None on the last one."""

    records: tuple[Record, ...]
    next_after: str | None


class Place(NamedTuple):
    """Behind which record a page begins: its time and its key."""

    at: datetime
    key: str

    def text(self) -> str:
        """The place as it is given out."""
        return f"{(self.at - EPOCH) // _MS}|{self.key}"

    @classmethod
    def read(cls, text: str) -> "Place":
        """The place that was given out as `text`. Raises InputError for what never was."""
        milliseconds, bar, key = text.partition("|")
        if not (bar and milliseconds.isascii() and milliseconds.isdecimal() and len(milliseconds) <= 14):
            raise InputError("not_a_place", "after: is no place in this list")
        return cls(EPOCH + int(milliseconds) * _MS, key)


async def newest_page(
    collection: AsyncCollection[dict[str, Any]],
    selected: Mapping[str, Any],
    field: str,
    read: Callable[[dict[str, Any]], Record | None],
    *,
    after: str | None,
    limit: int,
    since: datetime = EPOCH,
    until: datetime = _LATEST,
) -> NewestPage[Record]:
    """At most `limit` of what `selected` selects, of times from `since` to before `until`, behind `after`.

    Documents of which `read` makes nothing are left out. Raises InputError for an `after` that was never given out.
    """
    behind = None if after is None else Place.read(after)
    bound = until if behind is None else min(until, behind.at + _MS)
    within = {**selected, field: {"$gte": since, "$lt": bound}}
    order = [(field, DESCENDING), ("_id", DESCENDING)]
    records: list[Record] = []
    last = behind
    async with collection.find(within, batch_size=limit + 1).sort(order) as cursor:
        async for document in cursor:
            place = Place(document[field], document["_id"])
            if behind is not None and place >= behind:
                continue
            record = read(document)
            if record is None:
                continue
            if len(records) == limit and last is not None:
                return NewestPage(tuple(records), last.text())
            records.append(record)
            last = place
    return NewestPage(tuple(records), None)

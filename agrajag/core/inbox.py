"""The inbox items of one user and tool: when one is opened, and what closes it (spec agrajag §1, §5.3).

There is one for each signature while it is open. It is closed by the user, or by whatever shows that the tool works
again for them; an item that nobody has looked at for a month goes as well. What was closed is kept until there is no
room, so that a late copy of an open item is not the last that is heard of it.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from agrajag.model.answers import InboxItem
from agrajag.model.enums import InboxStatus
from agrajag.model.health import MAX_INBOX

INBOX_LIFE = timedelta(days=30)
"""How long an item stays open at most."""


class Inbox:
    """The working copy of the items of one document, newest first."""

    __slots__ = ("items", "news")

    def __init__(self, items: tuple[InboxItem, ...]) -> None:
        self.items = items
        self.news: dict[str, InboxItem] = {}
        """What has changed in this step, by item id: to be told."""

    def open(self, item: InboxItem) -> bool:
        """Put an item in; False where one of its signature is open, it was in before, or there is no room for it.

        The oldest of the closed ones makes room.
        """
        for known in self.items:
            is_same = known.item_id == item.item_id
            if is_same or (is_open(known) and known.error_signature == item.error_signature):
                return False
        kept = list(self.items)
        if len(kept) >= MAX_INBOX:
            closed = [known for known in kept if not is_open(known)]
            if not closed:
                return False
            kept.remove(closed[-1])
        self.items = (item, *kept)
        self.news[item.item_id] = item
        return True

    def close(self, status: InboxStatus, now: datetime, fits: Callable[[InboxItem], bool]) -> int:
        """Close the open items that fit; how many that were."""
        closed = {
            item.item_id: closed_item(item, status, now)
            for item in self.items
            if is_open(item) and fits(item)
        }
        self.items = tuple(closed.get(item.item_id, item) for item in self.items)
        self.news |= closed
        return len(closed)

    def archive_until(self, now: datetime) -> int:
        """The tool works for the user at `now`: archive what was opened for a failure that is not newer."""
        if not self.items:
            return 0
        return self.close(InboxStatus.ARCHIVED, now, lambda item: item.created_at <= now)


def is_open(item: InboxItem) -> bool:
    """Whether the user still has it before them."""
    return item.status is InboxStatus.PENDING


def closed_item(item: InboxItem, status: InboxStatus, now: datetime) -> InboxItem:
    """The item as it is told once it is closed."""
    updated_at = max(item.updated_at, now)
    return item.with_changes(status=status, revision=item.revision + 1, updated_at=updated_at)

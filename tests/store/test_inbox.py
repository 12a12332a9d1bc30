"""The inbox in the store: what is still open for one user."""

from datetime import timedelta

from agrajag.model.enums import InboxStatus
from agrajag.store import Store, Write
from agrajag.store.inbox import inbox_write
from tests.builders import NOW, an_inbox_item


async def test_what_is_open_for_a_user_is_listed_by_its_last_change_and_nothing_else(opened: Store) -> None:
    older = an_inbox_item(item_id="z", title="$where")
    newer = an_inbox_item(item_id="a", updated_at=NOW + timedelta(minutes=1))
    others = [
        an_inbox_item(item_id="dismissed", status=InboxStatus.DISMISSED),
        an_inbox_item(item_id="archived", status=InboxStatus.ARCHIVED),
        an_inbox_item(item_id="bob", assigned_to_user_id="bob"),
        an_inbox_item(item_id="globex", tenant_id="globex"),
    ]
    await opened.inbox.write(map(inbox_write, [newer, *others, older]))
    assert await opened.inbox.open_items("acme", "alice") == [older, newer]
    assert await opened.inbox.open_items("globex", "bob") == []


async def test_a_late_older_revision_opens_nothing_again(opened: Store) -> None:
    archived = an_inbox_item(revision=3, status=InboxStatus.ARCHIVED)
    await opened.inbox.write([inbox_write(archived), Write("gone", 5, None)])
    late = [an_inbox_item(revision=2), an_inbox_item(item_id="gone", revision=4)]
    written = await opened.inbox.write(map(inbox_write, late))
    assert (written.stored, written.stale) == (0, 2)
    assert await opened.inbox.open_items("acme", "alice") == []

"""What a record of `inbox-items` says: an item as of a revision, or that it is gone; and which items stand now."""

from contextlib import aclosing, suppress
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from agrajag.core.newest import Newest
from agrajag.errors import InputError
from agrajag.model.answers import InboxItem
from agrajag.model.wire_model import Id
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.codec import decode
from agrajag.wire.following import records_to_end
from agrajag.wire.origin import ReceivedRecord
from agrajag.wire.reasons import DeadLetterReason
from agrajag.wire.tombstones import tombstone_revision
from agrajag.wire.topics import Topic, Topics

_ID: TypeAdapter[str] = TypeAdapter(Id)


class InboxChange(NamedTuple):
    """An item under its id; `item` None says that it is gone."""

    item_id: str
    revision: int
    item: InboxItem | None


def inbox_change(record: ReceivedRecord) -> InboxChange:
    """What the record says. Raises InputError for one that says nothing usable."""
    if record.value is None:
        return InboxChange(_id_in_key(record), tombstone_revision(record), None)
    item = decode(InboxItem, record)
    if record.key != item.item_id.encode():
        raise InputError(DeadLetterReason.INVALID_FIELD, "key: is not the id of the item in the value")
    return InboxChange(item.item_id, item.revision, item)


async def standing_items(connection: KafkaConnection, topics: Topics) -> list[InboxItem]:
    """The newest of each item that is there, by when it last changed. A record that says nothing usable is passed over.

    Raises TransientError or PermanentError.
    """
    newest: Newest[str, InboxItem] = Newest()
    async with aclosing(records_to_end(connection, topics.name(Topic.INBOX_ITEMS))) as records:
        async for record in records:
            with suppress(InputError):
                newest.take(*inbox_change(record))
    return sorted((standing.value for standing in newest), key=lambda item: (item.updated_at, item.item_id))


def _id_in_key(record: ReceivedRecord) -> str:
    try:
        return _ID.validate_python((record.key or b"").decode(), strict=True)
    except (ValidationError, UnicodeDecodeError) as error:
        raise InputError(DeadLetterReason.INVALID_FIELD, "key: is no item id") from error

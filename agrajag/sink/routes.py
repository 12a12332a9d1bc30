"""Decides which topic goes to which collection, and what a record of it writes there.

A record's key and its document must agree, so that no document can stand under another's name. A null value
deletes, and only with a `revision` header: without one nothing says which documents are older than the deletion, so
the record is set aside and the document stays.
"""

from collections.abc import Callable
from dataclasses import dataclass

from agrajag.documents.records import document_change
from agrajag.errors import InputError
from agrajag.model.enums import Scope
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key, parts
from agrajag.store import GuardedCollection, Store, Write
from agrajag.store.documents import document_write
from agrajag.store.health import health_write
from agrajag.wire.codec import decode
from agrajag.wire.origin import ReceivedRecord
from agrajag.wire.reasons import DeadLetterReason
from agrajag.wire.tombstones import tombstone_revision
from agrajag.wire.topics import Topic


@dataclass(frozen=True)
class Route:
    """From `topic` to a collection. `decode` raises InputError for a record that says nothing usable."""

    topic: Topic
    decode: Callable[[ReceivedRecord], Write]
    collection: Callable[[Store], GuardedCollection]


def health_change(record: ReceivedRecord) -> Write:
    """What a record of `health-changed` writes: a document, or that it is gone."""
    if record.value is None:
        return Write(_health_key(record), tombstone_revision(record), None)
    write = health_write(decode(ToolHealth, record))
    if record.key != write.key.encode():
        raise InputError(DeadLetterReason.INVALID_FIELD, "key: is not that of the document in the value")
    return write


def document_changed(record: ReceivedRecord) -> Write:
    """What a record of `documents` writes: a document, or that it is gone."""
    name, revision, document = document_change(record)
    return Write(name.key, revision, None) if document is None else document_write(document)


ROUTES: tuple[Route, ...] = (
    Route(Topic.HEALTH_CHANGED, health_change, lambda store: store.health),
    Route(Topic.DOCUMENTS, document_changed, lambda store: store.documents),
)
"""Every topic that is mirrored."""


def _health_key(record: ReceivedRecord) -> str:
    try:
        key = (record.key or b"").decode()
        tenant_id, scope, scope_id, tool_name = parts(key)
        canonical = health_key(tenant_id, Scope(scope), scope_id, tool_name)
    except ValueError as error:
        raise InputError(DeadLetterReason.INVALID_FIELD, "key: is not tenant|scope|scopeId|tool") from error
    if key != canonical:
        raise InputError(DeadLetterReason.INVALID_FIELD, "key: is escaped in an unusual way")
    return key

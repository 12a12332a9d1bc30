"""Decides which topic goes to which collection, and what a record of it writes there.

A record's key and its document must agree, so that no document can stand under another's name. A null value
deletes, and only with a `revision` header: without one nothing says which documents are older than the deletion, so
the record is set aside and the document stays.
"""

from collections.abc import Callable
from dataclasses import dataclass

from agrajag.documents.records import document_change
from agrajag.store import GuardedCollection, Store, Write
from agrajag.store.documents import document_write
from agrajag.store.health import health_write
from agrajag.wire.health_records import health_change
from agrajag.wire.origin import ReceivedRecord
from agrajag.wire.topics import Topic


@dataclass(frozen=True)
class Route:
    """From `topic` to a collection. `decode` raises InputError for a record that says nothing usable."""

    topic: Topic
    decode: Callable[[ReceivedRecord], Write]
    collection: Callable[[Store], GuardedCollection]


def health_changed(record: ReceivedRecord) -> Write:
    """What a record of `health-changed` writes: a document, or that it is gone."""
    key, revision, health = health_change(record)
    return Write(key, revision, None) if health is None else health_write(health)


def document_changed(record: ReceivedRecord) -> Write:
    """What a record of `documents` writes: a document, or that it is gone."""
    name, revision, document = document_change(record)
    return Write(name.key, revision, None) if document is None else document_write(document)


ROUTES: tuple[Route, ...] = (
    Route(Topic.HEALTH_CHANGED, health_changed, lambda store: store.health),
    Route(Topic.DOCUMENTS, document_changed, lambda store: store.documents),
)
"""Every topic that is mirrored."""

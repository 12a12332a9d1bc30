"""Decides which topic goes to which collections, and what a record of it writes there.

What is told of a process says of itself which process it means; of every other record, key and document must agree, so
that no document can stand under another's name. A null value deletes, and only with a `revision` header: without one
nothing says which documents are older than the deletion, so the record is set aside and the document stays.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from agrajag.core.times import appended_at
from agrajag.documents.records import document_change
from agrajag.errors import InputError
from agrajag.model.answers import CommandResult, HealthCommand
from agrajag.model.processes import ProcessEvent, SessionEvent
from agrajag.store import (
    AuditCollection,
    CommandCollection,
    DocumentCollection,
    GuardedCollection,
    HealthCollection,
    InboxCollection,
    ProcessCollection,
    SessionCollection,
    Write,
)
from agrajag.store.commands import answered_write, asked_write
from agrajag.store.documents import document_write
from agrajag.store.health import health_write
from agrajag.store.inbox import inbox_write
from agrajag.store.processes import audit_write, process_write, session_write
from agrajag.wire.codec import decode
from agrajag.wire.health_records import health_change
from agrajag.wire.inbox_records import inbox_change
from agrajag.wire.origin import ReceivedRecord
from agrajag.wire.process_records import read_process_record
from agrajag.wire.topics import Topic


class Entry(NamedTuple):
    """One write, and where it belongs."""

    collection: type[GuardedCollection]
    write: Write


@dataclass(frozen=True)
class Route:
    """From `topic` to collections. `entries` raises InputError for a record that says nothing usable."""

    topic: Topic
    entries: Callable[[ReceivedRecord], tuple[Entry, ...]]


def health_changed(record: ReceivedRecord) -> tuple[Entry, ...]:
    """What a record of `health-changed` writes: a document, or that it is gone."""
    key, revision, health = health_change(record)
    write = Write(key, revision, None) if health is None else health_write(health)
    return (Entry(HealthCollection, write),)


def document_changed(record: ReceivedRecord) -> tuple[Entry, ...]:
    """What a record of `documents` writes: a document, or that it is gone."""
    name, revision, document = document_change(record)
    write = Write(name.key, revision, None) if document is None else document_write(document)
    return (Entry(DocumentCollection, write),)


def inbox_changed(record: ReceivedRecord) -> tuple[Entry, ...]:
    """What a record of `inbox-items` writes: an item, or that it is gone."""
    item_id, revision, item = inbox_change(record)
    write = Write(item_id, revision, None) if item is None else inbox_write(item)
    return (Entry(InboxCollection, write),)


def process_told(record: ReceivedRecord) -> tuple[Entry, ...]:
    """What a record of `process-events` writes: all but sessions stands in the audit, a step in its process too."""
    told = read_process_record(record)
    if isinstance(told, SessionEvent):
        return (Entry(SessionCollection, session_write(told)),)
    audited = Entry(AuditCollection, audit_write(told))
    if isinstance(told, ProcessEvent):
        return audited, Entry(ProcessCollection, process_write(told))
    return (audited,)


def command_asked(record: ReceivedRecord) -> tuple[Entry, ...]:
    """What a record of `health-commands` writes; nothing for one that cannot be read: its worker sets it aside."""
    try:
        command = decode(HealthCommand, record)
    except InputError:
        return ()
    return (Entry(CommandCollection, asked_write(command, appended_at(record.timestamp))),)


def command_answered(record: ReceivedRecord) -> tuple[Entry, ...]:
    """What a record of `command-results` writes."""
    return (Entry(CommandCollection, answered_write(decode(CommandResult, record))),)


ROUTES: tuple[Route, ...] = (
    Route(Topic.HEALTH_CHANGED, health_changed),
    Route(Topic.DOCUMENTS, document_changed),
    Route(Topic.INBOX_ITEMS, inbox_changed),
    Route(Topic.PROCESS_EVENTS, process_told),
    Route(Topic.HEALTH_COMMANDS, command_asked),
    Route(Topic.COMMAND_RESULTS, command_answered),
)
"""Every topic that is mirrored."""

"""What people ask of a running system, over its topics: documents, processes, the inbox, past errors, dead letters."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from agrajag.bootstrap.origins import origins_of
from agrajag.settings import Settings
from agrajag.wire.clients import wait_for_broker
from agrajag.wire.letter_box import LetterBox, letter_box

if TYPE_CHECKING:
    from agrajag.documents.live import Sources
    from agrajag.documents.pushing import Planned
    from agrajag.documents.records import DocumentTable
    from agrajag.model.answers import InboxItem
    from agrajag.model.processes import ProcessRecord
    from agrajag.wire.past_errors import PastErrors, Scanned


async def read_documents(settings: Settings) -> "DocumentTable":
    """The documents that the topic holds. Raises TransientError if no broker answers, PermanentError without topic."""
    from agrajag.documents.topic import read_documents

    await wait_for_broker(settings.kafka.connection(), 0)
    return await read_documents(settings.kafka.connection(), settings.topics.topics())


async def push_documents(settings: Settings, plan: "Iterable[Planned]", table: "DocumentTable") -> None:
    """Carry out a push that was planned against `table`. Raises as `documents.pushing.push`."""
    from agrajag.documents.pushing import push

    await push(settings.kafka.connection(), settings.topics.topics(), plan, table)


async def documents_in_force(settings: Settings) -> "Sources":
    """The documents by which a worker with these settings would judge. Raises as `read_documents`, and ConfigError
    if the directory cannot be read."""
    from agrajag.documents.live import read_sources

    connection = settings.kafka.connection()
    await wait_for_broker(connection, 0)
    return await read_sources(connection, settings.topics.topics(), settings.documents.dir)


def past_errors(settings: Settings, tell: Callable[["Scanned"], None]) -> "PastErrors":
    """The errors that the brokers still keep; `tell` hears now and then how far a reading has come."""
    from agrajag.wire.past_errors import PastErrors

    return PastErrors(settings.kafka.connection(), settings.topics.topics(), origins_of(settings), tell)


async def inbox_items(settings: Settings) -> "list[InboxItem]":
    """All items of the inbox, by when they last changed. Raises as `read_documents`."""
    from agrajag.wire.inbox_records import standing_items

    connection = settings.kafka.connection()
    await wait_for_broker(connection, 0)
    return await standing_items(connection, settings.topics.topics())


async def past_processes(
    settings: Settings, since: datetime | None = None
) -> "AsyncGenerator[ProcessRecord, None]":
    """What was told of processes since then, or in all the time that the topic keeps. Raises as `read_documents`."""
    from agrajag.wire.process_records import past_process_records

    connection = settings.kafka.connection()
    await wait_for_broker(connection, 0)
    async with aclosing(past_process_records(connection, settings.topics.topics(), since)) as records:
        async for record in records:
            yield record


@asynccontextmanager
async def dead_letters(settings: Settings) -> AsyncIterator[LetterBox]:
    """The dead letters of all topics. Raises TransientError if no broker answers, ConfigError without topics."""
    connection = settings.kafka.connection()
    await wait_for_broker(connection, settings.kafka.wait_seconds)
    async with letter_box(connection, settings.topics.topics(), origins_of(settings)) as box:
        yield box

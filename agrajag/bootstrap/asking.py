"""What people ask of a running system, over its topics: documents, commands, past errors, dead letters."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from agrajag.bootstrap.origins import origins_of
from agrajag.settings import Settings
from agrajag.wire.clients import wait_for_broker
from agrajag.wire.letter_box import LetterBox, letter_box

if TYPE_CHECKING:
    from agrajag.documents.live import Sources
    from agrajag.documents.pushing import Planned
    from agrajag.documents.records import DocumentTable
    from agrajag.model.answers import CommandResult, HealthCommand
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


async def send_command(settings: Settings, command: "HealthCommand", wait_seconds: float) -> "CommandResult":
    """Send a command and wait for its result. Raises as `wire.asking.ask`."""
    from agrajag.wire.asking import ask

    connection, topics = settings.kafka.connection(), settings.topics.topics()
    await wait_for_broker(connection, 0)
    return await ask(connection, topics, command, source="agrajag/cli", wait_seconds=wait_seconds)


def past_errors(settings: Settings, tell: Callable[["Scanned"], None]) -> "PastErrors":
    """The errors that the brokers still keep; `tell` hears now and then how far a reading has come."""
    from agrajag.wire.past_errors import PastErrors

    return PastErrors(settings.kafka.connection(), settings.topics.topics(), origins_of(settings), tell)


@asynccontextmanager
async def dead_letters(settings: Settings) -> AsyncIterator[LetterBox]:
    """The dead letters of all topics. Raises TransientError if no broker answers, ConfigError without topics."""
    connection = settings.kafka.connection()
    await wait_for_broker(connection, settings.kafka.wait_seconds)
    async with letter_box(connection, settings.topics.topics(), origins_of(settings)) as box:
        yield box

"""What people send into a running system, over its topics: commands and reports of errors, and the answers to them."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from agrajag.bootstrap.seeing import Standing, health_documents
from agrajag.errors import TransientError
from agrajag.settings import Settings
from agrajag.wire.clients import wait_for_broker

if TYPE_CHECKING:
    from agrajag.model.answers import CheckResult, CommandResult, HealthCommand
    from agrajag.model.events import ToolCallError
    from agrajag.model.processes import ProcessEvent
    from agrajag.wire.asking import Asker

_SOURCE = "agrajag/cli"
_SHOWN_SECONDS = 5.0
_LOOK_AGAIN_SECONDS = 0.2


async def send_command(settings: Settings, command: "HealthCommand", wait_seconds: float) -> "CommandResult":
    """Send a command and wait for its result. Raises as `wire.asking.Asker.ask`."""
    async with _asker(settings) as asker:
        return await asker.ask(command, wait_seconds)


async def send_commands(
    settings: Settings, commands: "Iterable[HealthCommand]", wait_seconds: float
) -> "AsyncGenerator[CommandResult, None]":
    """Send commands one after the other; the result of each. Raises as `wire.asking.Asker.ask`."""
    async with _asker(settings) as asker:
        for command in commands:
            yield await asker.ask(command, wait_seconds)


class Rechecked(NamedTuple):
    """How a recheck was taken, how its job has ended, and the tool's documents after that, where it was waited for."""

    result: "CommandResult"
    end: "ProcessEvent | None" = None
    standing: Standing | None = None


async def recheck(
    settings: Settings, command: "HealthCommand", answer_seconds: float, end_seconds: float
) -> Rechecked:
    """Ask for a recheck, and wait until its job has ended, if it has one.

    Raises as `wire.asking.Asker.ask`, and TransientError where the job has not ended within `end_seconds`.
    """
    async with _asker(settings) as asker:
        result = await asker.ask(command, answer_seconds)
        if result.job_id is None:
            return Rechecked(result)
        try:
            async with asyncio.timeout(end_seconds):
                end = await asker.end_of(command.tenant_id, result.job_id)
        except TimeoutError:
            told = f"job {result.job_id} has not ended within {end_seconds:g} s"
            raise TransientError(f"{told}; agrajag runs show {result.job_id} tells how far it is") from None
    return Rechecked(result, end, await _standing_after(settings, command, result, end))


async def report_error(
    settings: Settings, error: "ToolCallError", event_id: str, wait_seconds: float | None
) -> "CheckResult | None":
    """Report a failed call and return when the brokers have it or, with `wait_seconds`, when it is judged.

    Raises as `wire.sending.Sender.send` and `wire.checking.checked`.
    """
    from agrajag.wire.checking import checked
    from agrajag.wire.reports import report_output
    from agrajag.wire.sending import Sender

    connection, topics = settings.kafka.connection(), settings.topics.topics()
    await wait_for_broker(connection, 0)
    if wait_seconds is not None:
        return await checked(connection, topics, error, event_id, source=_SOURCE, wait_seconds=wait_seconds)
    async with Sender(connection, topics) as sender:
        await sender.send([report_output(topics, error, event_id, _SOURCE)])
    return None


async def _standing_after(
    settings: Settings, command: "HealthCommand", result: "CommandResult", end: "ProcessEvent"
) -> Standing:
    """The tool's documents with what the job has written; CLOSED may be heard of a moment before that."""
    from agrajag.wire.standing_health import of_tool

    deadline = asyncio.get_running_loop().time() + _SHOWN_SECONDS
    while True:
        standing = await health_documents(settings, of_tool(command.tenant_id, command.tool_name))
        written = any(one.revision > (result.revision or 0) for one in standing.documents)
        if written or not end.applied or asyncio.get_running_loop().time() >= deadline:
            return standing
        await asyncio.sleep(_LOOK_AGAIN_SECONDS)


@asynccontextmanager
async def _asker(settings: Settings) -> "AsyncIterator[Asker]":
    from agrajag.wire.asking import Asker
    from agrajag.wire.sending import Sender

    connection, topics = settings.kafka.connection(), settings.topics.topics()
    await wait_for_broker(connection, 0)
    async with (
        Sender(connection, topics) as sender,
        Asker(connection, topics, sender, source=_SOURCE) as asker,
    ):
        yield asker

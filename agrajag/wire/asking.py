"""Sends commands and waits for their results, as whoever commands does: a person, the API, a service engine.

One reader and one producer serve any number of commands at once. What has been answered is remembered for a while, so
that whoever asks again, or comes late, is told what the first was told.
"""

import asyncio
from contextlib import aclosing, suppress
from types import TracebackType
from typing import Self

import structlog

from agrajag.errors import InputError, PermanentError, TransientError
from agrajag.model.answers import CommandResult, HealthCommand
from agrajag.model.keys import tool_key
from agrajag.model.processes import ProcessEvent
from agrajag.wire.awaited import Awaited
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.cloudevents import EventType, binary_headers
from agrajag.wire.codec import decode
from agrajag.wire.following import partitions_of
from agrajag.wire.origin import ReceivedRecord
from agrajag.wire.outputs import Output
from agrajag.wire.process_records import closing_in
from agrajag.wire.sending import Sender
from agrajag.wire.tailing import Tail
from agrajag.wire.topics import Topic, Topics

log = structlog.get_logger(__name__)

REMEMBERED = 10_000
"""Results, and ends of jobs, that are remembered."""
_TRY_AGAIN_SECONDS = 2.0


class Unanswered(TransientError):
    """The command stands in its topic, and no worker has answered it in time."""


def command_output(topics: Topics, command: HealthCommand, source: str) -> Output:
    """The record of a command. `source` names the sender for CloudEvents."""
    return Output(
        topics.name(Topic.HEALTH_COMMANDS),
        tool_key(command.tenant_id, command.tool_name).encode(),
        command.to_json(),
        binary_headers(EventType.HEALTH_COMMAND, source, command.command_id),
    )


class Asker:
    """Asks, for one process. An async context manager: within it, it reads what comes."""

    def __init__(self, connection: KafkaConnection, topics: Topics, sender: Sender, *, source: str) -> None:
        self._connection = connection
        self._topics = topics
        self._sender = sender
        self._source = source
        self._answers = topics.name(Topic.COMMAND_RESULTS)
        self._tail = Tail(connection, (self._answers, topics.name(Topic.PROCESS_EVENTS)))
        self._results: Awaited[tuple[str, str], CommandResult] = Awaited(REMEMBERED)
        self._ends: Awaited[tuple[str, str], ProcessEvent] = Awaited(REMEMBERED)
        self._tried = asyncio.Event()
        self._failure: TransientError | PermanentError | None = None
        self._reading: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._reading = asyncio.create_task(self._read())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])

    async def ask(self, command: HealthCommand, wait_seconds: float) -> CommandResult:
        """The result of `command`: the one that its id has had, if that is remembered, else of one that is sent now.

        Raises TransientError where Kafka is away, and Unanswered where no result comes within `wait_seconds` of
        sending: it will be carried out then, and to ask again with its id does nothing twice.
        PermanentError where the topics do not exist.
        """
        if (known := self.result(command.tenant_id, command.command_id)) is not None:
            return known
        await self._begun()
        await self._sender.send([command_output(self._topics, command, self._source)])
        try:
            async with asyncio.timeout(wait_seconds):
                return await self._results.wait((command.tenant_id, command.command_id))
        except TimeoutError:
            raise Unanswered(
                f"no worker has answered command {command.command_id} within {wait_seconds:g} s; it stands in "
                f"{self._topics.name(Topic.HEALTH_COMMANDS)} and will be carried out"
            ) from None

    def result(self, tenant_id: str, command_id: str) -> CommandResult | None:
        """The result of a command if it has come and is remembered."""
        return self._results.get((tenant_id, command_id))

    async def end_of(self, tenant_id: str, job_id: str) -> ProcessEvent:
        """The CLOSED that ends the job, once it has come; one that came before this process has begun does not."""
        return await self._ends.wait((tenant_id, job_id))

    async def _begun(self) -> None:
        """Returns once no result can be missed. Raises what the last try to read has raised."""
        await self._tried.wait()
        if self._failure is not None:
            raise type(self._failure)(str(self._failure)) from self._failure

    async def _read(self) -> None:
        while True:
            try:
                await partitions_of(self._connection, self._topics.name(Topic.HEALTH_COMMANDS))
                async with aclosing(self._tail.records()) as following:
                    async for records in following:
                        self._failure = None
                        self._tried.set()
                        for record in records:
                            self._take(record)
            except (TransientError, PermanentError) as error:
                log.warning("command_results_not_followed", reason=str(error))
                self._failure = error
                self._tried.set()
            await asyncio.sleep(_TRY_AGAIN_SECONDS)

    def _take(self, record: ReceivedRecord) -> None:
        """What a record says; one that nobody can read is somebody else's in our topic."""
        with suppress(InputError):
            if record.topic == self._answers:
                result = decode(CommandResult, record)
                self._results.put((result.tenant_id, result.command_id), result)
            elif (end := closing_in(record)) is not None:
                self._ends.put((end.tenant_id, end.job_id), end)


async def ask(
    connection: KafkaConnection, topics: Topics, command: HealthCommand, *, source: str, wait_seconds: float
) -> CommandResult:
    """The result of one command, sent now. Raises as `Asker.ask`."""
    async with (
        Sender(connection, topics) as sender,
        Asker(connection, topics, sender, source=source) as asker,
    ):
        return await asker.ask(command, wait_seconds)

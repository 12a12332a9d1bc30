"""One asker for many commands, over real topics; the test plays the worker that carries them out."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from aiokafka import AIOKafkaConsumer

from agrajag.errors import PermanentError, TransientError
from agrajag.model.answers import CommandResult, HealthCommand
from agrajag.model.enums import CommandKind, CommandOutcome, ProcessStatus
from agrajag.wire.asking import Asker
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.outputs import Output
from agrajag.wire.process_records import process_output
from agrajag.wire.sending import Sender
from agrajag.wire.topics import Topic, Topics
from tests.builders import NOW, a_command, a_process_event
from tests.service.topics import make_topics
from tests.waiting import eventually


@pytest.fixture
async def topics(connection: KafkaConnection, topic_prefix: str) -> Topics:
    made = Topics(topic_prefix, partitions=2)
    await make_topics(connection, made)
    return made


def a_recheck(name: str, tenant: str = "acme") -> HealthCommand:
    return a_command(CommandKind.RECHECK, command_id=name, tenant_id=tenant, tool_name=f"tool-of-{name}")


def result_of(command: HealthCommand) -> CommandResult:
    return CommandResult(
        command_id=command.command_id,
        tenant_id=command.tenant_id,
        tool_name=command.tool_name,
        outcome=CommandOutcome.APPLIED,
        job_id=f"job-of-{command.tenant_id}-{command.command_id}",
        at=NOW,
    )


@asynccontextmanager
async def a_worker(connection: KafkaConnection, topics: Topics) -> AsyncIterator[Counter[str]]:
    """Answers each command; of a recheck it closes the process, before anybody knows of its job."""
    seen: Counter[str] = Counter()

    async def work() -> None:
        options = connection.client_options() | {"auto_offset_reset": "earliest"}
        commands = topics.name(Topic.HEALTH_COMMANDS)
        async with AIOKafkaConsumer(commands, **options) as consumer, Sender(connection, topics) as sender:
            async for record in consumer:
                command = HealthCommand.from_json(record.value)
                seen[command.command_id] += 1
                result = result_of(command)
                closed = a_process_event(
                    ProcessStatus.CLOSED, tenant_id=command.tenant_id, job_id=result.job_id
                )
                await sender.send([process_output(topics, closed, "test")])
                name = topics.name(Topic.COMMAND_RESULTS)
                await sender.send([Output(name, b"k", b"no result"), Output(name, b"k", result.to_json())])

    working = asyncio.create_task(work())
    try:
        yield seen
    finally:
        working.cancel()
        await asyncio.wait([working])


@asynccontextmanager
async def an_asker(
    connection: KafkaConnection, topics: Topics, answer_seconds: float = 20.0
) -> AsyncIterator[Asker]:
    async with AsyncExitStack() as ends:
        sender = await ends.enter_async_context(Sender(connection, topics, answer_seconds=answer_seconds))
        yield await ends.enter_async_context(Asker(connection, topics, sender, source="agrajag/test"))


async def test_many_commands_at_once_each_get_their_own_result_and_the_end_of_their_job(
    connection: KafkaConnection, topics: Topics
) -> None:
    commands = [a_recheck(f"command-{number}") for number in range(30)]
    commands.append(a_recheck("command-1", "other"))  # ids are a tenant's own
    async with a_worker(connection, topics), an_asker(connection, topics) as asker:
        results = await asyncio.gather(*(asker.ask(command, 60.0) for command in commands))
        assert results == [result_of(command) for command in commands]
        ends = await asyncio.gather(*(asker.end_of(one.tenant_id, str(one.job_id)) for one in results))
        assert [(end.tenant_id, end.job_id) for end in ends] == [
            (one.tenant_id, one.job_id) for one in results
        ]


async def test_asked_again_a_command_is_answered_as_before_and_not_sent_again(
    connection: KafkaConnection, topics: Topics
) -> None:
    command = a_recheck("mine")
    async with a_worker(connection, topics) as seen, an_asker(connection, topics) as asker:
        first = await asker.ask(command, 60.0)
        assert await asker.ask(command, 0.0) == first
        assert await asker.ask(a_recheck("other"), 60.0) != first
        assert seen == {"mine": 1, "other": 1}


async def test_a_result_that_comes_when_nobody_waits_any_more_is_not_lost(
    connection: KafkaConnection, topics: Topics
) -> None:
    command = a_recheck("mine")
    async with an_asker(connection, topics) as asker:
        with pytest.raises(TransientError, match="no worker has answered command mine within 0 s"):
            await asker.ask(command, 0.0)
        async with a_worker(connection, topics):
            assert await eventually(lambda: asker.result("acme", "mine"), 60.0) == result_of(command)
        assert await asker.ask(command, 0.0) == result_of(command)


async def test_without_the_topics_and_without_a_broker_it_is_said_what_is_missing(
    connection: KafkaConnection, topic_prefix: str
) -> None:
    topics = Topics(f"{topic_prefix}-not-there")
    async with an_asker(connection, topics) as asker:
        with pytest.raises(PermanentError, match="there is no topic"):
            await asker.ask(a_recheck("mine"), 1.0)
    async with an_asker(KafkaConnection("127.0.0.1:1"), topics, 0.5) as asker:
        with pytest.raises(TransientError, match="kafka"):
            await asker.ask(a_recheck("mine"), 1.0)

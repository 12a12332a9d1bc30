"""Spawning over real topics; the test plays the worker that carries out the command, and closes the process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer

from agrajag.model.answers import CommandResult, HealthCommand
from agrajag.model.enums import Classification, CloseReason, CommandOutcome, ProcessStatus
from agrajag.model.keys import tool_key
from agrajag.model.processes import TRIED_AGAIN
from agrajag.service.parent_report import Parent, SpawnEnd
from agrajag.service.spawning import SOURCE, Spawner
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.outputs import Output
from agrajag.wire.process_records import process_output
from agrajag.wire.sending import Sender
from agrajag.wire.topics import Topic, Topics
from tests.builders import NOW
from tests.service.test_parent_report import a_closing
from tests.waiting import eventually

ARTHUR = Parent("acme", "proc-arthur", "essays", "alice")
PARAMS = {"toolName": "search", "scope": "PROJECT", "scopeId": "essays"}


@asynccontextmanager
async def a_command_worker(
    connection: KafkaConnection, topics: Topics, *, job_id: str | None = "job-1", closes: bool = True
) -> AsyncIterator[list[HealthCommand]]:
    """Answers each command; `closes` the process of its job before anybody knows of the job."""
    seen: list[HealthCommand] = []

    async def work() -> None:
        commands = topics.name(Topic.HEALTH_COMMANDS)
        options: dict[str, Any] = connection.client_options() | {"auto_offset_reset": "earliest"}
        async with AIOKafkaConsumer(commands, **options) as consumer, Sender(connection, topics) as sender:
            async for record in consumer:
                command = HealthCommand.from_json(record.value)
                seen.append(command)
                if closes and job_id is not None:
                    steps = [
                        a_closing(job_id="job-of-somebody-else", verdict=Classification.WORKING),
                        a_closing(job_id=job_id, status=ProcessStatus.RUNNING, verdict=None),
                        a_closing(
                            job_id=job_id, close_reason=CloseReason.STALE, reason=TRIED_AGAIN, verdict=None
                        ),
                        a_closing(job_id=job_id),
                    ]
                    await sender.send(process_output(topics, step, SOURCE) for step in steps)
                result = CommandResult(
                    command_id=command.command_id,
                    tenant_id="acme",
                    tool_name="search",
                    outcome=CommandOutcome.REFUSED if job_id is None else CommandOutcome.APPLIED,
                    reason="no" if job_id is None else None,
                    job_id=job_id,
                    at=NOW,
                )
                key = tool_key("acme", "search").encode()
                await sender.send([Output(topics.name(Topic.COMMAND_RESULTS), key, result.to_json())])

    task = asyncio.create_task(work())
    try:
        yield seen
    finally:
        task.cancel()
        await asyncio.wait([task])


async def test_a_parent_is_given_the_verdict_on_its_job(connection: KafkaConnection, topics: Topics) -> None:
    async with a_command_worker(connection, topics) as commands:
        report = await Spawner(connection, topics).spawn(
            "agrajag", PARAMS, ARTHUR, wait_seconds=60.0, request_id="spawn-1"
        )
    assert report.payload.end is SpawnEnd.ANSWERED
    assert (report.payload.job_id, report.payload.verdict) == (
        "job-1",
        Classification.USER_SPECIFIC_TECHNICAL,
    )
    (command,) = commands
    assert (command.command_id, command.user_id) == ("spawn-1", "alice")


async def test_a_refusal_ends_the_waiting(connection: KafkaConnection, topics: Topics) -> None:
    async with a_command_worker(connection, topics, job_id=None):
        report = await Spawner(connection, topics).spawn("agrajag", PARAMS, ARTHUR, wait_seconds=60.0)
    assert (report.payload.end, report.payload.reason) == (SpawnEnd.REFUSED, "no")


async def test_a_parent_waits_no_longer_than_it_will_and_can_be_cancelled(
    connection: KafkaConnection, topics: Topics
) -> None:
    spawner = Spawner(connection, topics)
    async with a_command_worker(connection, topics, closes=False) as commands:
        report = await spawner.spawn("agrajag", PARAMS, ARTHUR, wait_seconds=4.0)
        assert report.payload.end is SpawnEnd.UNANSWERED
        waiting = asyncio.create_task(spawner.spawn("agrajag", PARAMS, ARTHUR, request_id="spawn-2"))
        await eventually(lambda: "spawn-2" in {command.command_id for command in commands}, timeout=30.0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

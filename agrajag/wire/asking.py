"""Sends a command and waits for its result, as whoever commands does: a person, the API, a service engine."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from agrajag.errors import InputError, TransientError
from agrajag.model.answers import CommandResult, HealthCommand
from agrajag.model.keys import tool_key
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.cloudevents import EventType, binary_headers
from agrajag.wire.codec import decode
from agrajag.wire.ending import ended
from agrajag.wire.following import kafka_errors, partitions_of
from agrajag.wire.partition import partition_for
from agrajag.wire.topics import Topic, Topics


async def ask(
    connection: KafkaConnection, topics: Topics, command: HealthCommand, *, source: str, wait_seconds: float
) -> CommandResult:
    """The result of `command`, sent now. `source` names the sender for CloudEvents.

    Raises TransientError where no result comes within `wait_seconds`; the command stands in its topic then and will be
    carried out, and to ask again with its id does nothing twice. PermanentError where the topics do not exist.
    """
    key = tool_key(command.tenant_id, command.tool_name).encode()
    headers = binary_headers(EventType.HEALTH_COMMAND, source, command.command_id)
    asked, answered = topics.name(Topic.HEALTH_COMMANDS), topics.name(Topic.COMMAND_RESULTS)
    with kafka_errors("sending a command"):
        places = await partitions_of(connection, answered)
        commands = len(await partitions_of(connection, asked))
        consumer = AIOKafkaConsumer(**connection.client_options(), group_id=None)
        place = places[partition_for(key, len(places))]
        consumer.assign([place])
        try:
            await consumer.start()
            await consumer.seek_to_end(place)
            await consumer.position(place)  # from here on no result is missed
            producer = AIOKafkaProducer(**connection.producer_options())
            try:
                await producer.start()
                await producer.send_and_wait(
                    asked, command.to_json(), key, partition_for(key, commands), headers=list(headers)
                )
            finally:
                await ended(producer)
            async with asyncio.timeout(wait_seconds), aclosing(_results(consumer, place)) as results:
                async for result in results:
                    if result.command_id == command.command_id:
                        return result
        except TimeoutError:
            raise TransientError(
                f"no worker has answered command {command.command_id} within {wait_seconds:g} s; it stands in {asked} "
                "and will be carried out"
            ) from None
        finally:
            await ended(consumer)
    raise AssertionError("results have no end")


async def _results(consumer: AIOKafkaConsumer, place: TopicPartition) -> AsyncGenerator[CommandResult, None]:
    """Each readable result that comes, for ever."""
    while True:
        for record in (await consumer.getmany(place, timeout_ms=200)).get(place, []):
            try:
                yield decode(CommandResult, record)
            except InputError:
                continue  # somebody else's record in our topic

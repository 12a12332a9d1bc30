"""A sink that runs beside a test: as a task, or as a process of its own that can be killed.

python -m tests.sink.running BOOTSTRAP_SERVERS PREFIX STORE_URI DATABASE
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from aiokafka import AIOKafkaProducer

from agrajag.sink import Group, run_sink
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.outputs import Output
from agrajag.wire.topics import Topics
from tests.sink.records import committed
from tests.waiting import eventually
from tests.warm import WarmProcess, start_module

SESSION_TIMEOUT_SECONDS = 1.5


async def _run(connection: KafkaConnection, topics: Topics, store_uri: str, database: str) -> None:
    group = Group(f"{topics.prefix}.sink", SESSION_TIMEOUT_SECONDS)
    await run_sink(connection, topics, store_uri=store_uri, database=database, group=group)


@asynccontextmanager
async def a_sink(
    connection: KafkaConnection, topics: Topics, store_uri: str, database: str
) -> AsyncIterator[asyncio.Task[None]]:
    """A sink in this process; ended by cancellation. What it raises otherwise fails the test."""
    task = asyncio.create_task(_run(connection, topics, store_uri, database))
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def mirrored(
    connection: KafkaConnection, topics: Topics, store_uri: str, database: str, outputs: list[Output]
) -> None:
    """Write the records while a sink runs; returns when it has committed them."""
    async with a_sink(connection, topics, store_uri, database):
        async with AIOKafkaProducer(**connection.producer_options()) as producer:
            for output in outputs:
                await producer.send_and_wait(
                    output.topic, output.value, output.key, headers=list(output.headers)
                )

        async def all_committed() -> bool:
            return await committed(connection, topics) == len(outputs)

        await eventually(all_committed, timeout=60)


def a_sink_process(connection: KafkaConnection, topics: Topics, store_uri: str, database: str) -> WarmProcess:
    """A sink in a process of its own, to be killed by the caller."""
    return start_module(
        "tests.sink.running", connection.bootstrap_servers, topics.prefix, store_uri, database
    )


if __name__ == "__main__":
    bootstrap_servers, prefix, store_uri, database = sys.argv[1:]
    asyncio.run(_run(KafkaConnection(bootstrap_servers), Topics(prefix, partitions=4), store_uri, database))

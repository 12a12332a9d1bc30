"""The sink's two Kafka clients."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener
from aiokafka.errors import KafkaError

from agrajag.wire.clients import KafkaConnection
from agrajag.wire.following import kafka_errors
from agrajag.wire.membership import STOP_TIMEOUT_SECONDS, Group, member


@asynccontextmanager
async def clients(
    connection: KafkaConnection,
    group: Group,
    topics: Collection[str],
    listener: ConsumerRebalanceListener,
) -> AsyncIterator[tuple[AIOKafkaConsumer, AIOKafkaProducer]]:
    """A member of the group, and a producer."""
    async with member(connection, group, topics, listener) as consumer:
        producer = AIOKafkaProducer(**connection.producer_options())
        try:
            with kafka_errors("connecting"):
                await producer.start()
            yield consumer, producer
        finally:
            with suppress(KafkaError, OSError, TimeoutError):
                await asyncio.wait_for(producer.stop(), STOP_TIMEOUT_SECONDS)

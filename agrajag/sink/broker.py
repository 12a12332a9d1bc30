"""The sink's two Kafka clients."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener

from agrajag.wire.clients import KafkaConnection
from agrajag.wire.ending import ended_in_time
from agrajag.wire.following import kafka_errors
from agrajag.wire.membership import Group, member


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
            await ended_in_time(producer)

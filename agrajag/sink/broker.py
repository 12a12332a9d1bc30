"""The sink's two Kafka clients, and the topics without which it does not start."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener
from aiokafka.errors import KafkaError

from agrajag.wire.clients import KafkaConnection, admin_client, wait_for_broker
from agrajag.wire.following import kafka_errors
from agrajag.wire.header_names import accept_any_header_name
from agrajag.wire.topic_admin import topic_findings
from agrajag.wire.topic_fitness import refuse_unfit
from agrajag.wire.topics import Topic, Topics

_STOP_TIMEOUT_SECONDS = 10.0
_NEVER_MS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Group:
    """The consumer group that sinks share. A sink that dies keeps its partitions for the session timeout."""

    name: str
    session_timeout_seconds: float = 10.0


async def refuse_wrong_setup(
    connection: KafkaConnection, topics: Topics, mirrored: Collection[Topic]
) -> None:
    """Raises ConfigError if the brokers do not let us in, or topics are missing or do not take our dead letters.

    The consumer would not tell: it tries again for ever, and on some brokers makes the topics that it asks for.
    Raises TransientError if no broker answers.
    """
    await wait_for_broker(connection, 0)
    letters = {topics.dead_letters(topic) for topic in mirrored}
    ours = letters | {topics.name(topic) for topic in mirrored}
    async with admin_client(connection) as admin:
        findings = [finding for finding in await topic_findings(admin, topics) if finding.topic in ours]
    refuse_unfit(findings, settings=(), written=letters)


@asynccontextmanager
async def clients(
    connection: KafkaConnection,
    group: Group,
    topics: Collection[str],
    listener: ConsumerRebalanceListener,
) -> AsyncIterator[tuple[AIOKafkaConsumer, AIOKafkaProducer]]:
    """A consumer in the group, from the start of the topics where nothing is committed, and a producer."""
    accept_any_header_name()
    consumer = AIOKafkaConsumer(
        **connection.client_options(),
        group_id=group.name,
        session_timeout_ms=int(group.session_timeout_seconds * 1000),
        heartbeat_interval_ms=int(group.session_timeout_seconds * 1000 / 4),
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        # The client would leave the group when it is not asked for records for this long. But a sink whose store is
        # away asks for none, and no other sink would do better. It goes on heartbeating, and rejoins in the background.
        max_poll_interval_ms=_NEVER_MS,
    )
    consumer.subscribe(list(topics), listener=listener)
    producer = AIOKafkaProducer(**connection.producer_options())
    try:
        with kafka_errors("connecting"):
            await consumer.start()
            await producer.start()
        yield consumer, producer
    finally:
        for client in (consumer, producer):
            # A broker that is away must not keep the sink from ending.
            with suppress(KafkaError, OSError, TimeoutError):
                await asyncio.wait_for(client.stop(), _STOP_TIMEOUT_SECONDS)

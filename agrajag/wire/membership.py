"""A role's place in a consumer group: what it must find before it joins, and its consumer."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.errors import KafkaError

from agrajag.wire.clients import KafkaConnection, admin_client, wait_for_broker
from agrajag.wire.ending import ended_in_time
from agrajag.wire.following import kafka_errors
from agrajag.wire.header_names import accept_any_header_name
from agrajag.wire.topic_admin import topic_findings
from agrajag.wire.topic_fitness import refuse_unfit
from agrajag.wire.topics import Topic, Topics

_NEVER_MS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Group:
    """The consumer group that a role shares. A member that dies keeps its partitions for the session timeout."""

    name: str
    session_timeout_seconds: float = 10.0


async def refuse_wrong_setup(
    connection: KafkaConnection, topics: Topics, read: Collection[Topic], written: Collection[Topic] = ()
) -> None:
    """Raises ConfigError if the brokers do not let us in, or topics are missing or do not take what we write.

    That is `written`, and the dead letters of what is `read`. The consumer would not tell: it tries again for ever, and
    on some brokers makes the topics that it asks for. Raises TransientError if no broker answers.
    """
    await wait_for_broker(connection, 0)
    ours = {topics.dead_letters(topic) for topic in read} | {topics.name(topic) for topic in written}
    all_names = ours | {topics.name(topic) for topic in read}
    async with admin_client(connection) as admin:
        findings = [finding for finding in await topic_findings(admin, topics) if finding.topic in all_names]
    refuse_unfit(findings, settings=(), written=ours)


class ReadTo(NamedTuple):
    """How far a partition goes, and how far it was read."""

    end: int
    position: int


async def read_to(consumer: AIOKafkaConsumer, timeout_seconds: float) -> dict[TopicPartition, ReadTo] | None:
    """How far each partition of the consumer was read; None if the broker does not say in time."""
    try:
        async with asyncio.timeout(timeout_seconds):
            ends = await consumer.end_offsets(consumer.assignment())
            return {place: ReadTo(end, await consumer.position(place)) for place, end in ends.items()}
    except (KafkaError, OSError, TimeoutError):
        return None


@asynccontextmanager
async def member(
    connection: KafkaConnection, group: Group, topics: Collection[str], listener: ConsumerRebalanceListener
) -> AsyncIterator[AIOKafkaConsumer]:
    """A consumer in the group, from the start of the topics where nothing is committed. Commits nothing by itself."""
    accept_any_header_name()
    consumer = AIOKafkaConsumer(
        **connection.client_options(),
        group_id=group.name,
        session_timeout_ms=int(group.session_timeout_seconds * 1000),
        heartbeat_interval_ms=int(group.session_timeout_seconds * 1000 / 4),
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        # The client would leave the group when it is not asked for records for this long. But a member that waits for
        # another side asks for none, and no other member would do better. It goes on heartbeating, and rejoins in the
        # background.
        max_poll_interval_ms=_NEVER_MS,
    )
    consumer.subscribe(list(topics), listener=listener)
    try:
        with kafka_errors("connecting"):
            await consumer.start()
        yield consumer
    finally:
        await ended_in_time(consumer)

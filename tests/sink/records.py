"""Writes `health-changed` as a worker would, and reads what the sink makes of it, on a real broker."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from struct import pack_into

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError
from aiokafka.record.util import calc_crc32c

from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key
from agrajag.sink import ROUTES
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.outputs import REVISION_HEADER
from agrajag.wire.partition import partition_for
from agrajag.wire.topics import Topic, Topics
from tests.wire.test_header_names import CHECKED_FROM, CRC_AT, NAME, RAW_NAME

Record = tuple[str, bytes | None, list[tuple[str, bytes]]]
"""Key, value and headers."""


def key_of(health: ToolHealth) -> str:
    return health_key(health.tenant_id, health.scope, health.scope_id, health.tool_name)


def change(health: ToolHealth) -> Record:
    return key_of(health), health.to_json(), []


def tombstone(key: str, revision: int) -> Record:
    return key, None, [(REVISION_HEADER, b"%d" % revision)]


@asynccontextmanager
async def _admin(connection: KafkaConnection) -> AsyncIterator[AIOKafkaAdminClient]:
    client = AIOKafkaAdminClient(**connection.client_options())
    await client.start()
    try:
        yield client
    finally:
        await client.close()


async def make_topics(connection: KafkaConnection, topics: Topics) -> None:
    """The topics that are mirrored and their dead letters, as the plan has them."""
    wanted = {
        name for route in ROUTES for name in (topics.name(route.topic), topics.dead_letters(route.topic))
    }
    new = [
        NewTopic(planned.name, planned.partitions, 1, topic_configs=planned.config)
        for planned in topics.planned()
        if planned.name in wanted
    ]
    async with _admin(connection) as admin:
        await admin.create_topics(new)


async def send(connection: KafkaConnection, topics: Topics, records: Iterable[Record]) -> None:
    """Returns when all are acknowledged, in their order within a key."""
    name = topics.name(Topic.HEALTH_CHANGED)
    async with AIOKafkaProducer(**connection.producer_options()) as producer:
        waiting = [
            await producer.send(
                name,
                value,
                key.encode(),
                partition_for(key.encode(), topics.partitions),
                headers=headers,
            )
            for key, value, headers in records
        ]
        for acknowledgement in waiting:
            await acknowledgement


async def send_with_a_header_name_that_is_no_text(
    connection: KafkaConnection, topics: Topics, record: Record
) -> None:
    """One record as some other clients can write it, and aiokafka's producer cannot."""
    key, value, _ = record
    partition = partition_for(key.encode(), topics.partitions)
    async with AIOKafkaProducer(**connection.client_options()) as producer:
        batch = producer.create_batch()
        batch.append(key=key.encode(), value=value, timestamp=None, headers=[(NAME, b"x")])
        batch.close()
        raw = bytearray(batch._build().replace(NAME.encode(), RAW_NAME))
        pack_into(">I", raw, CRC_AT, calc_crc32c(bytes(raw[CHECKED_FROM:])))
        batch._buffer = bytes(raw)
        await (await producer.send_batch(batch, topics.name(Topic.HEALTH_CHANGED), partition=partition))


async def dead_letters(
    connection: KafkaConnection, topics: Topics, count: int
) -> list[ConsumerRecord[bytes, bytes]]:
    """The first `count` of them."""
    place = TopicPartition(topics.dead_letters(Topic.HEALTH_CHANGED), 0)
    consumer = AIOKafkaConsumer(**connection.client_options(), auto_offset_reset="earliest")
    consumer.assign([place])
    async with consumer:
        return [await consumer.getone() for _ in range(count)]


async def committed(connection: KafkaConnection, topics: Topics) -> int:
    """How many records the sinks' group has behind it, over all partitions; AssertionError while nobody can tell."""
    try:
        async with _admin(connection) as admin:
            offsets = await admin.list_consumer_group_offsets(f"{topics.prefix}.sink")
    except KafkaError as error:
        raise AssertionError(f"the broker does not tell: {error}") from error
    return sum(max(place.offset, 0) for place in offsets.values())


async def members(connection: KafkaConnection, topics: Topics) -> set[str]:
    """The ids under which the group's coordinator knows its members."""
    async with _admin(connection) as admin:
        described = await admin.describe_consumer_groups([f"{topics.prefix}.sink"])
    return {member[0] for response in described for group in response.groups for member in group[5]}

"""Making topics on a real broker, and telling what is wrong with others."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import MessageSizeTooLargeError

from agrajag.embedded import EmbeddedKafka
from agrajag.errors import ConfigError, InputError, TransientError
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.codec import MAX_VALUE_BYTES
from agrajag.wire.dead_letters import CUT_FROM, dead_letter
from agrajag.wire.origin import Origins
from agrajag.wire.outputs import Output
from agrajag.wire.topic_admin import ensure_topics, topic_findings
from agrajag.wire.topics import Topic, Topics

_UNPACKED = {"compression.type": "uncompressed"}


async def described(admin: AIOKafkaAdminClient, prefix: str) -> dict[str, int]:
    return {
        topic["topic"]: len(topic["partitions"])
        for topic in await admin.describe_topics()
        if topic["topic"].startswith(f"{prefix}.")
    }


async def test_missing_topics_are_made_as_planned(admin: AIOKafkaAdminClient, topic_prefix: str) -> None:
    topics = Topics(topic_prefix, 2)
    ensured = await ensure_topics(admin, topics)
    assert ensured.findings == ()
    assert set(ensured.created) == {planned.name for planned in topics.planned()}
    assert await described(admin, topic_prefix) == {
        planned.name: planned.partitions for planned in topics.planned()
    }


async def test_making_them_again_changes_nothing(admin: AIOKafkaAdminClient, topic_prefix: str) -> None:
    topics = Topics(topic_prefix, 1)
    await ensure_topics(admin, topics, replication_factor=1)
    again = await ensure_topics(admin, topics)
    assert (again.created, again.findings) == ((), ())


async def test_two_that_make_them_at_once_do_not_hinder_each_other(
    admin: AIOKafkaAdminClient, connection: KafkaConnection, topic_prefix: str
) -> None:
    topics = Topics(topic_prefix, 1)
    others = [AIOKafkaAdminClient(**connection.client_options()) for _ in range(3)]
    try:
        for other in others:
            await other.start()
        ensured = await asyncio.gather(*(ensure_topics(each, topics) for each in (admin, *others)))
    finally:
        for other in others:
            await other.close()
    created = [name for each in ensured for name in each.created]
    assert sorted(created) == sorted(planned.name for planned in topics.planned())
    assert [each.findings for each in ensured] == [()] * 4


async def test_looking_makes_no_topic(admin: AIOKafkaAdminClient, topic_prefix: str) -> None:
    findings = await topic_findings(admin, Topics(topic_prefix, 2))
    assert f"topic {topic_prefix}.tool-call-errors.v1 is missing" in map(str, findings)
    assert len(findings) == len(list(Topics(topic_prefix).planned()))
    assert await described(admin, topic_prefix) == {}


async def test_a_wrong_topic_is_told_of_and_left_alone(admin: AIOKafkaAdminClient, topic_prefix: str) -> None:
    name = f"{topic_prefix}.health-changed.v1"
    await admin.create_topics(
        [NewTopic(name, 3, 1, topic_configs={"cleanup.policy": "delete", "min.compaction.lag.ms": "5"})]
    )
    ensured = await ensure_topics(admin, Topics(topic_prefix, 2))
    assert {str(finding) for finding in ensured.findings} == {
        f"topic {name}: partition count is 3, should be 2",
        f"topic {name}: cleanup.policy is delete, should be compact",
        f"topic {name}: min.compaction.lag.ms is 5, should be at least 86400000",
        f"topic {name}: delete.retention.ms is 86400000, should be at least 604800000",
    }
    assert name not in ensured.created
    assert (await described(admin, topic_prefix))[name] == 3
    assert await topic_findings(admin, Topics(topic_prefix, 2)) == ensured.findings


async def test_an_input_with_the_producers_time_is_told_of(
    admin: AIOKafkaAdminClient, topic_prefix: str
) -> None:
    name = f"{topic_prefix}.tool-call-errors.v1"
    await admin.create_topics(
        [NewTopic(name, 1, 1, topic_configs={**_UNPACKED, "max.message.bytes": "2000000"})]
    )
    findings = (await ensure_topics(admin, Topics(topic_prefix, 1))).findings
    assert [str(finding) for finding in findings] == [
        f"topic {name}: message.timestamp.type is CreateTime, should be LogAppendTime"
    ]


async def test_more_room_and_another_retention_are_no_fault(
    admin: AIOKafkaAdminClient, topic_prefix: str
) -> None:
    config = _UNPACKED | {
        "retention.ms": "5000",
        "max.message.bytes": "9000000",
        "message.timestamp.type": "LogAppendTime",
    }
    await admin.create_topics([NewTopic(f"{topic_prefix}.tool-links.v1", 1, 1, topic_configs=config)])
    assert (await ensure_topics(admin, Topics(topic_prefix, 1))).findings == ()


async def test_more_replicas_than_brokers_are_a_wrong_setting(
    admin: AIOKafkaAdminClient, topic_prefix: str
) -> None:
    with pytest.raises(ConfigError, match="fewer brokers than replicas"):
        await ensure_topics(admin, Topics(topic_prefix, 1), replication_factor=5)


async def test_a_broker_that_goes_away_may_be_asked_again_later(tmp_path: Path, topic_prefix: str) -> None:
    with EmbeddedKafka(tmp_path / "kafka") as broker:
        admin = AIOKafkaAdminClient(
            **KafkaConnection(bootstrap_servers=broker.bootstrap_servers).client_options(),
            request_timeout_ms=1_000,
        )
        await admin.start()
    try:
        with pytest.raises(TransientError):
            await ensure_topics(admin, Topics(topic_prefix, 1))
    finally:
        await admin.close()


@pytest.fixture
async def compressing(connection: KafkaConnection) -> AsyncIterator[AIOKafkaProducer]:
    """Somebody else's producer, whose records are small on their way however large they are."""
    producer = AIOKafkaProducer(
        **connection.client_options(),
        compression_type="gzip",
        max_request_size=20_000_000,
        max_batch_size=20_000_000,
    )
    async with producer:
        yield producer


async def test_what_would_unpack_above_the_limit_is_refused_by_the_broker(
    admin: AIOKafkaAdminClient, compressing: AIOKafkaProducer, topic_prefix: str
) -> None:
    topics = Topics(topic_prefix, 1)
    await ensure_topics(admin, topics)
    name = topics.name(Topic.TOOL_CALL_ERRORS)
    with pytest.raises(MessageSizeTooLargeError):
        await compressing.send_and_wait(name, b"w" * 10_000_000, key=b"k")
    many = compressing.create_batch()
    for _ in range(1_000):
        many.append(key=b"k", value=b"w" * 10_000, timestamp=None)
    with pytest.raises(MessageSizeTooLargeError):
        await (await compressing.send_batch(many, name, partition=0))
    metadata = await compressing.send_and_wait(name, b"v" * MAX_VALUE_BYTES, key=b"k")
    assert metadata.offset == 0


async def test_the_largest_records_can_be_copied_and_set_aside(
    admin: AIOKafkaAdminClient,
    connection: KafkaConnection,
    compressing: AIOKafkaProducer,
    topic_prefix: str,
) -> None:
    """In a topic that was not made by us values may stand far above the limit, and they must not stop a worker."""
    topics = Topics(topic_prefix, 2)
    inputs, letters = topics.name(Topic.TOOL_CALL_ERRORS), topics.dead_letters(Topic.TOOL_CALL_ERRORS)
    planned = next(planned for planned in topics.planned() if planned.name == inputs)
    config = planned.config | {"compression.type": "producer"}
    await admin.create_topics([NewTopic(inputs, 2, 1, topic_configs=config)])
    findings = (await ensure_topics(admin, topics)).findings
    assert list(map(str, findings)) == [
        f"topic {inputs}: compression.type is producer, should be uncompressed"
    ]
    consumer = AIOKafkaConsumer(inputs, auto_offset_reset="earliest", **connection.client_options())
    ours = AIOKafkaProducer(**connection.producer_options())
    async with consumer, ours:
        await compressing.send_and_wait(inputs, b"v" * MAX_VALUE_BYTES, key=b"k", partition=0)
        await compressing.send_and_wait(inputs, b"w" * 10_000_000, key=b"k", partition=0)
        largest_read, bomb = await consumer.getone(), await consumer.getone()
        copy = Origins(2, b"k" * 16).republished(largest_read, b"k" * 1_600, 1)
        letter = dead_letter(bomb, InputError("too_large", "the value has 10000000 bytes"), letters)
        assert await sent(ours, copy) == 1
        assert await sent(ours, letter) == 0
    assert dict(letter.headers)[CUT_FROM] == b"10000001"


async def sent(producer: AIOKafkaProducer, output: Output) -> int:
    """The partition to which the brokers took it."""
    metadata = await producer.send_and_wait(
        output.topic, output.value, key=output.key, headers=list(output.headers), partition=output.partition
    )
    partition: int = metadata.partition
    return partition

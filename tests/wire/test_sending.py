"""What a sender promises: records are there when it returns, each on the partition of its key."""

import asyncio
from collections.abc import Callable

import pytest

from agrajag.embedded import EmbeddedKafka
from agrajag.errors import PermanentError, TransientError
from agrajag.metrics import REGISTRY
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.outputs import Output
from agrajag.wire.partition import partition_for
from agrajag.wire.sending import Sender
from agrajag.wire.topics import Topic, Topics
from tests.kafka_reading import read_all
from tests.service.topics import make_topics
from tests.waiting import eventually


@pytest.fixture
async def topics(connection: KafkaConnection, topic_prefix: str) -> Topics:
    made = Topics(topic_prefix, partitions=4)
    await make_topics(connection, made)
    return made


def written(label: str) -> float:
    return REGISTRY.get_sample_value("agrajag_outputs_total", {"topic": label}) or 0.0


async def test_records_are_there_in_the_order_of_their_key_when_send_returns(
    connection: KafkaConnection, topics: Topics
) -> None:
    name, letters = topics.name(Topic.PROCESS_EVENTS), topics.dead_letters(Topic.DIAGNOSIS_JOBS)
    before = written("process-events"), written("diagnosis-jobs.dlq")
    async with Sender(connection, topics) as sender:
        await sender.send(
            [
                *(Output(name, f"acme|{n % 5}".encode(), b"%d" % n, (("a", b"b"),)) for n in range(20)),
                Output(letters, b"k", b"v", partition=0),
            ]
        )
        records = await read_all(connection.bootstrap_servers, name)
        assert [record.value for record in await read_all(connection.bootstrap_servers, letters)] == [b"v"]
    assert len(records) == 20
    assert all(record.partition == partition_for(record.key, 4) for record in records)
    assert all(record.headers == (("a", b"b"),) for record in records)
    for key in {record.key for record in records}:
        numbers = [int(record.value) for record in records if record.key == key]
        assert numbers == sorted(numbers)
    assert (written("process-events"), written("diagnosis-jobs.dlq")) == (before[0] + 20, before[1] + 1)


async def test_a_record_that_no_broker_takes_is_refused_and_harms_no_other(
    connection: KafkaConnection, topics: Topics
) -> None:
    name = topics.name(Topic.PROCESS_EVENTS)
    too_large_for_the_topic = Output(name, b"acme|-", b"x" * 2_000_000)
    too_large_for_a_request = Output(name, b"acme|-", b"x" * 5_000_000)
    async with Sender(connection, topics) as sender:
        for refused in (too_large_for_the_topic, too_large_for_a_request):
            with pytest.raises(PermanentError, match="TooLarge"):
                await sender.send([Output(name, b"acme|-", b"before"), refused])
            await asyncio.gather(*(sender.send([Output(name, b"acme|-", b"after")]) for _ in range(3)))
    values = [record.value for record in await read_all(connection.bootstrap_servers, name)]
    assert values.count(b"after") == 6


@pytest.mark.slow  # a broker of its own that is killed and started again
async def test_brokers_that_are_away_are_a_passing_error_and_the_same_may_be_sent_again(
    own_kafka: Callable[[], EmbeddedKafka], topic_prefix: str
) -> None:
    broker, topics = own_kafka(), Topics(topic_prefix, partitions=4)
    connection = KafkaConnection(broker.bootstrap_servers)
    await make_topics(connection, topics)
    name = topics.name(Topic.PROCESS_EVENTS)
    async with (
        Sender(connection, topics, answer_seconds=1.0) as sender,
        Sender(connection, topics, answer_seconds=1.0) as other,
    ):

        async def sent(value: bytes) -> bool:
            try:
                for either in (sender, other):
                    await either.send([Output(name, b"acme|-", value)])
            except TransientError as error:
                raise AssertionError(str(error)) from error
            return True

        await eventually(lambda: sent(b"before"), timeout=30.0)
        broker.kill()
        await sender.close()  # this one has to begin while nobody is there
        for either in (sender, other):
            with pytest.raises(TransientError):
                await either.send([Output(name, b"acme|-", b"meanwhile")])
        broker.restart()
        await eventually(lambda: sent(b"after"), timeout=30.0)
    values = {record.value for record in await read_all(connection.bootstrap_servers, name)}
    assert values >= {b"before", b"after"}

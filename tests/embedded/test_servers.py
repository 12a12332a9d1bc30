"""Both embedded servers: from start to ready, and their data over stops and kills."""

from collections.abc import Callable

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from pymongo import MongoClient

from agrajag.embedded import EmbeddedKafka, EmbeddedStore


async def _write_records(kafka: EmbeddedKafka, topic: str, values: list[bytes]) -> None:
    async with AIOKafkaProducer(bootstrap_servers=kafka.bootstrap_servers, acks="all") as producer:
        for value in values:
            await producer.send_and_wait(topic, value)


async def _read_records(kafka: EmbeddedKafka, topic: str, count: int) -> list[bytes]:
    consumer = AIOKafkaConsumer(
        topic, bootstrap_servers=kafka.bootstrap_servers, auto_offset_reset="earliest"
    )
    async with consumer:
        return [(await consumer.getone()).value for _ in range(count)]


async def _create_topic(kafka: EmbeddedKafka, topic: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(topic, 1, 1)])
    finally:
        await admin.close()


async def test_a_started_kafka_takes_and_gives_records(kafka: EmbeddedKafka, topic_prefix: str) -> None:
    topic = f"{topic_prefix}.first"
    await _create_topic(kafka, topic)
    await _write_records(kafka, topic, [b"one", b"two"])
    assert await _read_records(kafka, topic, 2) == [b"one", b"two"]


async def test_kafka_keeps_its_records_and_its_port_over_a_stop_and_a_kill(
    own_kafka: Callable[[], EmbeddedKafka], topic_prefix: str
) -> None:
    kafka = own_kafka()
    port = kafka.port
    await _create_topic(kafka, topic_prefix)
    await _write_records(kafka, topic_prefix, [b"before stop"])
    kafka.stop()
    kafka.start()
    await _write_records(kafka, topic_prefix, [b"before kill"])
    kafka.kill()
    assert not kafka.alive
    kafka.restart()
    assert await _read_records(kafka, topic_prefix, 2) == [b"before stop", b"before kill"]
    assert kafka.port == port


def test_the_store_keeps_its_documents_and_its_port_over_a_stop_and_a_kill(
    own_store: Callable[[], EmbeddedStore],
) -> None:
    store = own_store()
    uri = store.uri
    with MongoClient[dict[str, str]](uri) as client:
        client.db.things.insert_one({"_id": "before stop"})
    store.stop()
    store.start()
    with MongoClient[dict[str, str]](uri) as client:
        client.db.things.insert_one({"_id": "before kill"})
    store.kill()
    store.restart()
    with MongoClient[dict[str, str]](uri) as client:
        assert {found["_id"] for found in client.db.things.find()} == {"before stop", "before kill"}


def test_a_database_name_can_be_used_at_once(store: EmbeddedStore, database_name: str) -> None:
    with MongoClient[dict[str, int]](store.uri) as client:
        client[database_name].things.insert_one({"n": 1})
        assert client[database_name].things.count_documents({}) == 1

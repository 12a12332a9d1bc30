"""Records whose header names are not UTF-8, on a real broker."""

import struct
from collections.abc import Iterator

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.consumer import fetcher
from aiokafka.record.util import calc_crc32c

from agrajag.metrics import REPAIRS
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.header_names import accept_any_header_name
from agrajag.wire.reasons import RepairKind
from tests.wire.records import counting

NAME = "XQXQ"
RAW_NAME = b"\xffQ\xfeQ"
AIOKAFKAS_OWN = fetcher.MemoryRecords, fetcher.PartitionRecords
CRC_AT, CHECKED_FROM = 17, 21  # of a record batch, version 2


@pytest.fixture(autouse=True)
def _aiokafka_as_it_was() -> Iterator[None]:
    """Whatever ran before in this process, a worker or a sink among it."""
    before = fetcher.MemoryRecords, fetcher.PartitionRecords
    fetcher.MemoryRecords, fetcher.PartitionRecords = AIOKAFKAS_OWN
    yield
    fetcher.MemoryRecords, fetcher.PartitionRecords = before


async def send_records_with_a_raw_header_name(producer: AIOKafkaProducer, topic: str) -> None:
    """Seven records: 1 and 5 in batches of their own, 2 to 4 and 6 to 7 in batches with a bad name inside."""
    await producer.send_and_wait(topic, b"1")
    for values, bad in (((b"2", b"3", b"4"), b"3"), ((b"5",), b""), ((b"6", b"7"), b"6")):
        batch = producer.create_batch()
        for value in values:
            headers = [("good", b"h"), (NAME, value)] if value == bad else []
            batch.append(key=b"k", value=value, timestamp=None, headers=headers)
        batch.close()
        raw = bytearray(batch._build().replace(NAME.encode(), RAW_NAME))
        struct.pack_into(">I", raw, CRC_AT, calc_crc32c(bytes(raw[CHECKED_FROM:])))
        batch._buffer = bytes(raw)
        await (await producer.send_batch(batch, topic, partition=0))


@pytest.fixture
async def topic(admin: AIOKafkaAdminClient, connection: KafkaConnection, topic_prefix: str) -> str:
    """A topic that holds such records."""
    await admin.create_topics([NewTopic(topic_prefix, 1, 1)])
    async with AIOKafkaProducer(**connection.client_options()) as producer:
        await send_records_with_a_raw_header_name(producer, topic_prefix)
    return topic_prefix


def reader(topic: str, connection: KafkaConnection) -> AIOKafkaConsumer:
    return AIOKafkaConsumer(topic, auto_offset_reset="earliest", **connection.client_options())


async def test_every_record_is_read_once_and_in_order(topic: str, connection: KafkaConnection) -> None:
    accept_any_header_name()
    accept_any_header_name()
    with counting(REPAIRS, kind=RepairKind.HEADER_NAME_NOT_TEXT) as counted:
        async with reader(topic, connection) as consumer:
            records = [await consumer.getone() for _ in range(7)]
    assert [record.value for record in records] == [b"1", b"2", b"3", b"4", b"5", b"6", b"7"]
    assert [record.offset for record in records] == list(range(7))
    assert records[2].headers == (("good", b"h"), ("\\xffQ\\xfeQ", b"3"))
    assert records[5].headers == (("good", b"h"), ("\\xffQ\\xfeQ", b"6"))
    assert counted() >= 1


async def test_a_consumer_of_aiokafka_alone_never_gets_beyond_such_a_record(
    topic: str, connection: KafkaConnection
) -> None:
    """Once this fails aiokafka has learnt it, and `header_names` can go."""
    async with reader(topic, connection) as consumer:
        for _ in range(3):
            with pytest.raises(UnicodeDecodeError):
                await consumer.getmany(timeout_ms=10_000)

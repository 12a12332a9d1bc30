"""Sends the demo's records as its producers would, and keeps account of what the broker has acknowledged."""

from collections import Counter
from collections.abc import Sequence

from aiokafka import AIOKafkaProducer

from agrajag.cli.demo.balance import identity_of
from agrajag.cli.demo.scenarios import DemoRecord
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.origin import Origin
from agrajag.wire.topics import Topic, Topics

_AT_A_TIME = 100


async def send(
    connection: KafkaConnection, topics: Topics, records: Sequence[DemoRecord], acknowledged: Counter[str]
) -> None:
    """Send all records, in order for each partition; `acknowledged` grows by identities meanwhile."""
    topic = topics.name(Topic.TOOL_CALL_ERRORS)
    async with AIOKafkaProducer(**connection.producer_options()) as producer:
        for start in range(0, len(records), _AT_A_TIME):
            some = records[start : start + _AT_A_TIME]
            pending = [
                await producer.send(
                    topic,
                    record.value,
                    record.key,
                    partition=record.producer.place(record.key, topics.partitions),
                )
                for record in some
            ]
            for record, acknowledgement in zip(some, pending, strict=True):
                written = await acknowledgement
                origin = Origin(written.topic, written.partition, written.offset)
                acknowledged[identity_of(record.value, str(origin))] += 1

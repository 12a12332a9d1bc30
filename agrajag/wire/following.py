"""Reads whole topics outside of any group: what stands in them, and then what comes."""

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing, contextmanager
from datetime import datetime
from typing import NamedTuple

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from agrajag.errors import PermanentError, TransientError
from agrajag.wire.clients import REFUSALS, KafkaConnection, admin_client
from agrajag.wire.ending import ended
from agrajag.wire.header_names import accept_any_header_name
from agrajag.wire.origin import ReceivedRecord
from agrajag.wire.topic_admin import cluster_id_of, partition_counts

_POLL_MS = 500


class Log(NamedTuple):
    """The log that is read: whose it is, and the next offset of each partition when the reading began."""

    cluster_id: str
    topic: str
    ends: tuple[int, ...]


class Followed(NamedTuple):
    """What one poll brought. `caught_up` from the poll on that reached the end which the topic had at the start."""

    records: tuple[ReceivedRecord, ...]
    caught_up: bool
    log: Log


@contextmanager
def kafka_errors(doing: str) -> Iterator[None]:
    """Turns the client's errors into ours."""
    try:
        yield
    except REFUSALS as error:
        raise PermanentError(f"kafka: {doing}: {type(error).__name__}: {error}") from error
    except (KafkaError, OSError, TimeoutError) as error:
        raise TransientError(f"kafka: {doing}: {type(error).__name__}: {error}") from error


async def follow(
    connection: KafkaConnection, topic: str, since: datetime | None = None
) -> AsyncGenerator[Followed, None]:
    """Every record of `topic` from the first, or the first of `since`, in the order of each partition, without end.

    Yields at least every half second, so that the reader hears of having caught up. Raises TransientError or
    PermanentError.
    """
    accept_any_header_name()
    with kafka_errors(f"reading {topic}"):
        async with admin_client(connection) as admin:
            places = await _places(admin, topic)
            cluster_id = await cluster_id_of(admin)
        options = {**connection.client_options(), "auto_offset_reset": "earliest"}
        consumer = AIOKafkaConsumer(**options, group_id=None)
        consumer.assign(places)
        try:
            await consumer.start()
            ends = await consumer.end_offsets(places)
            log = Log(cluster_id, topic, tuple(ends[place] for place in places))
            if since is not None:
                await _seek(consumer, ends, since)
            unread = {place for place in places if await consumer.position(place) < ends[place]}
            told = False
            while True:
                # Nothing to wait for in a topic that was empty: its reader goes on at once.
                fetched = await consumer.getmany(timeout_ms=_POLL_MS if unread or told else 0)
                unread = {place for place in unread if await consumer.position(place) < ends[place]}
                told = not unread
                yield Followed(tuple(record for records in fetched.values() for record in records), told, log)
        finally:
            await ended(consumer)


async def _seek(consumer: AIOKafkaConsumer, ends: Mapping[TopicPartition, int], since: datetime) -> None:
    """Go to the first record of each partition that is not older; to the end where there is none."""
    found = await consumer.offsets_for_times(dict.fromkeys(ends, int(since.timestamp() * 1000)))
    for place, there in found.items():
        consumer.seek(place, ends[place] if there is None else there.offset)


async def records_to_end(
    connection: KafkaConnection, topic: str, since: datetime | None = None
) -> AsyncGenerator[ReceivedRecord, None]:
    """Every record from the first, or the first of `since`, up to the end that the topic has now, and perhaps some that
    came meanwhile. Raises as `follow`."""
    async with aclosing(follow(connection, topic, since)) as following:
        async for followed in following:
            for record in followed.records:
                yield record
            if followed.caught_up:
                return


async def partitions_of(connection: KafkaConnection, topic: str) -> list[TopicPartition]:
    """The partitions of `topic`, by number. Raises PermanentError if there is no such topic."""
    async with admin_client(connection) as admin:
        return await _places(admin, topic)


async def _places(admin: AIOKafkaAdminClient, topic: str) -> list[TopicPartition]:
    counts = await partition_counts(admin, [topic])
    if topic not in counts:
        raise PermanentError(f"kafka: there is no topic {topic}")
    return [TopicPartition(topic, number) for number in range(counts[topic])]

"""Refuses a source topic that was made again: its offsets restart below what the table has applied.

Every record of it would be taken for a repetition, silently, until its offsets have caught up. Where records were
only lost from the end of the log, the group's committed offset lies beyond it. With a topic that is deleted Kafka
deletes the commits too; then the table tells, which remembers the offsets that it has applied.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition

from agrajag.errors import ConfigError
from agrajag.stream.memory import revision_of

Applied = Callable[[bytes], Mapping[str, int]]
"""From a value of the table: the last offset that it has applied, by `topic-partition`."""


async def refuse_source_made_again(
    source: str, changelog: str, *, partitions: int, group: str, applied: Applied, **client: Any
) -> None:
    """Do not start where more was done than `source` holds. `client` are aiokafka's settings. Raises ConfigError.

    The changelog of a partition is read only where the group has committed nothing, so in the beginning, and after
    Kafka has forgotten the commits.
    """
    places = [TopicPartition(source, partition) for partition in range(partitions)]
    async with AIOKafkaConsumer(group_id=group, enable_auto_commit=False, **client) as consumer:
        ends = await consumer.end_offsets(places)
        committed = {place: await consumer.committed(place) for place in places}
    done = {place: offset for place, offset in committed.items() if offset is not None}
    if unknown := [place for place in places if place not in done]:
        async with AIOKafkaConsumer(**client) as reader:
            for place in unknown:
                log = TopicPartition(changelog, place.partition)
                done[place] = await _applied_up_to(reader, log, place, applied)
    for place in places:
        if done[place] > ends[place]:
            raise ConfigError(
                f"topic {source} partition {place.partition} ends at {ends[place]}, but {group} has done up to "
                f"{done[place]}: it was made again or lost records; make all topics again, or use a new prefix"
            )


async def _applied_up_to(
    reader: AIOKafkaConsumer, log: TopicPartition, source: TopicPartition, applied: Applied
) -> int:
    """The offset behind the last one that any value in `log` has applied from `source`; 0 if none has."""
    origin = f"{source.topic}-{source.partition}"
    return max([applied(value).get(origin, -1) + 1 async for value in _values(reader, log)], default=0)


async def _values(reader: AIOKafkaConsumer, log: TopicPartition) -> AsyncIterator[bytes]:
    """Every value of one changelog partition that the table would read."""
    end = (await reader.end_offsets([log]))[log]
    reader.assign([log])
    await reader.seek_to_beginning(log)
    while await reader.position(log) < end:
        for record in (await reader.getmany(log, timeout_ms=1_000)).get(log, []):
            if record.value is not None and _has_revision(record.value):
                yield record.value


def _has_revision(value: bytes) -> bool:
    try:
        revision_of(value)
    except ValueError:
        return False
    return True

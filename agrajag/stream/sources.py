"""Refuses a source topic that was made again: its offsets restart below what the table has applied.

Every record of it would be taken for a repetition, silently, until its offsets have caught up. Where records were
only lost from the end of the log, the group's committed offset lies beyond it. With a topic that is deleted Kafka
deletes the commits too; then the table tells, which remembers the offsets that it has applied.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from agrajag.errors import ConfigError
from agrajag.stream.memory import revision_of

Applied = Callable[[bytes], Mapping[str, int]]
"""From a value of the table: the last offset that it has applied, by `topic-partition`."""


async def refuse_sources_made_again(
    sources: Sequence[str], changelog: str, *, partitions: int, group: str, applied: Applied, **client: Any
) -> None:
    """Do not start where more was done than one of `sources` holds. `client` are aiokafka's settings.

    Raises ConfigError. The changelog of a partition is read only where the group has committed nothing of a source: in
    the beginning, and after Kafka has forgotten the commits. What is found to be empty and never used gets a commit at
    its beginning, so that a source that nobody uses does not make every start read the changelog.
    """
    places = [TopicPartition(source, partition) for source in sources for partition in range(partitions)]
    async with AIOKafkaConsumer(group_id=group, enable_auto_commit=False, **client) as consumer:
        ends = await consumer.end_offsets(places)
        committed = await asyncio.gather(*map(consumer.committed, places))
        done = {place: at for place, at in zip(places, committed, strict=True) if at is not None}
        unknown = [place for place in places if place not in done]
        done |= await _applied_up_to(unknown, changelog, applied, client)
        for place in places:
            if done[place] > ends[place]:
                raise ConfigError(
                    f"topic {place.topic} partition {place.partition} ends at {ends[place]}, but {group} has done up "
                    f"to {done[place]}: it was made again or lost records; make all topics again, or use a new prefix"
                )
        if unused := {place: 0 for place in unknown if ends[place] == 0}:
            consumer.assign(list(unused))
            with suppress(KafkaError):  # others of the group are at work already
                await consumer.commit(unused)


async def _applied_up_to(
    places: Sequence[TopicPartition], changelog: str, applied: Applied, client: Mapping[str, Any]
) -> dict[TopicPartition, int]:
    """The offset behind the last one that any value of the table has applied from each place; 0 if none has."""
    by_partition: defaultdict[int, list[TopicPartition]] = defaultdict(list)
    for place in places:
        by_partition[place.partition].append(place)
    found = dict.fromkeys(places, 0)
    if not places:
        return found
    async with AIOKafkaConsumer(**client) as reader:
        for partition, sources in by_partition.items():
            async for value in _values(reader, TopicPartition(changelog, partition)):
                offsets = applied(value)
                for place in sources:
                    behind = offsets.get(f"{place.topic}-{place.partition}", -1) + 1
                    found[place] = max(found[place], behind)
    return found


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

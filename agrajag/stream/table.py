"""The one Faust table: changelog first, as record batches, then memory; read through views of one partition.

Recovery is Faust's. What is ours: writing by whole changes, values kept as objects, revisions that recovery
heeds, and a name for the changelog that we chose.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import faust
import structlog
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from faust.types import TP, EventT

from agrajag import metrics
from agrajag.errors import ConfigError
from agrajag.stream.batches import Row
from agrajag.stream.fetches import FetchApp
from agrajag.stream.memory import UNTOLD_HEADER, PartitionedMemory, PartitionView, revision_of
from agrajag.wire.tombstones import revision_header

log = structlog.get_logger(__name__)

V = TypeVar("V")

Changes = Collection[Mapping[bytes, V | None]]
"""Groups of changed values by key, None for a key that goes. A group is written whole or not at all."""

BIRTH_KEY = b"table-created"
_UNTOLD = ((UNTOLD_HEADER, b"1"),)


class EncodedChanges(Generic[V]):
    """Changes of one partition, encoded once: rows for the changelog, values for memory."""

    def __init__(
        self,
        rows: list[list[Row]],
        merged: dict[bytes, tuple[int, V | None]],
        untold: Collection[bytes] = (),
    ) -> None:
        self.rows = rows
        self.merged = merged
        self.untold = untold


class ChangelogTable(faust.Table[bytes, V], Generic[V]):
    """Values of type V by key, in memory, with the existing topic `changelog` as their log."""

    logger = logging.getLogger("faust")  # or mode takes this module's, and what it says of services is ours

    def __init__(
        self,
        app: FetchApp,
        *,
        name: str,
        changelog: str,
        partitions: int,
        decode: Callable[[bytes], V],
        encode: Callable[[V], bytes],
    ) -> None:
        """`encode` must put the revision first (`{"revision":123,`); `decode` runs at the first read."""
        super().__init__(app, name=name, partitions=partitions, key_type=bytes, value_type=bytes)
        self._changelog = changelog
        self._encode = encode
        self.memory: PartitionedMemory[V] = PartitionedMemory(decode)
        self.held: frozenset[int] = frozenset()
        app.tables.add(self)
        app.changelogs[changelog] = self

    def _changelog_topic_name(self) -> str:
        return self._changelog

    def view(self, partition: int) -> PartitionView[V]:
        """What is known of `partition`; complete while the partition is in `held`."""
        return self.memory.view(partition)

    def encoded(
        self, partition: int, changes: Changes[V], untold: Collection[bytes] = ()
    ) -> EncodedChanges[V]:
        """Encode `changes`. A key that goes gets the next revision, in the header of its tombstone.

        The values of `untold` are marked by a header, for whoever recovers them.
        """
        view = self.memory.view(partition)
        rows: list[list[Row]] = []
        merged: dict[bytes, tuple[int, V | None]] = {}
        for group in changes:
            rows.append([])
            for key, value in group.items():
                if value is None:
                    revision = (view.revision(key) or 0) + 1
                    row = Row(key, None, [revision_header(revision)])
                else:
                    raw = self._encode(value)
                    revision = revision_of(raw)
                    row = Row(key, raw, _UNTOLD if key in untold else ())
                rows[-1].append(row)
                merged[key] = revision, value
        return EncodedChanges(rows, merged, untold)

    def merge(self, partition: int, changes: EncodedChanges[V]) -> None:
        """Take over changes that the changelog has."""
        self.memory.merge(partition, changes.merged, time.time(), changes.untold)
        metrics.TABLE_ENTRIES.set(len(self.memory))

    # --- called by Faust ---

    def recover(self, records: Sequence[ConsumerRecord]) -> None:
        """Take over changelog records, unless something newer is held; one that cannot be read is logged and left."""
        for record in records:
            try:
                self.memory.recover(
                    record.partition, record.key, record.value, record.headers, record.timestamp / 1_000
                )
            except ValueError:
                log.exception("changelog_record_ignored", partition=record.partition, offset=record.offset)

    def apply_changelog_batch(self, batch: Iterable[EventT[Any]]) -> None:
        self.recover([_as_record(event) for event in batch])

    async def on_rebalance(
        self, assigned: set[TP], revoked: set[TP], newly_assigned: set[TP], generation_id: int = 0
    ) -> None:
        self.held = frozenset()
        await super().on_rebalance(assigned, revoked, newly_assigned, generation_id)

    async def on_recovery_completed(self, active_tps: set[TP], standby_tps: set[TP]) -> None:
        self.held = frozenset(tp.partition for tp in active_tps)
        self.memory.keep_only(list(self.held))
        metrics.TABLE_ENTRIES.set(len(self.memory))
        await super().on_recovery_completed(active_tps, standby_tps)


def _as_record(event: EventT[Any]) -> ConsumerRecord:
    message = event.message
    return ConsumerRecord(
        topic=message.topic,
        partition=message.partition,
        offset=message.offset,
        timestamp=round(message.timestamp * 1_000),
        timestamp_type=message.timestamp_type,
        key=message.key,
        value=message.value,
        checksum=None,
        serialized_key_size=message.serialized_key_size,
        serialized_value_size=message.serialized_value_size,
        headers=message.headers,
    )


async def refuse_lost_table(changelog: str, evidence: str, **client: Any) -> None:
    """Do not start on an empty changelog while `evidence`, a topic written with every change, holds records.

    When both are empty the table begins now, and a first record (`BIRTH_KEY`, without a value) says so: a
    crash between the first output and the first change must not look like a loss later. `client` are
    aiokafka's settings. Raises ConfigError.
    """
    empty, unwritten = await _are_empty((changelog, evidence), client)
    if empty and not unwritten:
        raise ConfigError(
            f"the changelog {changelog} is empty but {evidence} is not: the table was lost, rebuild it first"
        )
    if empty:
        async with AIOKafkaProducer(acks="all", **client) as producer:
            await producer.send_and_wait(changelog, key=BIRTH_KEY, partition=0)


async def _are_empty(topics: Sequence[str], client: Mapping[str, Any]) -> list[bool]:
    places = await _places(topics, client)
    async with AIOKafkaConsumer(**client) as consumer:
        begins = [await consumer.beginning_offsets(found) for found in places]
        ends = [await consumer.end_offsets(found) for found in places]
    return [begin == end for begin, end in zip(begins, ends, strict=True)]


async def _places(topics: Sequence[str], client: Mapping[str, Any]) -> list[list[TopicPartition]]:
    admin = AIOKafkaAdminClient(**client)
    await admin.start()
    try:
        described = {found["topic"]: found["partitions"] for found in await admin.describe_topics([*topics])}
    finally:
        await admin.close()
    for topic in topics:
        if not described[topic]:
            raise ConfigError(f"topic {topic} does not exist: create the topics first")
    return [[TopicPartition(topic, found["partition"]) for found in described[topic]] for topic in topics]

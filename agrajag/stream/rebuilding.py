"""Makes the table anew from `health-changed`: after its changelog was lost, or the partition count was raised.

First documents that moved are published, then the table's entries are written, then old copies are deleted: a run that
was cut short is finished by another, and a run after that changes nothing (`rebuild_plan`).

A rebuilt entry knows no applied offsets: records that were decided and not yet committed count twice. A job in flight
lives on in the cooldown that claims it; no error joins it any more, and its answer is judged by its own words about
what was asked. A user's open inbox items come from their topic.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import NamedTuple

import structlog
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError

from agrajag.core.inbox import is_open
from agrajag.errors import InputError, PermanentError, TransientError
from agrajag.model.answers import InboxItem
from agrajag.model.enums import Scope
from agrajag.model.health import MAX_INBOX, HealthEntry, ToolHealth
from agrajag.model.keys import health_key
from agrajag.stream.entries import EntryCodec
from agrajag.stream.memory import revision_of
from agrajag.stream.rebuild_plan import Copies, Copy, Plan, Wanted, plan, right_partition
from agrajag.stream.table import BIRTH_KEY
from agrajag.wire.clients import KafkaConnection, admin_client
from agrajag.wire.codec import decode
from agrajag.wire.following import kafka_errors, records_to_end
from agrajag.wire.health_records import health_headers
from agrajag.wire.origin import ReceivedRecord
from agrajag.wire.outputs import Output
from agrajag.wire.tombstones import tombstone, tombstone_revision
from agrajag.wire.topics import Topic, Topics
from agrajag.wire.writing import handed_over

log = structlog.get_logger(__name__)

REBUILDER = "agrajag/rebuild"
_AT_A_TIME = 1_000
_COORDINATOR_SECONDS = 30.0
_LOOK_AGAIN_SECONDS = 0.2
_MEMBERS = 5  # the place of a group's members in the client's answer


class Rebuilt(NamedTuple):
    """What a rebuild has done."""

    documents: int
    written: int
    moved: int
    old_copies: int
    unreadable: int

    def __str__(self) -> str:
        return (
            f"{self.documents:,} documents: {self.written:,} written to the table, {self.moved:,} moved to their "
            f"partition, {self.old_copies:,} old copies deleted, {self.unreadable:,} records unreadable"
        )


class Rebuilding:
    """One run on the topics of an installation whose workers, `group`, are at rest."""

    def __init__(
        self,
        connection: KafkaConnection,
        topics: Topics,
        *,
        group: str,
        sources: Sequence[Topic],
        tell: Callable[[str], None],
    ) -> None:
        """`sources` are what the workers read; `tell` is given a line now and then."""
        self._connection = connection
        self._topics = topics
        self._group = group
        self._sources = sources
        self._tell = tell
        self._changed = topics.name(Topic.HEALTH_CHANGED)
        self._changelog = topics.name(Topic.HEALTH_CHANGELOG)
        self._codec = EntryCodec()
        self._read: Counter[str] = Counter()
        self._unreadable = 0
        self._inbox: dict[bytes, tuple[InboxItem, ...]] = {}

    async def run(self, *, force: bool = False) -> Rebuilt:
        """Rebuild. Raises PermanentError while workers live, or, unless `force`, where documents have to move to
        another partition while records wait that are about them; TransientError if Kafka does not answer."""
        await self._refuse_workers()
        changed, changelog = await self._copies(self._changed), await self._copies(self._changelog)
        made = plan(changed, changelog, self._topics.partitions)
        if made.moves and not force:
            await self._refuse_lag()
        if made.documents:
            self._inbox = await self._open_items()
        async with AIOKafkaProducer(**self._connection.producer_options()) as producer:
            await self._write(producer, made)
            if not self._read[self._changelog] and not made.documents:  # or the worker would take it for lost
                await producer.send_and_wait(self._changelog, key=BIRTH_KEY, partition=0)
        await self._refuse_workers()
        living = sum(not max(copies.values()).is_gone for copies in changed.values())
        old = len(made.old_documents) + len(made.old_entries)
        return Rebuilt(living, len(made.documents), made.moves, old, self._unreadable)

    async def _copies(self, topic: str) -> Copies:
        self._tell(f"reading {topic}")
        found: Copies = {}
        async for record in records_to_end(self._connection, topic):
            self._read[topic] += 1
            key = record.key or b""
            if key == BIRTH_KEY:
                continue
            try:
                right_partition(key, self._topics.partitions)
                gone = record.value is None
                revision = tombstone_revision(record) if record.value is None else revision_of(record.value)
            except (ValueError, InputError) as error:
                self._skip(record, error)
                continue
            copies = found.setdefault(key, {})
            known = copies.get(record.partition)
            if known is None or revision >= known.revision:
                copies[record.partition] = Copy(revision, record.offset, gone)
        return found

    async def _open_items(self) -> dict[bytes, tuple[InboxItem, ...]]:
        """The inbox items that are open, newest first, by the key of their user's document."""
        topic = self._topics.name(Topic.INBOX_ITEMS)
        self._tell(f"reading {topic}")
        newest: dict[bytes, InboxItem] = {}
        async for record in records_to_end(self._connection, topic):
            try:
                item = decode(InboxItem, record)
            except InputError as error:
                self._skip(record, error)
                continue
            known = newest.get(record.key or b"")
            if known is None or item.revision >= known.revision:
                newest[record.key or b""] = item
        found: dict[bytes, tuple[InboxItem, ...]] = {}
        for item in sorted(filter(is_open, newest.values()), key=lambda item: item.created_at):
            key = health_key(item.tenant_id, Scope.USER, item.assigned_to_user_id, item.tool_name).encode()
            found[key] = (item, *found.get(key, ()))[:MAX_INBOX]
        return found

    def _skip(self, record: ReceivedRecord, error: Exception) -> None:
        self._unreadable += 1
        log.warning(
            "record_unreadable",
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            error=type(error).__name__,
        )

    async def _write(self, producer: AIOKafkaProducer, made: Plan) -> None:
        """Documents, then entries, then the end of old copies: whatever breaks off in between, nothing is lost."""
        lost: set[bytes] = set()
        written = 0
        async for found in self._wanted(made, lost):
            await self._send(producer, (self._published(*one) for one in found if one[0].is_published))
            await self._send(producer, (self._entry(*one) for one in found))
            written += len(found)
            self._tell(f"{written:,} of {len(made.documents):,} documents written")
        if written + len(lost) < len(made.documents):
            raise TransientError(f"{self._changed} has changed meanwhile: run it again")
        for topic, old in ((self._changed, made.old_documents), (self._changelog, made.old_entries)):
            kept = (copy for copy in old if copy[1] not in lost)
            await self._send(producer, (tombstone(topic, key, at, where) for where, key, at in kept))

    async def _wanted(self, made: Plan, lost: set[bytes]) -> AsyncIterator[list[tuple[Wanted, ToolHealth]]]:
        """The documents that are to be written, some at a time; the keys of unreadable ones go to `lost`."""
        found: list[tuple[Wanted, ToolHealth]] = []
        if not made.documents:
            return
        async for record in records_to_end(self._connection, self._changed):
            wanted = made.documents.get((record.partition, record.offset))
            if wanted is None:
                continue
            try:
                health = decode(ToolHealth, record)
            except InputError as error:
                self._skip(record, error)
                lost.add(record.key or b"")
                continue
            found.append((wanted, health.with_changes(revision=wanted.revision)))
            if len(found) == _AT_A_TIME:
                yield found
                found = []
        if found:
            yield found

    def _published(self, wanted: Wanted, health: ToolHealth) -> Output:
        key = _key(health)
        headers = health_headers(REBUILDER, key, health.revision)
        return Output(self._changed, key, self._codec.document(health), headers, wanted.partition)

    def _entry(self, wanted: Wanted, health: ToolHealth) -> Output:
        key = _key(health)
        entry = HealthEntry(revision=health.revision, health=health, inbox=self._inbox.get(key, ()))
        return Output(self._changelog, key, self._codec.encode(entry), (), wanted.partition)

    async def _send(self, producer: AIOKafkaProducer, outputs: Iterable[Output]) -> None:
        """Returns when the brokers have all of them."""
        with kafka_errors("writing"):
            await asyncio.gather(*[await handed_over(producer, output) for output in outputs])

    async def _refuse_workers(self) -> None:
        with kafka_errors(f"looking at the group {self._group}"):
            members = await self._members()
        if members:
            raise PermanentError(
                f"{members} members of the group {self._group} are at work: stop the workers, then rebuild "
                "(one that was killed counts until its session is over)"
            )

    async def _members(self) -> int:
        deadline = time.monotonic() + _COORDINATOR_SECONDS
        async with admin_client(self._connection) as admin:
            while True:
                try:
                    (response,) = await admin.describe_consumer_groups([self._group])
                except KafkaError as error:
                    # Brokers that never had a group begin to keep groups when they are first asked for one.
                    if not error.retriable or time.monotonic() > deadline:
                        raise
                    await asyncio.sleep(_LOOK_AGAIN_SECONDS)
                else:
                    return sum(len(group[_MEMBERS]) for group in response.groups)

    async def _refuse_lag(self) -> None:
        places = [
            TopicPartition(self._topics.name(source), number)
            for source in self._sources
            for number in range(self._topics.partitions)
        ]
        options = {**self._connection.client_options(), "group_id": self._group, "enable_auto_commit": False}
        with kafka_errors("looking for records that wait"):
            async with AIOKafkaConsumer(**options) as consumer:
                begins, ends = await consumer.beginning_offsets(places), await consumer.end_offsets(places)
                done = await asyncio.gather(*map(consumer.committed, places))
        waiting = sum(
            ends[at] - (begins[at] if to is None else to) for at, to in zip(places, done, strict=True)
        )
        if waiting:
            raise PermanentError(
                f"{waiting:,} records wait to be decided, and their documents move to other partitions: records of "
                "one tool could be taken out of order; go on all the same with --force"
            )


def _key(health: ToolHealth) -> bytes:
    return health_key(health.tenant_id, health.scope, health.scope_id, health.tool_name).encode()

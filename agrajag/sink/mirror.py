"""The sink's loop: read, write, and only then commit.

An offset is committed when the store has every document before it on disk and the broker every dead letter. If the
store is away, the batch in hand waits and is tried again, and reading waits with it; the consumer goes on telling its
group that it lives. If the group takes partitions away meanwhile, the batch is dropped, and read again by whoever has
them: writing twice is harmless.
"""

import asyncio
import time
from collections.abc import Collection

import structlog
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition

from agrajag.errors import InputError, TransientError
from agrajag.metrics import (
    DEAD_LETTERS,
    EVENTS,
    RETRIES,
    SINK_BATCHES,
    SINK_WRITES,
    STAGE_SECONDS,
    SinkResult,
    Stage,
)
from agrajag.monitor.members import Progress
from agrajag.sink.batch import Batch, Work
from agrajag.sink.broker import clients
from agrajag.sink.routes import Route
from agrajag.store import Store
from agrajag.store.guarded import BULK_LIMIT
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.commits import Commits
from agrajag.wire.dead_letters import dead_letter
from agrajag.wire.following import kafka_errors
from agrajag.wire.membership import Group, read_to, refuse_wrong_setup
from agrajag.wire.outage import Outage
from agrajag.wire.reasons import DeadLetterReason
from agrajag.wire.topics import Topics
from agrajag.wire.writing import handed_over, write_errors

log = structlog.get_logger(__name__)

_POLL_MS = 500
_ANSWER_TIMEOUT_SECONDS = 20.0  # a broker that restarts takes less; then the clients are made anew
_LAST_COMMIT_TIMEOUT_SECONDS = 5.0


class Mirror(ConsumerRebalanceListener):  # type: ignore[misc]
    """Mirrors the topics of `routes` into an open store, as one member of a consumer group."""

    def __init__(
        self,
        connection: KafkaConnection,
        topics: Topics,
        store: Store,
        group: Group,
        routes: Collection[Route],
        store_outage: Outage,
    ) -> None:
        self._connection = connection
        self._topics = topics
        self._store = store
        self._group = group
        self._routes = {topics.name(route.topic): route for route in routes}
        self._store_outage = store_outage
        self._broker_outage = Outage("sink", "kafka")
        self._consumer: AIOKafkaConsumer | None = None
        self._assignments = 0  # how often partitions were taken away
        self._commits = Commits("sink")
        self._written: dict[TopicPartition, int] = {}  # the next offset behind what the store has
        self._in_hand: dict[TopicPartition, int] = {}  # where the batch begins that is not written yet
        self.has_assignment = False
        """False while the group decides who has which partitions."""

    @property
    def committed_at(self) -> float | None:
        """When offsets were last committed, in seconds of the monotonic clock."""
        return self._commits.last_at

    @property
    def broker_is_away(self) -> bool:
        """Whether the clients were given up, to be made anew."""
        return self._broker_outage.goes_on

    async def progress(self, timeout_seconds: float) -> Progress | None:
        """How many records of each partition are not written yet; None if the broker does not say in time."""
        consumer = self._consumer
        if consumer is None:
            return None
        found = await read_to(consumer, timeout_seconds)
        if found is None:
            return None
        return {
            place: max(0, end - self._in_hand.get(place, position))
            for place, (end, position) in found.items()
        }

    async def run(self) -> None:
        """Mirrors until it is cancelled; what is then half written is left uncommitted, to be read again.

        Raises PermanentError if the brokers or the store refuse us, ConfigError if a topic is missing or unfit.
        """
        while True:
            try:
                await self._run_once()
            except TransientError as error:
                await self._broker_outage.pause(error)

    async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        """Commits what is written, and has the loop drop the batch in hand."""
        self._assignments += 1
        self.has_assignment = False
        self._in_hand = {}
        try:
            await self._commit(_LAST_COMMIT_TIMEOUT_SECONDS)
        except TransientError as error:
            log.warning("sink_leaves_partitions_uncommitted", partitions=len(revoked), reason=str(error))
        self._forget()

    async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        """The place in each partition is the committed one; nothing of ours depends on it."""
        self.has_assignment = True
        log.info("sink_has_partitions", partitions=len(assigned))

    async def _run_once(self) -> None:
        """One life of the Kafka clients."""
        self.has_assignment = False
        mirrored = [route.topic for route in self._routes.values()]
        await refuse_wrong_setup(self._connection, self._topics, mirrored)
        async with clients(self._connection, self._group, self._routes.keys(), self) as (
            consumer,
            producer,
        ):
            self._consumer = consumer
            try:
                while True:
                    await self._turn(consumer, producer)
                    if consumer.assignment():  # without partitions nothing has been tried
                        self._broker_outage.over()
            finally:
                try:
                    await self._commit(_LAST_COMMIT_TIMEOUT_SECONDS)
                except TransientError as error:
                    log.warning("sink_ends_uncommitted", reason=str(error))
                self._consumer = None
                self._forget()
                self._in_hand = {}

    async def _turn(self, consumer: AIOKafkaConsumer, producer: AIOKafkaProducer) -> None:
        with kafka_errors("reading"):
            records = await consumer.getmany(timeout_ms=_POLL_MS, max_records=BULK_LIMIT)
        assignment = self._assignments
        self._in_hand = {place: received[0].offset for place, received in records.items()}
        batch = Batch(records, self._routes)
        for place, received in records.items():
            EVENTS.labels(self._routes[place.topic].topic).inc(len(received))
        while not await self._stored(batch):
            if assignment != self._assignments:
                return
        await self._set_aside(batch, producer)
        if assignment == self._assignments:
            self._written |= batch.next_offsets
            self._in_hand = {}
        await self._commit(_ANSWER_TIMEOUT_SECONDS)

    async def _stored(self, batch: Batch) -> bool:
        """One try to write all of the batch; False after a pause if the store is away."""
        started = time.perf_counter()
        try:
            while batch.works:
                await self._store_one(batch.works[-1], batch)
                batch.works.pop()
        except TransientError as error:
            RETRIES.labels(Stage.STORE).inc()
            await self._store_outage.pause(error)
            return False
        if batch.next_offsets:
            STAGE_SECONDS.labels(Stage.STORE).observe(time.perf_counter() - started)
            self._store_outage.over()
        return True

    async def _store_one(self, work: Work, batch: Batch) -> None:
        written = await self._store.collection(work.collection).write(work.writes)
        SINK_BATCHES.inc()
        counts = {
            SinkResult.WRITTEN: written.stored,
            SinkResult.STALE: written.stale,
            SinkResult.FAILED: len(written.refused),
        }
        for result, count in counts.items():
            SINK_WRITES.labels(work.topic, result).inc(count)
        for refusal in written.refused:
            log.error("store_refuses_document", key=refusal.write.key, reason=refusal.reason)
            error = InputError(DeadLetterReason.PROCESSING_FAILED, f"refused by the store: {refusal.reason}")
            batch.set_aside(work.source(refusal), error)

    async def _set_aside(self, batch: Batch, producer: AIOKafkaProducer) -> None:
        if not batch.letters:
            return
        acknowledgements = []
        with write_errors("writing dead letters"):
            async with asyncio.timeout(_ANSWER_TIMEOUT_SECONDS):
                for record, error in batch.letters.values():
                    topic = self._routes[record.topic].topic
                    letter = dead_letter(record, error, self._topics.dead_letters(topic))
                    acknowledgements.append(await handed_over(producer, letter))
                    DEAD_LETTERS.labels(topic, error.reason).inc()
                await asyncio.gather(*acknowledgements)
        first, (_, error) = next(iter(batch.letters.items()))
        log.warning(
            "records_set_aside",
            count=len(batch.letters),
            first=str(first),
            first_reason=error.reason,
        )
        batch.letters.clear()

    async def _commit(self, timeout_seconds: float) -> None:
        """Commits what is written."""
        if self._consumer is not None:
            await self._commits.carry_out(self._consumer, self._written, timeout_seconds)

    def _forget(self) -> None:
        self._commits.forget()
        self._written.clear()

"""The worker of service engines: reads jobs, runs them in their lanes, and commits what is answered.

An offset is committed when the answer to every job before it is on its topic. So a worker that dies leaves what it had
not answered to the next, which makes the same attempt again: the process and the answer have the same names. When the
group decides anew, running jobs go on until it is known who has their records; only those that somebody else has now
are cut. If the brokers are away, reading and answers wait.
"""

import asyncio
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import structlog
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.errors import IllegalStateError

from agrajag.clock import Clock, utc_now
from agrajag.errors import TransientError
from agrajag.metrics import (
    EVENTS,
    SERVICE_ARRIVALS,
    SERVICE_CUTS,
    SERVICE_LANES,
    SERVICE_QUEUED,
    SERVICE_UNCOMMITTED,
)
from agrajag.monitor.members import Progress
from agrajag.service.answering import Again, Answering
from agrajag.service.attempts import Attempts
from agrajag.service.backlog import Backlog
from agrajag.service.engine import AnyEngine
from agrajag.service.intake import Duty, Unreadable, Work, lane_and_id, read_job
from agrajag.service.lanes import Entry, Place
from agrajag.service.patience import Patience
from agrajag.service.records import Sending
from agrajag.service.registry import engines_by_name
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.commits import Commits
from agrajag.wire.following import kafka_errors
from agrajag.wire.membership import Group, member, read_to, refuse_wrong_setup
from agrajag.wire.origin import ReceivedRecord
from agrajag.wire.outage import Outage
from agrajag.wire.topics import Topic, Topics

log = structlog.get_logger(__name__)

_POLL_SECONDS = 0.2
_ANSWER_TIMEOUT_SECONDS = 20.0
_LAST_COMMIT_TIMEOUT_SECONDS = 5.0
_CUT_TIMEOUT_SECONDS = 5.0
_JOBS = Topic.DIAGNOSIS_JOBS


@dataclass(frozen=True, slots=True)
class WorkerBounds:
    """`at_once` jobs run at a time; of each partition `uncommitted` records are read at most.

    A worker that is told to end gives running jobs the grace.
    """

    at_once: int = 32
    uncommitted: int = 100
    grace_seconds: float = 20.0
    patience: Patience = field(default_factory=Patience)


class ServiceWorker(ConsumerRebalanceListener):  # type: ignore[misc]
    """One member of the group that answers jobs; `run` it once."""

    def __init__(
        self,
        connection: KafkaConnection,
        topics: Topics,
        engines: Iterable[AnyEngine],
        attempts: Attempts,
        sender: Sending,
        *,
        bounds: WorkerBounds | None = None,
        group: Group | None = None,
        clock: Clock = utc_now,
    ) -> None:
        """`group` is `<prefix>.diagnosis` by default. Raises ConfigError for engines that do not go together."""
        bounds = bounds or WorkerBounds()
        self._connection = connection
        self._topics = topics
        self._engines = engines_by_name(engines)
        self._group = group or Group(f"{topics.prefix}.diagnosis")
        self._bounds = bounds
        self._answering = Answering(attempts, sender, topics, bounds.patience, clock)
        self._backlog: Backlog[Duty] = Backlog(bounds.at_once, bounds.uncommitted)
        self._tasks: dict[Entry[Duty], asyncio.Task[Again | None]] = {}
        self._outage = Outage("diagnosis", "kafka")
        self._consumer: AIOKafkaConsumer | None = None
        self._commits = Commits("diagnosis")
        self._moved = asyncio.Event()  # set when a job has ended
        self._alarm: asyncio.TimerHandle | None = None
        self._broken: BaseException | None = None
        self._ending = False
        self.has_assignment = False
        """False while the group decides who has which partitions."""

    @property
    def committed_at(self) -> float | None:
        """When offsets were last committed, in seconds of the monotonic clock."""
        return self._commits.last_at

    @property
    def broker_is_away(self) -> bool:
        """Whether the consumer was given up, to be made anew."""
        return self._outage.goes_on

    async def run(self) -> None:
        """Answers jobs until it is cancelled; then running jobs have their grace, and the rest stays uncommitted.

        Raises PermanentError if the brokers refuse us, ConfigError if a topic is missing or unfit.
        """
        try:
            while True:
                try:
                    await self._run_once()
                except TransientError as error:
                    await self._outage.pause(error)
        finally:
            self._ending = True
            await self._cut()

    async def progress(self, timeout_seconds: float) -> Progress | None:
        """How many jobs of each partition are not answered yet; None if the broker does not say in time."""
        consumer = self._consumer
        if consumer is None:
            return None
        found = await read_to(consumer, timeout_seconds)
        if found is None:
            return None
        return {
            place: max(0, end - position) + self._backlog.not_done(place.partition)
            for place, (end, position) in found.items()
        }

    async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        """Commits what is answered and forgets what has not begun."""
        self.has_assignment = False
        try:
            await self._commit(_LAST_COMMIT_TIMEOUT_SECONDS)
        except TransientError as error:
            log.warning("diagnosis_leaves_partitions_uncommitted", partitions=len(revoked), reason=str(error))
        self._forget()

    async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        """Goes on where these partitions were committed, and cuts the jobs that are somebody else's now."""
        self._commits.forget()
        for entry in self._backlog.take([place.partition for place in assigned]):
            self._tasks[entry].cancel()
        self.has_assignment = True
        self._begin()
        log.info("diagnosis_has_partitions", partitions=len(assigned))

    async def _run_once(self) -> None:
        """One life of the consumer. Jobs that run outlive it."""
        answers = {engine.output_topic for engine in self._engines.values()}
        await refuse_wrong_setup(self._connection, self._topics, [_JOBS], answers | {Topic.PROCESS_EVENTS})
        names = [self._topics.name(_JOBS)]
        async with member(self._connection, self._group, names, self) as consumer:
            self._consumer = consumer
            try:
                while True:
                    await self._turn(consumer)
                    if consumer.assignment():  # without partitions nothing has been tried
                        self._outage.over()
            except asyncio.CancelledError:
                await self._end_in_grace()
                raise
            finally:
                try:
                    await self._commit(_LAST_COMMIT_TIMEOUT_SECONDS)
                except TransientError as error:
                    log.warning("diagnosis_ends_uncommitted", reason=str(error))
                self._consumer = None
                self._forget()

    async def _turn(self, consumer: AIOKafkaConsumer) -> None:
        if self._broken is not None:
            raise self._broken
        for place, records in (await self._read(consumer)).items():
            if not self._backlog.holds(place.partition):
                # They came before we were told that the partition is ours: they have to come again.
                _seek_back(consumer, place, records[0].offset)
                continue
            EVENTS.labels(_JOBS).inc(len(records))
            for record in records:
                self._take_in(record)
        self._begin()
        await self._commit(_ANSWER_TIMEOUT_SECONDS)

    async def _read(self, consumer: AIOKafkaConsumer) -> dict[TopicPartition, list[ReceivedRecord]]:
        self._moved.clear()
        partitions, room = self._backlog.room()
        if self.has_assignment and not partitions and consumer.assignment():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._moved.wait(), _POLL_SECONDS)
            return {}
        places = [TopicPartition(self._topics.name(_JOBS), partition) for partition in partitions]
        with kafka_errors("reading jobs"):
            records: dict[TopicPartition, list[ReceivedRecord]] = await consumer.getmany(
                *places, timeout_ms=int(_POLL_SECONDS * 1000), max_records=room or self._bounds.uncommitted
            )
        return records

    def _take_in(self, record: ReceivedRecord) -> None:
        duty = read_job(record, self._engines)
        lane, job_id = lane_and_id(duty)
        if isinstance(duty, Unreadable) and self._is_known(duty.rest):
            duty = duty._replace(rest=None)  # another record of this job could be read, and answers it
        arrival = self._backlog.add(lane, job_id, duty, Place(record.partition, record.offset))
        if arrival is not None:
            SERVICE_ARRIVALS.labels(arrival).inc()

    def _is_known(self, rest: Work | None) -> bool:
        return rest is not None and self._backlog.lanes.knows(*lane_and_id(rest))

    def _begin(self) -> None:
        """Has every job run that may, and comes back for those that pause."""
        loop = asyncio.get_running_loop()
        lanes = self._backlog.lanes
        while not self._ending and (entry := lanes.begin(loop.time())) is not None:
            task = self._tasks[entry] = asyncio.create_task(self._run_job(entry))
            task.add_done_callback(partial(self._ended, entry))
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if not self._ending and (due := lanes.next_at()) is not None and lanes.running < self._bounds.at_once:
            self._alarm = loop.call_at(due, self._begin)
        SERVICE_LANES.set(lanes.running)
        SERVICE_QUEUED.set(len(lanes) - lanes.running)
        SERVICE_UNCOMMITTED.set(self._backlog.uncommitted)

    async def _run_job(self, entry: Entry[Duty]) -> Again | None:
        if isinstance(entry.job, Unreadable):
            await self._answering.set_aside(entry.job)
            return None
        return await self._answering.attempt(entry.job, entry.attempt)

    def _ended(self, entry: Entry[Duty], task: asyncio.Task[Again | None]) -> None:
        del self._tasks[entry]
        if task.cancelled():
            SERVICE_CUTS.inc()
            self._backlog.lanes.abandon(entry)
        elif (error := task.exception()) is not None:
            self._backlog.lanes.abandon(entry)
            self._broken = self._broken or error
            self._ending = True
        elif (again := task.result()) is not None:
            at = asyncio.get_running_loop().time() + again.pause_seconds
            self._backlog.again(entry, at, again.attempt)
        else:
            self._backlog.finish(entry)
        self._moved.set()
        self._begin()

    async def _end_in_grace(self) -> None:
        self._ending = True
        log.info("diagnosis_ends", running=len(self._tasks), grace_seconds=self._bounds.grace_seconds)
        if self._tasks:
            await asyncio.wait(list(self._tasks.values()), timeout=self._bounds.grace_seconds)

    async def _cut(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        running = list(self._tasks.values())
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=_CUT_TIMEOUT_SECONDS)

    def _forget(self) -> None:
        self.has_assignment = False
        self._commits.forget()
        self._backlog.lost()

    async def _commit(self, timeout_seconds: float) -> None:
        if self._consumer is not None:
            name = self._topics.name(_JOBS)
            committable = {
                TopicPartition(name, partition): offset
                for partition, offset in self._backlog.committable().items()
            }
            await self._commits.carry_out(self._consumer, committable, timeout_seconds)


def _seek_back(consumer: AIOKafkaConsumer, place: TopicPartition, offset: int) -> None:
    try:
        consumer.seek(place, offset)
    except IllegalStateError:
        log.info("records_of_another_owner_left", partition=place.partition)

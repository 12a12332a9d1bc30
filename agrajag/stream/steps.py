"""The strict order in which a fetch becomes outputs, table changes and an acknowledgement.

For each fetch, under the lock of its partition: compute, send the outputs and wait, write the changelog and
wait, change memory, acknowledge. Never the other way round: a changelog ahead of its outputs would make the
repetition silent, memory ahead of both would leak what was never written. Fetches that wait for the lock go
through it together, since what costs is the waiting for the brokers. If the partition is taken away or
up anew in between (its *epoch* has passed), what was computed is dropped; the fetch comes again, here or
elsewhere.
"""

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import chain
from typing import Generic, NamedTuple, TypeVar

from aiokafka import AIOKafkaProducer, ConsumerRecord
from faust.types import TP

from agrajag import metrics
from agrajag.stream.batches import BatchSender, Chain, pack
from agrajag.stream.consumer import MAX_RECORDS
from agrajag.stream.fetches import FetchApp
from agrajag.stream.memory import PartitionView
from agrajag.stream.places import Fetch
from agrajag.stream.table import ChangelogTable, Changes
from agrajag.wire.outputs import Output
from agrajag.wire.partition import partition_for

V = TypeVar("V")


class StepResult(NamedTuple, Generic[V]):
    """What a step decided: nothing has happened yet."""

    changes: Changes[V]
    outputs: Sequence[Output]
    handled: int = 0
    """How many records, from the first, this is the result of; the rest is stepped after this."""
    untold: Collection[bytes] = ()
    """The keys among the changes of which the outputs say nothing yet: a timer tells them (`telling`)."""


Step = Callable[[Sequence[ConsumerRecord], PartitionView[V]], StepResult[V]]
"""A pure decision over the first records of a fetch and what the table knows."""

TimerStep = Callable[[PartitionView[V]], StepResult[V]]
"""A decision that no record has caused."""

FAILPOINTS = ("after_compute", "after_outputs", "after_changelog", "after_memory", "after_acknowledge")


def no_failpoint(name: str) -> None:
    """In production nothing happens between two parts of the order."""


def _timed(stage: metrics.Stage) -> AbstractContextManager[object]:
    return metrics.STAGE_SECONDS.labels(stage).time()


class _Turn:
    """A fetch that waits for its partition's lock. `done` is set by whoever stepped through it."""

    __slots__ = ("done", "fetch")

    def __init__(self, fetch: Fetch) -> None:
        self.fetch = fetch
        self.done: bool | None = None


def _first_turns(line: Iterable[_Turn]) -> list[_Turn]:
    """Those from the first on that are not too much for one step."""
    turns: list[_Turn] = []
    records = 0
    for turn in line:
        if turn.done is not None:
            continue
        records += len(turn.fetch)
        if turns and records > MAX_RECORDS:
            break
        turns.append(turn)
    return turns


class StrictOrder(Generic[V]):
    """Carries out the steps of all agents and timers of one table."""

    def __init__(
        self,
        app: FetchApp,
        table: ChangelogTable[V],
        failpoint: Callable[[str], object] = no_failpoint,
        *,
        topic_label: Callable[[str], str] = str,
    ) -> None:
        """`failpoint` is told each place between two parts; `topic_label` names a topic in the metrics."""
        self.app = app
        self.table = table
        self._failpoint = failpoint
        self._topic_label = topic_label
        self._locks: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._waiting: defaultdict[TP, deque[_Turn]] = defaultdict(deque)
        self._partition_counts: dict[str, int] = {}

    async def run(self, fetch: Fetch, step: Step[V]) -> bool:
        """Step through `fetch` and acknowledge it; False if its epoch has passed and it was left alone.

        Fetches of one topic and partition that wait here together are stepped through as one, in the order of the
        calls. An exception of the step, or a Kafka error that will not pass, is raised before the acknowledgement.
        """
        line = self._waiting[fetch.tp]
        turn = _Turn(fetch)
        line.append(turn)
        try:
            async with self._locks[fetch.tp.partition]:
                if turn.done is None:
                    await self._take_turns(_first_turns(line), step)
        finally:
            if turn in line:
                line.remove(turn)
        return bool(turn.done)

    async def _take_turns(self, turns: Sequence["_Turn"], step: Step[V]) -> None:
        """Step through the fetches of `turns` as if they had come as one."""
        consumer = self.app.fetching
        current = [turn for turn in turns if consumer.is_current(turn.fetch)]
        done = bool(current) and await self._step_through([turn.fetch for turn in current], step)
        for turn in turns:
            turn.done = done and turn in current
            if turn.done:
                consumer.acknowledge(turn.fetch)
            else:
                metrics.STALE_FETCHES.inc()
        if done:
            self._failpoint("after_acknowledge")

    async def _step_through(self, fetches: Sequence[Fetch], step: Step[V]) -> bool:
        """All but the acknowledgement, for fetches of one epoch; False if that has passed meanwhile."""
        last = fetches[-1]
        partition = last.tp.partition
        rest: Sequence[ConsumerRecord] = last if len(fetches) == 1 else [*chain.from_iterable(fetches)]

        def is_current() -> bool:
            return self.app.fetching.is_current(last)

        while rest:
            if not is_current():
                return False
            with _timed(metrics.Stage.DECIDE):
                result = step(rest, self.table.view(partition))
            if not 0 < result.handled <= len(rest):
                raise ValueError(f"a step handled {result.handled} of {len(rest)} records")
            if not await self._carry_out(partition, result, is_current):
                return False
            rest = rest[result.handled :]
        return True

    async def run_timer(self, partition: int, step: TimerStep[V]) -> bool:
        """Carry out a step that no record has caused, if the partition is held and stays so; else False."""
        app = self.app
        async with self._locks[partition]:
            tenure = app.rebalancing_count

            def is_current() -> bool:
                held = partition in self.table.held and not app.rebalancing
                return held and app.rebalancing_count == tenure

            if not is_current():
                return False
            return await self._carry_out(partition, step(self.table.view(partition)), is_current)

    async def _carry_out(self, partition: int, result: StepResult[V], is_current: Callable[[], bool]) -> bool:
        # All of one input partition goes through one producer, so that it stays in order.
        producer, sender = self.app.sending(partition), BatchSender(partial(self.app.sending, partition))
        self._failpoint("after_compute")
        with _timed(metrics.Stage.OUTPUTS):
            outputs = await self._placed(producer, result.outputs)
            if not await sender.send(metrics.Stage.OUTPUTS, outputs, is_current):
                return False
        self._count_outputs(result.outputs)
        self._failpoint("after_outputs")
        with _timed(metrics.Stage.CHANGELOG):
            changes = self.table.encoded(partition, result.changes, result.untold)
            log = Chain(self.table.changelog_topic_name, partition, pack(producer.create_batch, changes.rows))
            if not await sender.send(metrics.Stage.CHANGELOG, [log], is_current):
                return False
        self._failpoint("after_changelog")
        if not is_current():
            return False
        with _timed(metrics.Stage.MERGE):
            self.table.merge(partition, changes)
        self._failpoint("after_memory")
        return True

    def _count_outputs(self, outputs: Sequence[Output]) -> None:
        for topic, count in Counter(output.topic for output in outputs).items():
            metrics.OUTPUTS.labels(self._topic_label(topic)).inc(count)

    async def _placed(self, producer: AIOKafkaProducer, outputs: Sequence[Output]) -> list[Chain]:
        """The outputs by topic and partition, packed, in the order given."""
        counts = self._partition_counts
        for topic in {output.topic for output in outputs} - counts.keys():
            counts[topic] = len(await producer.partitions_for(topic))  # fixed when the topic was created
        places: defaultdict[tuple[str, int], list[tuple[Output]]] = defaultdict(list)
        for output in outputs:
            topic, key, _, _, partition = output
            if partition is None:
                partition = partition_for(key, counts[topic])
            places[topic, partition].append((output,))
        return [
            Chain(topic, partition, pack(producer.create_batch, rows))
            for (topic, partition), rows in places.items()
        ]

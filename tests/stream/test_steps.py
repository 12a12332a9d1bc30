"""The strict order inside one process: locks, epochs, timers, refusals."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from aiokafka import AIOKafkaProducer, ConsumerRecord
from aiokafka.admin import AIOKafkaAdminClient

from agrajag.stream.consumer import Fetch
from agrajag.stream.fetches import FetchApp
from agrajag.stream.memory import PartitionView
from agrajag.stream.running import create_app, serve
from agrajag.stream.steps import Step, StepResult, StrictOrder
from agrajag.stream.table import ChangelogTable
from agrajag.wire.outputs import Output
from agrajag.wire.partition import partition_for
from tests.stream.counting import PARTITIONS, Count, Plan, count_step
from tests.stream.workers import Run
from tests.waiting import eventually

KEY = b"tenant|tool-1"
HOME = partition_for(KEY, PARTITIONS)


class Counting:
    """An app in this process with one agent that takes the step given, and what its runs returned."""

    def __init__(
        self, plan: Plan, step: Step[Count] | None = None, failpoint: Callable[[str], object] = str
    ) -> None:
        self.plan = plan
        self.app: FetchApp = create_app(plan.settings())
        self.table = ChangelogTable(
            self.app,
            name="counts",
            changelog=plan.topic("changelog"),
            partitions=PARTITIONS,
            decode=Count.decode,
            encode=Count.encode,
        )
        self.order = StrictOrder(self.app, self.table, failpoint)
        self.fetch: Fetch | None = None
        self.returned: list[bool] = []
        self.code: int | None = None
        chosen = step or (lambda records, view: count_step(plan, records, view))

        @self.app.agent(self.app.fetch_topic(plan.topic("events"), PARTITIONS))
        async def count(stream: Any) -> None:
            async for fetch in stream:
                self.fetch = fetch
                self.returned.append(await self.order.run(fetch, chosen))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        stop = asyncio.Event()
        serving = asyncio.create_task(serve(self.plan.settings(), self.app, stop))
        try:
            await eventually(
                lambda: serving.done() or (self.app.is_settled and len(self.table.held) == PARTITIONS), 60
            )
            yield
            stop.set()
        finally:
            self.code = await serving

    def counted(self, key: bytes = KEY) -> Count | None:
        return self.table.view(partition_for(key, PARTITIONS)).get(key)


async def committed(run: Run) -> int:
    """The offsets that the group has committed, summed up."""
    admin = AIOKafkaAdminClient(bootstrap_servers=run.plan.bootstrap_servers)
    await admin.start()
    try:
        offsets = await admin.list_consumer_group_offsets(run.plan.prefix)
    finally:
        await admin.close()
    return sum(
        found.offset
        for place, found in offsets.items()
        if place.topic == run.plan.topic("events") and found.offset > 0
    )


async def test_a_timer_that_removes_a_key_leaves_a_tombstone_with_the_next_revision(run: Run) -> None:
    counting = Counting(run.plan)
    async with counting.running():
        await run.send(200)
        await run.counted()
        known = counting.counted()
        assert known is not None
        removal: StepResult[Count] = StepResult([{KEY: None}], [])
        assert await counting.order.run_timer(HOME, lambda view: removal)
        assert counting.counted() is None
    last = [record for record in await run.read("changelog") if record.key == KEY][-1]
    assert last.value is None
    assert dict(last.headers) == {"revision": str(known.revision + 1).encode()}
    assert counting.code == 0


async def test_timers_of_one_partition_never_overlap(run: Run) -> None:
    def add_one(view: PartitionView[Count]) -> StepResult[Count]:
        known = view.get(KEY) or Count(0, 0, -1)
        return StepResult([{KEY: replace(known, revision=known.revision + 1, n=known.n + 1)}], [])

    counting = Counting(run.plan)
    async with counting.running():
        assert all(await asyncio.gather(*(counting.order.run_timer(HOME, add_one) for _ in range(20))))
        assert counting.counted() == Count(20, 20, -1)


async def test_a_timer_of_a_partition_that_is_not_held_does_nothing(run: Run) -> None:
    counting = Counting(run.plan)
    nothing: StepResult[Count] = StepResult([], [])
    assert not await counting.order.run_timer(HOME, lambda view: nothing)


async def _drop_the_fetch_at(run: Run, failpoint: str) -> tuple[Counting, list[ConsumerRecord]]:
    """Let Faust drop the first fetch from its queue, as a rebalance does, while it is at `failpoint`."""

    def drop(name: str) -> None:
        if name == failpoint and not counting.returned:
            assert counting.fetch is not None
            counting.app.fetching.on_dropped(counting.fetch)

    counting = Counting(run.plan, failpoint=drop)
    async with counting.running():
        async with AIOKafkaProducer(bootstrap_servers=run.plan.bootstrap_servers) as producer:
            for number in range(5):
                await producer.send_and_wait(run.plan.topic("events"), b"event-%d" % number, key=KEY)
        await eventually(lambda: (counted := counting.counted()) and counted.n == 5, 30)
        await eventually(lambda: _is_committed(run, 5), 30)
    assert counting.returned[0] is False
    assert counting.returned[-1] is True
    return counting, [record for record in await run.read("changelog") if record.key == KEY]


async def _is_committed(run: Run, events: int) -> bool:
    return await committed(run) == events


async def test_a_fetch_whose_epoch_passed_after_its_outputs_changes_nothing_and_comes_again(run: Run) -> None:
    _, changelog = await _drop_the_fetch_at(run, "after_outputs")
    assert Count.decode(changelog[-1].value).n == 5
    outputs = [record.key for record in await run.read("outputs")]
    assert set(outputs) == {b"event-%d" % number for number in range(5)}
    assert outputs.count(b"event-0") == 2


async def test_a_fetch_whose_epoch_passed_after_its_changelog_comes_again_and_counts_once(run: Run) -> None:
    _, changelog = await _drop_the_fetch_at(run, "after_changelog")
    assert Count.decode(changelog[-1].value).n == 5


async def test_a_step_that_handles_nothing_ends_the_worker_before_anything_is_committed(run: Run) -> None:
    nothing: StepResult[Count] = StepResult([], [], 0)
    counting = Counting(run.plan, lambda records, view: nothing)
    async with counting.running():
        await run.send(10)
        await eventually(lambda: counting.app.should_stop, 30)
    assert counting.code == 1
    assert await committed(run) == 0


async def test_a_record_that_the_broker_refuses_ends_the_worker_before_anything_is_committed(
    run: Run,
) -> None:
    def too_large(records: Sequence[ConsumerRecord], view: PartitionView[Count]) -> StepResult[Count]:
        return StepResult([], [Output(run.plan.topic("outputs"), b"k", b"x" * 2_000_000)], len(records))

    counting = Counting(run.plan, too_large)
    async with counting.running():
        await run.send(10)
        await eventually(lambda: counting.app.should_stop, 30)
    assert counting.code == 1
    assert await committed(run) == 0


async def test_outputs_go_where_they_are_told_and_else_where_their_key_says(run: Run) -> None:
    counting = Counting(run.plan)
    names = [run.plan.topic("outputs"), run.plan.topic("changed")]
    told = [Output(names[0], KEY, b"a"), Output(names[1], KEY, b"b", (("h", b"1"),), (HOME + 1) % PARTITIONS)]
    async with counting.running():
        result: StepResult[Count] = StepResult([], told)
        assert await counting.order.run_timer(0, lambda view: result)
    [by_key], [by_number] = await run.read("outputs"), await run.read("changed")
    assert (by_key.partition, by_key.value) == (HOME, b"a")
    assert (by_number.partition, by_number.value) == ((HOME + 1) % PARTITIONS, b"b")
    assert by_number.headers == (("h", b"1"),)


async def test_a_stop_that_does_not_end_is_given_up(run: Run) -> None:
    settings = replace(run.plan.settings(), stop_seconds=0.5)
    app, stop, given_up = create_app(settings), asyncio.Event(), asyncio.Event()
    orderly = app.stop
    app.stop = asyncio.Event().wait  # type: ignore[method-assign,assignment]
    serving = asyncio.create_task(serve(settings, app, stop, given_up.set))
    await eventually(lambda: app.started, 30)
    stop.set()
    assert await serving == 0
    assert given_up.is_set()
    await orderly()


async def test_fetches_are_of_at_most_500_records_and_leave_no_offset_out(run: Run) -> None:
    fetched: list[list[int]] = []

    def note(records: Sequence[ConsumerRecord], view: PartitionView[Count]) -> StepResult[Count]:
        fetched.append([record.offset for record in records])
        return StepResult([], [], len(records))

    async with AIOKafkaProducer(bootstrap_servers=run.plan.bootstrap_servers) as producer:
        await asyncio.gather(
            *[
                await producer.send(run.plan.topic("events"), b"%d" % number, key=KEY)
                for number in range(5_000)
            ]
        )
    async with Counting(run.plan, note).running():
        await eventually(lambda: sum(map(len, fetched)) >= 5_000, 30)
    assert max(map(len, fetched)) == 500
    assert [offset for offsets in fetched for offset in offsets] == list(range(5_000))


async def test_a_changelog_record_that_cannot_be_read_is_left_out_and_stops_nothing(run: Run) -> None:
    async with AIOKafkaProducer(bootstrap_servers=run.plan.bootstrap_servers) as producer:
        for value in (b"no value of ours", Count(1, 7, 0).encode(), b'{"n":1}'):
            await producer.send_and_wait(run.plan.topic("changelog"), value, key=KEY)
    counting = Counting(run.plan)
    async with counting.running():
        assert counting.counted() == Count(1, 7, 0)

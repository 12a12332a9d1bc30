"""The strict order inside one process: locks, epochs, timers, refusals."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from aiokafka import AIOKafkaProducer, ConsumerRecord

from agrajag import metrics
from agrajag.stream.memory import PartitionView
from agrajag.stream.places import Fetch
from agrajag.stream.steps import StepResult
from agrajag.wire.outputs import Output
from tests.stream.counting import PARTITIONS, Count, count_step
from tests.stream.in_process import HOME, KEY, Counting, committed
from tests.stream.workers import Run
from tests.waiting import eventually


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


async def test_fetches_that_wait_for_their_partition_together_are_one_step(run: Run) -> None:
    seen: list[list[int]] = []

    def step(records: Sequence[ConsumerRecord], view: PartitionView[Count]) -> StepResult[Count]:
        seen.append([record.offset for record in records])
        return count_step(run.plan, records, view)

    counting = Counting(run.plan)
    counting.may_work.clear()
    async with counting.running():
        await run.send(200)
        fetch = await eventually(lambda: counting.fetch)
        assert fetch is not None
        parts = [Fetch([record], fetch.tp, fetch.epoch) for record in fetch[:4]]
        assert all(await asyncio.gather(*(counting.order.run(part, step) for part in parts)))
        counting.may_work.set()
        await run.counted()
    first, *others = [record.offset for record in fetch[:4]]
    assert seen == [[first], others]


async def test_a_waiting_fetch_of_an_older_epoch_is_left_alone_and_the_others_are_done(run: Run) -> None:
    counting = Counting(run.plan)
    counting.may_work.clear()
    async with counting.running():
        await run.send(200)
        fetch = await eventually(lambda: counting.fetch)
        assert fetch is not None
        epochs = (fetch.epoch, fetch.epoch - 1, fetch.epoch)
        parts = [Fetch([record], fetch.tp, epoch) for record, epoch in zip(fetch[:3], epochs, strict=True)]
        done = await asyncio.gather(
            *(
                counting.order.run(part, lambda records, view: count_step(run.plan, records, view))
                for part in parts
            )
        )
        assert done == [True, False, True]
        counting.may_work.set()
        await run.counted()


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


async def test_records_written_are_counted_by_topic_under_the_label_given(run: Run) -> None:
    def written() -> float:
        return metrics.REGISTRY.get_sample_value("agrajag_outputs_total", {"topic": "some-label"}) or 0.0

    before = written()
    labels = {run.plan.topic("outputs"): "some-label"}
    counting = Counting(run.plan, topic_label=labels.__getitem__)
    outputs = [Output(run.plan.topic("outputs"), KEY, b"a")] * 3
    async with counting.running():
        result: StepResult[Count] = StepResult([], outputs)
        assert await counting.order.run_timer(0, lambda view: result)
    assert written() == before + 3

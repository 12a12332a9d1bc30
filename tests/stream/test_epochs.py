"""What becomes of fetches that Faust throws out of its queues: each comes again, none is committed over."""

from aiokafka import AIOKafkaProducer, ConsumerRecord

from agrajag import metrics
from tests.stream.counting import Count
from tests.stream.in_process import KEY, Counting, committed
from tests.stream.workers import Run
from tests.waiting import eventually


async def _send(run: Run, first: int, count: int) -> None:
    async with AIOKafkaProducer(bootstrap_servers=run.plan.bootstrap_servers) as producer:
        for number in range(first, first + count):
            await producer.send_and_wait(run.plan.topic("events"), b"event-%d" % number, key=KEY)


async def _drop_the_fetch_at(run: Run, failpoint: str) -> tuple[Counting, list[ConsumerRecord]]:
    """Let Faust drop the first fetch from its queue, as a rebalance does, while it is at `failpoint`."""

    def drop(name: str) -> None:
        if name == failpoint and not counting.returned:
            assert counting.fetch is not None
            counting.app.fetching.on_dropped(counting.fetch)

    counting = Counting(run.plan, failpoint=drop)
    async with counting.running():
        await _send(run, 0, 5)
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


async def test_when_a_queued_fetch_is_dropped_the_one_in_work_before_it_comes_again_too(run: Run) -> None:
    def drops() -> float:
        return metrics.REGISTRY.get_sample_value("agrajag_dropped_fetches_total") or 0.0

    def one_is_dropped() -> bool:
        counting.app.flow_control.clear()
        return drops() > before

    counting, before = Counting(run.plan), drops()
    async with counting.running():
        counting.may_work.clear()
        await _send(run, 0, 1)
        await eventually(lambda: counting.fetch is not None)
        await _send(run, 1, 1)
        await eventually(one_is_dropped)
        counting.may_work.set()
        await eventually(lambda: _is_committed(run, 2), 30)
        counted = counting.counted()
    assert counted is not None
    assert (counted.n, counted.applied) == (2, 1)
    assert {record.key for record in await run.read("outputs")} == {b"event-0", b"event-1"}
    assert counting.returned[0] is False

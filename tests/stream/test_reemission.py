"""Re-emission inside one process: what is written again, and how much of it fits."""

from agrajag.stream.batches import BATCH_BYTES
from agrajag.stream.memory import PartitionView
from agrajag.stream.reemission import KEYS_AT_A_TIME, Reemission
from agrajag.stream.steps import StepResult
from tests.stream.counting import Count
from tests.stream.in_process import HOME, Counting
from tests.stream.workers import Run


async def test_as_many_values_as_are_taken_at_a_time_may_be_larger_than_a_record_batch(run: Run) -> None:
    keys = [b"%04d" % number + b"k" * 2_000 for number in range(KEYS_AT_A_TIME)]
    assert sum(map(len, keys)) > BATCH_BYTES

    def write_all(view: PartitionView[Count]) -> StepResult[Count]:
        return StepResult([{key: Count(7, 1, 0)} for key in keys], [])

    counting = Counting(run.plan)
    reemission = Reemission(counting.order, late_record_seconds=60.0, publish=lambda *_: [])
    async with counting.running():
        assert await counting.order.run_timer(HOME, write_all)
        assert await reemission.reemit(0.0) == len(keys)
    written = [record for record in await run.read("changelog") if record.partition == HOME and record.value]
    assert sorted(record.key for record in written) == sorted(keys * 2)
    assert {Count.decode(record.value) for record in written} == {Count(7, 1, 0)}

"""A worker as a process: starting, stopping, recovering, giving up."""

import signal
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer

from agrajag.embedded import ports
from agrajag.errors import ConfigError
from agrajag.stream.table import refuse_lost_table
from tests.stream.counting import PARTITIONS, Count, Plan
from tests.stream.workers import Run, run_of
from tests.waiting import eventually

pytestmark = pytest.mark.slow

ALL = range(PARTITIONS)


async def test_a_worker_counts_opens_no_port_makes_no_directory_and_stops_with_0(run: Run) -> None:
    worker = run.start()
    await run.send(2_000)
    await run.verify()
    await worker.settled(ALL)
    assert worker.status()["listening"] == 0
    assert worker.stop() == 0, worker.log()
    assert not list(Path(__file__).parents[2].glob(f"{run.plan.prefix}*"))


async def test_a_clean_stop_commits_what_is_done_so_that_nothing_comes_again(run: Run) -> None:
    first = run.start()
    await run.send(1_000)
    await run.counted()
    assert first.stop() == 0
    outputs = len(await run.read("outputs"))
    second = run.start()
    await second.settled(ALL)
    await run.send(1)
    await run.counted()
    assert len(await run.read("outputs")) == outputs + 1


async def test_recovery_ignores_a_late_record_of_lower_revision(run: Run) -> None:
    worker = run.start()
    await run.send(400)
    await run.counted()
    worker.stop()
    key, known = next((key, count) for key, count in (await run.table()).items() if not key.endswith(b"twin"))
    [partition] = {record.partition for record in await run.read("changelog") if record.key == key}
    late = Count(known.revision - 1, 1, 0)
    async with AIOKafkaProducer(bootstrap_servers=run.plan.bootstrap_servers) as producer:
        await producer.send_and_wait(run.plan.topic("changelog"), late.encode(), key=key, partition=partition)
    second = run.start()
    await second.settled(ALL)
    assert second.status()["stale"] == 1
    await run.send(400)
    await run.verify()


async def test_what_the_predecessor_wrote_lately_is_written_again_with_its_revision(run: Run) -> None:
    first = run.start()
    await run.send(400)
    await run.counted()
    first.kill()
    table, written = await run.table(), await _written(run)
    second = run.start(late_record_seconds=120.0)
    await eventually(lambda: _written_again(run, written), 60)
    assert await run.table() == table
    await run.verify()
    assert second.stop() == 0


async def test_what_was_written_after_taking_partitions_is_written_again_when_no_record_can_be_late(
    run: Run,
) -> None:
    worker = run.start(late_record_seconds=8.0)
    await worker.settled(ALL)
    await run.send(400)
    await run.counted()
    table, written = await run.table(), await _written(run)
    await eventually(lambda: _written_again(run, written), 60)
    assert await run.table() == table
    assert worker.stop() == 0


async def _written(run: Run) -> tuple[int, int]:
    return len(await run.read("changed")), len(await run.read("changelog"))


async def _written_again(run: Run, before: tuple[int, int]) -> bool:
    values = len(await run.table())
    assert await _written(run) == (before[0] + values // 2, before[1] + values)
    return True


async def test_an_agent_that_raises_ends_the_worker_with_1_and_nothing_is_lost(run: Run) -> None:
    worker = run.start(trouble="raise", trouble_at="event-700")
    await run.send(1_000)
    assert await worker.ended() == 1
    assert "a bug, for the test's sake" in worker.log()
    run.start()
    await run.verify()


@pytest.mark.parametrize(("trouble", "cause"), [("block", "blocked"), ("hang", "no_progress")])
async def test_a_worker_that_stands_still_ends_itself_with_1_and_nothing_is_lost(
    run: Run, trouble: str, cause: str
) -> None:
    worker = run.start(trouble=trouble, trouble_at="event-300", stall_seconds=4.0)
    await run.send(500)
    assert await worker.ended() == 1
    assert f'"cause": "{cause}"' in worker.log()
    run.start()
    await run.verify()


async def test_the_markers_of_transactions_are_holes_that_stop_nothing(run: Run) -> None:
    worker = run.start(stall_seconds=4.0)
    async with AIOKafkaProducer(
        bootstrap_servers=run.plan.bootstrap_servers, transactional_id=run.plan.prefix
    ) as producer:
        for start in range(0, 200, 20):
            async with producer.transaction():
                await run.send_by(producer, 20)
            assert len(run.sent) == start + 20
    await run.verify()
    await worker.settled(ALL)
    worker_outlives_its_watchdog = worker.status()["told"]
    await eventually(lambda: worker.status()["told"] > worker_outlives_its_watchdog + 6.0)
    assert worker.stop() == 0, worker.log()


async def test_a_start_without_a_broker_waits_says_so_and_ends_with_1(
    topic_prefix: str, tmp_path: Path
) -> None:
    with run_of(f"127.0.0.1:{ports.pick_free()}", topic_prefix, tmp_path) as run:
        worker = run.start(broker_wait_seconds=1.0)
        assert await worker.ended() == 1
        assert "waiting_for_kafka" in worker.log()
        assert "gave_up" in worker.log()
        assert "Traceback" not in worker.log()


async def test_a_worker_that_waits_for_the_broker_can_be_stopped(topic_prefix: str, tmp_path: Path) -> None:
    with run_of(f"127.0.0.1:{ports.pick_free()}", topic_prefix, tmp_path) as run:
        worker = run.start()
        await eventually(lambda: "waiting_for_kafka" in worker.log())
        worker.process.send_signal(signal.SIGINT)
        assert await worker.ended() == 0


def _client(plan: Plan) -> dict[str, object]:
    return plan.settings().connection.client_options()


async def test_an_empty_changelog_beside_changes_that_were_published_is_refused(run: Run) -> None:
    async with AIOKafkaProducer(bootstrap_servers=run.plan.bootstrap_servers) as producer:
        await producer.send_and_wait(run.plan.topic("changed"), b"{}", key=b"k")
    with pytest.raises(ConfigError, match=r"changelog.v1 is empty but .*changed.v1 is not"):
        await refuse_lost_table(run.plan.topic("changelog"), run.plan.topic("changed"), **_client(run.plan))


async def test_a_crash_right_after_the_first_output_is_not_taken_for_a_lost_table(run: Run) -> None:
    worker = run.start(die_at="after_outputs")
    await run.send(10)
    assert await worker.ended() == -signal.SIGKILL
    run.start()
    await run.verify()


async def test_a_topic_that_is_missing_is_named(run: Run) -> None:
    with pytest.raises(ConfigError, match=r"nowhere.v1 does not exist"):
        await refuse_lost_table(run.plan.topic("nowhere"), run.plan.topic("changed"), **_client(run.plan))

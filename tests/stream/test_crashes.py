"""Nothing is lost and nothing is counted twice, whatever is killed. Kafka is real, and so is kill -9.

Here a count and its twin show that changes of one group are whole, and memory shows what it holds; the many kills are
`tests.pipeline.test_crashes`'s, where the real worker dies.
"""

import asyncio
import random
import signal
from itertools import chain

import pytest

from agrajag.embedded import EmbeddedKafka
from tests.stream.counting import PARTITIONS
from tests.stream.workers import Run, Worker
from tests.waiting import eventually

pytestmark = pytest.mark.slow
RANDOM = random.Random(42)
AROUND_THE_CHANGELOG = ("after_outputs", "after_changelog", "after_memory")
ALL = range(PARTITIONS)
PATIENCE_SECONDS = 90.0  # two cores may be busy with other things


async def test_nothing_is_lost_when_a_worker_dies_before_or_behind_its_changelog(run: Run) -> None:
    for number, failpoint in enumerate(AROUND_THE_CHANGELOG):
        worker = run.start(die_at=failpoint, die_after=number)
        await run.send(800)
        assert await worker.ended() == -signal.SIGKILL, worker.log()
    run.start()
    await run.verify()


async def test_nothing_is_lost_when_a_worker_is_killed_at_random_points(run: Run) -> None:
    worker = run.start(pause_seconds=0.2)
    sending = asyncio.create_task(run.send(2_000, per_second=400))
    for _ in range(3):
        await worker.settled()
        await asyncio.sleep(
            RANDOM.uniform(0, 0.8)
        )  # the point at which it is killed, not a wait for anything
        worker.kill()
        worker = run.start(pause_seconds=RANDOM.choice([0, 0.2]))
    await sending
    await run.verify()


async def test_nothing_is_lost_when_the_broker_is_killed(run_on_own_kafka: tuple[Run, EmbeddedKafka]) -> None:
    run, broker = run_on_own_kafka
    worker = run.start(pause_seconds=0.1, session_timeout_seconds=3.0)
    await worker.settled()
    for _ in range(2):
        sending = asyncio.create_task(run.send(600, per_second=300))
        await asyncio.sleep(RANDOM.uniform(0.2, 1.5))
        broker.kill()
        await asyncio.to_thread(broker.restart)
        await sending
    await run.verify()
    assert worker.process.poll() is None, worker.log()
    assert worker.stop() == 0, worker.log()


async def test_nothing_is_lost_when_workers_join_leave_and_die(run: Run) -> None:
    first = run.start(pause_seconds=0.1)
    await first.settled(ALL)
    sending = asyncio.create_task(run.send(3_000, per_second=300))
    second = run.start()
    await eventually(lambda: _share_all(first, second), PATIENCE_SECONDS)
    first.kill()
    await second.settled(ALL, PATIENCE_SECONDS)
    first = run.start()
    await eventually(lambda: _share_all(first, second), PATIENCE_SECONDS)
    assert second.stop() == 0, second.log()
    await first.settled(ALL, PATIENCE_SECONDS)
    await sending
    await run.verify()


def _share_all(*workers: Worker) -> bool:
    """Each holds a part, together they hold all, and no key of a partition that has left is in memory."""
    told = [worker.status() for worker in workers]
    held = [status.get("held", []) for status in told]
    if not all(held) or sorted(chain(*held)) != list(ALL):
        return False
    return all({int(partition) for partition in status["keys"]} <= set(status["held"]) for status in told)

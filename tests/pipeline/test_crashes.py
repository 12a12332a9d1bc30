"""Whatever dies, the outcome is that of a run in which nothing did: no event lost, no other document, no other job."""

import asyncio
import random
import signal
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from agrajag.embedded import EmbeddedKafka, EmbeddedStore
from agrajag.model.events import ToolCallError
from agrajag.model.health import ToolHealth
from agrajag.sink import compare
from agrajag.store import Store
from agrajag.stream.steps import FAILPOINTS
from agrajag.wire.clients import KafkaConnection
from tests.pipeline.load import errors
from tests.pipeline.runs import Run, create_topics, ids_of, run_of, sent

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
EVENTS = 5_000
PATIENCE_SECONDS = 120.0
RANDOM = random.Random(11)


@dataclass(frozen=True)
class Undisturbed:
    """What became of the events where nothing died."""

    events: list[ToolCallError]
    documents: dict[str, Any]
    job_ids: set[str]


def comparable(documents: dict[str, ToolHealth]) -> dict[str, Any]:
    """Documents without what the broker's append times give: revisions and the ends of leases."""
    excluded: Any = {"revision": True, "cooldowns": {"__all__": {"lease_until"}}}
    return {key: health.model_dump(exclude=excluded) for key, health in documents.items()}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def undisturbed(kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    events = errors(EVENTS)
    with run_of(
        kafka.bootstrap_servers, f"undisturbed-{id(events)}", tmp_path_factory.mktemp("undisturbed")
    ) as run:
        await create_topics(run)
        run.start()
        await run.send(map(sent, events))
        await run.answered(ids_of(events), PATIENCE_SECONDS)
        documents, jobs = await run.documents(), await run.jobs()
    assert len(jobs) > 100
    return Undisturbed(events, comparable(documents), {job.job_id for job in jobs})


async def assert_as_undisturbed(run: Run, expected: Undisturbed) -> None:
    """Every event is answered, and documents, table and job ids are those of the undisturbed run."""
    await run.answered(ids_of(expected.events), PATIENCE_SECONDS)

    async def all_equal() -> bool:
        documents = await run.documents()
        assert comparable(documents) == expected.documents
        entries = await run.entries()
        assert {key: entry.health for key, entry in entries.items()} == documents
        return True

    await run.settled(all_equal, PATIENCE_SECONDS)
    assert {job.job_id for job in await run.jobs()} == expected.job_ids
    assert await run.dead_letters() == []


@pytest_asyncio.fixture
async def run_with_store(
    run: Run, store: EmbeddedStore, database_name: str
) -> AsyncIterator[tuple[Run, Store]]:
    async with await Store.open(store.uri, database_name) as opened:
        yield run, opened


async def test_worker_and_sink_killed_at_random_points_lose_and_change_nothing(
    run_with_store: tuple[Run, Store], undisturbed: Undisturbed, store: EmbeddedStore, database_name: str
) -> None:
    run, mirror = run_with_store
    environment = {
        "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": run.plan.bootstrap_servers,
        "AGRAJAG_TOPICS_PREFIX": run.plan.prefix,
        "AGRAJAG_TOPICS_PARTITIONS": str(run.plan.topics.partitions),
        "AGRAJAG_MONGO_URI": store.uri,
        "AGRAJAG_MONGO_DATABASE": database_name,
    }
    starts: list[Callable[[], Any]] = [run.start, lambda: run.start_role("sink", environment)]
    processes = [start() for start in starts]
    sending = asyncio.create_task(run.send(map(sent, undisturbed.events), per_second=250))
    for kill in range(20):
        # The point at which it dies is the random thing here; nothing is waited for.
        await asyncio.sleep(RANDOM.uniform(0.3, 1.2))
        victim = kill % 2
        processes[victim].send_signal(signal.SIGKILL)
        processes[victim].wait()
        processes[victim] = starts[victim]()
    await sending
    await assert_as_undisturbed(run, undisturbed)

    async def mirrored() -> bool:
        books = await compare(KafkaConnection(run.plan.bootstrap_servers), run.plan.topics, mirror)
        assert books.differences == ()
        return True

    await run.settled(mirrored, PATIENCE_SECONDS)


async def test_a_worker_killed_between_any_two_parts_of_the_order_changes_nothing(
    run: Run, undisturbed: Undisturbed
) -> None:
    events = undisturbed.events
    share = len(events) // len(FAILPOINTS)
    for number, failpoint in enumerate(FAILPOINTS):
        worker = run.start(die_at=failpoint, die_after=number)
        last = number == len(FAILPOINTS) - 1
        await run.send(map(sent, events[number * share : None if last else (number + 1) * share]))
        assert await asyncio.to_thread(worker.wait, PATIENCE_SECONDS) == -signal.SIGKILL, run.logs()
    run.start()
    await assert_as_undisturbed(run, undisturbed)


async def test_workers_that_join_leave_and_die_change_nothing(run: Run, undisturbed: Undisturbed) -> None:
    first = run.start()
    sending = asyncio.create_task(run.send(map(sent, undisturbed.events), per_second=250))
    await asyncio.sleep(RANDOM.uniform(2, 3))
    second = run.start()
    await asyncio.sleep(RANDOM.uniform(4, 6))
    first.send_signal(signal.SIGKILL)
    await asyncio.sleep(RANDOM.uniform(1, 3))
    run.start()
    await asyncio.sleep(RANDOM.uniform(3, 5))
    second.send_signal(signal.SIGTERM)
    await sending
    await assert_as_undisturbed(run, undisturbed)
    assert await asyncio.to_thread(second.wait, 30) == 0


async def test_a_broker_killed_five_times_changes_nothing(
    own_kafka: Callable[[], EmbeddedKafka], undisturbed: Undisturbed, topic_prefix: str, tmp_path: Path
) -> None:
    broker = own_kafka()
    with run_of(broker.bootstrap_servers, topic_prefix, tmp_path) as run:
        await create_topics(run)
        worker = run.start(session_timeout_seconds=3.0)
        sending = asyncio.create_task(run.send(map(sent, undisturbed.events), per_second=200))
        for _ in range(5):
            await asyncio.sleep(RANDOM.uniform(0.5, 3))
            broker.kill()
            await asyncio.to_thread(broker.restart)
        await sending
        await assert_as_undisturbed(run, undisturbed)
        assert worker.poll() is None

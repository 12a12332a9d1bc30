"""Whatever dies, the outcome is that of a run in which nothing did: no event lost, no other document, no other job."""

import asyncio
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from agrajag.embedded import EmbeddedKafka, EmbeddedStore
from agrajag.model.answers import CommandResult, HealthCommand
from agrajag.model.enums import CommandOutcome
from agrajag.model.health import ToolHealth
from agrajag.sink import compare
from agrajag.store import Store
from agrajag.stream.steps import FAILPOINTS
from agrajag.stream.worker import AGENTS
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.topics import Topic
from tests.pipeline.load import Phases, phases
from tests.pipeline.runs import Run, create_topics, ids_of, run_of, sent

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
EVENTS = 5_000
PATIENCE_SECONDS = 120.0
RANDOM = random.Random(11)


@dataclass(frozen=True)
class Undisturbed:
    """What became of the events where nothing died."""

    load: Phases
    documents: dict[str, Any]
    job_ids: set[str]
    outcomes: dict[str, CommandOutcome]


def comparable(documents: dict[str, ToolHealth]) -> dict[str, Any]:
    """Documents without what the broker's append times give: revisions and the ends of leases.

    And, where a tool has connections, without which agent came first: that makes the document.
    """
    excluded: Any = {"revision": True, "cooldowns": {"__all__": {"lease_until"}}}
    return {
        key: health.model_dump(
            exclude=excluded | {"created_at": True} if health.link.connections else excluded
        )
        for key, health in documents.items()
    }


async def first_outcomes(run: Run) -> dict[str, CommandOutcome]:
    """How each command ended when it was first decided; a repeat is told that it was carried out before."""
    outcomes: dict[str, CommandOutcome] = {}
    for record in await run.read(run.plan.topics.name(Topic.COMMAND_RESULTS)):
        result = CommandResult.from_json(record.value)
        outcomes.setdefault(result.command_id, result.outcome)
    return outcomes


async def send_in_phases(
    run: Run, load: Phases, per_second: float = 0, disturbances: Sequence[Callable[[], Awaitable[None]]] = ()
) -> None:
    """Each phase, its disturbance meanwhile, and then wait until the workers are through with it."""
    for phase, disturb in zip_longest((load.first, load.second), disturbances):
        sending = asyncio.create_task(run.send(map(sent, phase), per_second))
        if disturb is not None:
            await disturb()
        await sending
        await run.caught_up(PATIENCE_SECONDS)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def undisturbed(kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    load = phases(EVENTS)
    with run_of(
        kafka.bootstrap_servers, f"undisturbed-{id(load)}", tmp_path_factory.mktemp("undisturbed")
    ) as run:
        await create_topics(run)
        run.start()
        await send_in_phases(run, load)
        documents, jobs, outcomes = await run.documents(), await run.jobs(), await first_outcomes(run)
    assert len(jobs) > 100
    assert any(health.link.down_since for health in documents.values())
    assert any(health.history and health.history[0].by == "auto-clear" for health in documents.values())
    commands = {event.command_id for event in load.events if isinstance(event, HealthCommand)}
    assert outcomes.keys() == commands
    assert Counter(outcomes.values())[CommandOutcome.APPLIED] > 100
    return Undisturbed(load, comparable(documents), {job.job_id for job in jobs}, outcomes)


async def assert_as_undisturbed(run: Run, expected: Undisturbed) -> None:
    """Every error is answered, and documents, table and job ids are those of the undisturbed run."""
    await run.answered(ids_of(expected.load.events), PATIENCE_SECONDS)

    async def all_equal() -> bool:
        documents = await run.documents()
        found = comparable(documents)
        # One by one, for a failure that can be read.
        for key in expected.documents.keys() | found.keys():
            assert found.get(key) == expected.documents.get(key), key
        entries = await run.entries()
        assert {key: entry.health for key, entry in entries.items() if entry.health} == documents
        return True

    await run.settled(all_equal, PATIENCE_SECONDS)
    assert {job.job_id for job in await run.jobs()} == expected.job_ids
    assert await first_outcomes(run) == expected.outcomes
    for agent in AGENTS:
        assert await run.dead_letters(agent.source) == []


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

    async def ten_kills() -> None:
        for kill in range(10):
            # The point at which it dies is the random thing here; nothing is waited for.
            await asyncio.sleep(RANDOM.uniform(0.3, 1.2))
            victim = kill % 2
            processes[victim].send_signal(signal.SIGKILL)
            processes[victim].wait()
            processes[victim] = starts[victim]()

    await send_in_phases(run, undisturbed.load, 250, [ten_kills, ten_kills])
    await assert_as_undisturbed(run, undisturbed)

    async def mirrored() -> bool:
        books = await compare(KafkaConnection(run.plan.bootstrap_servers), run.plan.topics, mirror)
        assert books.differences == ()
        return True

    await run.settled(mirrored, PATIENCE_SECONDS)


async def test_a_worker_killed_between_any_two_parts_of_the_order_changes_nothing(
    run: Run, undisturbed: Undisturbed
) -> None:
    load = undisturbed.load
    run.start()
    await run.send(map(sent, load.first))
    await run.caught_up(PATIENCE_SECONDS)
    run.close()
    share = len(load.second) // len(FAILPOINTS)
    for number, failpoint in enumerate(FAILPOINTS):
        worker = run.start(die_at=failpoint, die_after=number)
        last = number == len(FAILPOINTS) - 1
        await run.send(map(sent, load.second[number * share : None if last else (number + 1) * share]))
        assert await asyncio.to_thread(worker.wait, PATIENCE_SECONDS) == -signal.SIGKILL, run.logs()
    run.start()
    await run.caught_up(PATIENCE_SECONDS)
    await assert_as_undisturbed(run, undisturbed)


async def test_workers_that_join_leave_and_die_change_nothing(run: Run, undisturbed: Undisturbed) -> None:
    workers = [run.start()]

    async def one_joins_and_one_dies() -> None:
        await asyncio.sleep(RANDOM.uniform(2, 3))
        workers.append(run.start())
        await asyncio.sleep(RANDOM.uniform(4, 6))
        workers[0].send_signal(signal.SIGKILL)

    async def one_joins_and_one_leaves() -> None:
        await asyncio.sleep(RANDOM.uniform(1, 3))
        workers.append(run.start())
        await asyncio.sleep(RANDOM.uniform(3, 5))
        workers[1].send_signal(signal.SIGTERM)

    await send_in_phases(run, undisturbed.load, 250, [one_joins_and_one_dies, one_joins_and_one_leaves])
    await assert_as_undisturbed(run, undisturbed)
    assert await asyncio.to_thread(workers[1].wait, 30) == 0


async def test_a_broker_killed_five_times_changes_nothing(
    own_kafka: Callable[[], EmbeddedKafka], undisturbed: Undisturbed, topic_prefix: str, tmp_path: Path
) -> None:
    broker = own_kafka()
    with run_of(broker.bootstrap_servers, topic_prefix, tmp_path) as run:
        await create_topics(run)
        worker = run.start(session_timeout_seconds=3.0)

        async def kills(times: int) -> None:
            for _ in range(times):
                await asyncio.sleep(RANDOM.uniform(0.5, 3))
                broker.kill()
                await asyncio.to_thread(broker.restart)

        await send_in_phases(run, undisturbed.load, 200, [partial(kills, 2), partial(kills, 3)])
        await assert_as_undisturbed(run, undisturbed)
        assert worker.poll() is None

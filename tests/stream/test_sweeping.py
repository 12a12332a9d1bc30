"""The sweep over a table: a week of days leaves it as large as two, and a running worker tells what has gone."""

import asyncio
import math
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer
from faust.types import TP

from agrajag.core.policy import Policy
from agrajag.documents.rule_files import bundled_rules
from agrajag.embedded import EmbeddedKafka
from agrajag.metrics import SweptKind
from agrajag.model.enums import Scope
from agrajag.model.events import ToolCallError
from agrajag.model.health import HealthEntry
from agrajag.model.keys import health_key
from agrajag.stream.places import Progress, lag_seconds
from agrajag.stream.running import serve
from agrajag.stream.steps import StepResult
from agrajag.stream.sweeping import SweepStep, due_keys
from agrajag.stream.worker import build_worker
from agrajag.wire.origin import Origins
from agrajag.wire.outputs import REVISION_HEADER
from agrajag.wire.topics import Topic, Topics
from tests.builders import NOW, an_error
from tests.pipeline.process import PARTITIONS
from tests.pipeline.runs import create_topics as create_pipeline_topics
from tests.pipeline.runs import run_of as pipeline_of
from tests.pipeline.runs import sent
from tests.stream.in_process import HOME, KEY, Counting
from tests.stream.test_triaging import REFUSED, Partition, of
from tests.stream.workers import Run
from tests.waiting import eventually

SEARCH = health_key("acme", Scope.PROJECT, "essays", "search").encode()


class Days(Partition):
    """One partition whose clock moves, swept each hour; `told` are the keys whose tombstone went out."""

    def __init__(self) -> None:
        super().__init__(topics=Topics("test", 1))
        self.told: set[bytes] = set()

    def hour(self, events: list[ToolCallError]) -> None:
        """Take the events of the hour that begins now, then let it pass."""
        self.run([self.record(event.to_json(), self.now) for event in events])
        self.now += timedelta(hours=1)
        view = self.memory.view(0)
        step = SweepStep(self.around, 0, due_keys(view, self.now))
        result = step(view)
        self.keep(result)
        self.told |= {output.key for output in of(Topic.HEALTH_CHANGED, result.outputs) if not output.value}


def hour_of_a_day(day: int, hour: int) -> Iterator[ToolCallError]:
    """What goes wrong in an hour: twelve tools for everybody, each day's own users, each hour's own sessions."""
    at = NOW + timedelta(days=day, hours=hour)
    for number in range(12):
        yield an_error(
            event_id=f"{day}-{hour}-{number}", occurred_at=at, tool_name=f"tool-{number}", http_status=503
        )
    for number in range(5):
        user_id = f"user-{day}-{number}"
        yield an_error(event_id=f"{day}-{hour}-u{number}", occurred_at=at, user_id=user_id, http_status=403)
        session_id = f"session-{day}-{hour}-{number}"
        yield an_error(
            event_id=f"{day}-{hour}-s{number}",
            occurred_at=at,
            tool_name="client_files",
            session_id=session_id,
        )


def test_after_a_week_of_equal_days_the_table_is_as_large_as_after_a_few() -> None:
    days = Days()
    sizes = []
    for day in range(9):
        for hour in range(24):
            days.hour(list(hour_of_a_day(day, hour)))
        held = [days.memory.view(0).get(key) for key in days.memory.view(0)]
        sizes.append((len(held), round(sum(len(days.codec.encode(entry)) for entry in held if entry), -4)))
    assert len(set(sizes[2:])) == 1, sizes
    assert len(days.told) > 5 * 24 * 7


def a_partition_with(*events: ToolCallError) -> Partition:
    partition = Partition()
    partition.run(partition.records(events))
    return partition


def swept(partition: Partition, **later: float) -> tuple[SweepStep, StepResult[HealthEntry]]:
    """Sweep what is due so much later, and keep the result."""
    partition.now = NOW + timedelta(**later)
    view = partition.memory.view(partition.number)
    step = SweepStep(partition.around, partition.number, due_keys(view, partition.now))
    result = step(view)
    partition.keep(result)
    return step, result


def test_what_has_gone_is_told_by_a_tombstone_kept_as_gone_for_a_day_and_then_forgotten() -> None:
    partition = a_partition_with(an_error(http_status=429))
    before = partition.memory.view(partition.number).get(SEARCH)
    assert before is not None
    assert swept(partition, hours=3)[1] == StepResult([], [])
    step, result = swept(partition, hours=3, minutes=20)
    assert +step.taken == {SweptKind.DOCUMENT: 1, SweptKind.COOLDOWN: 1}
    (tombstone,) = result.outputs
    assert (tombstone.key, tombstone.value) == (SEARCH, None)
    assert dict(tombstone.headers)[REVISION_HEADER] == b"%d" % (before.revision + 1)
    gone = partition.memory.view(partition.number).get(SEARCH)
    assert gone == HealthEntry(revision=before.revision + 1, applied=before.applied)
    assert swept(partition, hours=27)[1] == StepResult([], [])
    step, result = swept(partition, hours=28)
    assert +step.taken == {SweptKind.GONE: 1}
    assert (list(result.changes), result.outputs) == ([{SEARCH: None}], [])
    assert len(partition.memory) == 0


def test_what_stays_is_not_looked_at_again_until_something_is_due() -> None:
    partition = a_partition_with(an_error(**REFUSED))
    view = partition.memory.view(partition.number)
    assert list(view) == [SEARCH]
    swept(partition, hours=4)  # takes the cooldown; the verdict stays
    swept(partition, hours=7)
    assert due_keys(view, NOW + timedelta(days=400)) == []


def test_an_entry_that_cannot_be_read_is_left_and_stops_nothing() -> None:
    partition = a_partition_with(an_error(http_status=503))
    partition.memory.recover(partition.number, b"broken", b'{"revision":1,"health":7}', (), NOW.timestamp())
    step, _ = swept(partition, hours=5)
    assert step.taken[SweptKind.DOCUMENT] == 1
    assert b"broken" in partition.memory.view(partition.number)


A, B, OTHER = TP("errors", 1), TP("links", 1), TP("errors", 2)


@pytest.mark.parametrize(
    ("progress", "lag"),
    [
        ({A: Progress(9, 9, 70_000), B: Progress(0, 0)}, 0.0),
        ({A: Progress(5, 9, 70_000), B: Progress(0, 0)}, 30.0),
        ({A: Progress(5, 9, 70_000), B: Progress(5, 9, 40_000)}, 60.0),
        ({A: Progress(9, 9), OTHER: Progress(5, 9, 1)}, 0.0),
        ({A: Progress(9, 9), B: Progress(5, 9)}, math.inf),
        ({A: Progress(9, 9), B: Progress(9, 9, 70_000, is_known=False)}, math.inf),
        ({}, math.inf),
    ],
    ids=["none", "of one", "the worst", "not another's", "nothing done yet", "end not known", "not held"],
)
def test_the_lag_is_that_of_the_oldest_record_that_may_wait(progress: dict[TP, Progress], lag: float) -> None:
    assert lag_seconds(progress, 1, 100.0) == lag


async def test_a_partition_lags_while_a_fetch_waits_and_until_its_first_is_known(run: Run) -> None:
    counting = Counting(run.plan)
    counting.may_work.clear()

    def lag() -> float:
        return lag_seconds(counting.app.fetching.progress(), HOME, time.time())

    async with counting.running():
        await eventually(lambda: lag() == 0.0)
        async with AIOKafkaProducer(bootstrap_servers=run.plan.bootstrap_servers) as producer:
            await producer.send_and_wait(run.plan.topic("events"), b"event", key=KEY)
        await eventually(lambda: counting.fetch is not None)
        assert lag() == math.inf
        counting.may_work.set()
        await eventually(lambda: lag() == 0.0)


async def test_a_running_worker_lets_documents_go_and_forgets_them_a_day_later(
    kafka: EmbeddedKafka, topic_prefix: str, tmp_path: Path
) -> None:
    ahead = timedelta()
    with pipeline_of(kafka.bootstrap_servers, topic_prefix, tmp_path) as pipeline:
        await create_pipeline_topics(pipeline)
        settings = replace(pipeline.plan.settings(), sweep_seconds=0.2)
        rules, policy = bundled_rules(), Policy()
        app = build_worker(
            settings,
            pipeline.plan.topics,
            lambda _tenant, _project: (rules, policy),
            Origins(PARTITIONS),
            clock=lambda: datetime.now(UTC) + ahead,
        )
        stop = asyncio.Event()
        serving = asyncio.create_task(serve(settings, app, stop))
        try:
            await pipeline.send([sent(an_error(event_id="e1", occurred_at=datetime.now(UTC), reply_to="me"))])
            await pipeline.answered({"e1"})
            key = SEARCH.decode()
            assert key in await pipeline.documents()
            ahead = timedelta(hours=5)

            async def is_gone() -> bool:
                return await pipeline.documents() == {} and (await pipeline.entries())[key].health is None

            await pipeline.settled(is_gone)
            ahead = timedelta(hours=25)

            async def is_forgotten() -> bool:
                return await pipeline.entries() == {}

            await pipeline.settled(is_forgotten)
        finally:
            stop.set()
            assert await serving == 0

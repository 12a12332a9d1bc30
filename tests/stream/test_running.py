"""How a served app ends, and what it says of itself."""

import asyncio
import logging
from dataclasses import replace

import pytest
import structlog

from agrajag.embedded import EmbeddedKafka
from agrajag.errors import TransientError
from agrajag.stream.fetches import FetchApp
from agrajag.stream.log_floods import thin_out_logs
from agrajag.stream.running import create_app, run_until, serve
from agrajag.wire.clients import KafkaConnection
from tests.stream.counting import PARTITIONS
from tests.stream.in_process import Counting
from tests.stream.workers import Run
from tests.waiting import eventually


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


async def test_a_broker_that_goes_away_while_the_worker_starts_is_waited_for(
    run_on_own_kafka: tuple[Run, EmbeddedKafka],
) -> None:
    run, broker = run_on_own_kafka
    stop = asyncio.Event()
    built: list[FetchApp] = []

    def build() -> FetchApp:
        if not built:
            broker.kill()
        built.append(Counting(run.plan).app)
        return built[-1]

    running = asyncio.create_task(run_until(stop, run.plan.settings(), build))
    await eventually(lambda: built, 30)
    await asyncio.to_thread(broker.restart)
    await eventually(lambda: built[-1].is_settled, 60)
    stop.set()
    assert await running == 0
    assert len(built) > 1


async def test_a_broker_that_stays_away_ends_the_start_with_a_reason(run: Run) -> None:
    nowhere = replace(run.plan.settings(), connection=KafkaConnection("127.0.0.1:9"), broker_wait_seconds=0.5)
    with pytest.raises(TransientError, match=r"127\.0\.0\.1:9"):
        await run_until(asyncio.Event(), nowhere, lambda: Counting(run.plan).app)


async def test_an_app_that_stops_by_itself_without_a_crash_ends_with_1(run: Run) -> None:
    counting = Counting(run.plan)
    with structlog.testing.capture_logs() as logs:
        async with counting.running():
            await counting.app.stop()
    assert counting.code == 1
    assert "worker_stopped_by_itself" in [entry["event"] for entry in logs]


async def test_a_worker_that_took_up_its_partitions_says_once_that_it_is_ready(run: Run) -> None:
    with structlog.testing.capture_logs() as logs:
        async with Counting(run.plan).running():
            pass
    ready = [entry["partitions"] for entry in logs if entry["event"] == "worker_ready"]
    assert ready == [list(range(PARTITIONS))]


async def test_services_starting_and_stopping_are_not_in_the_log(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    thin_out_logs()
    with caplog.at_level(logging.INFO):
        async with Counting(run.plan).running():
            pass
    assert [record.message for record in caplog.records if record.message.startswith("[^")] == []

"""Workers agree on what a tenant has used today and on who has a session, by the topic alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta

from aiokafka import AIOKafkaProducer

from agrajag.core.day_limits import DayLimits
from agrajag.metrics import PROCESS_RECORDS_SKIPPED
from agrajag.model.enums import SessionStatus
from agrajag.model.processes import ProcessRecord, SessionEvent
from agrajag.service.attempts import AttemptBounds, Attempts
from agrajag.service.engine import Budget, ServiceRun
from agrajag.service.process_log import ProcessLog
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.process_records import process_output, read_process_record
from agrajag.wire.sending import Sender
from agrajag.wire.topics import Topic, Topics
from tests.builders import a_job
from tests.kafka_reading import read_all
from tests.service.attempting import Clock, Counter, Standing, a_usage
from tests.waiting import eventually
from tests.wire.records import counting

ENGINE = Counter()


class Workers:
    """Workers of one installation, under one clock that stands."""

    def __init__(self, connection: KafkaConnection, topics: Topics, sender: Sender) -> None:
        self.clock = Clock(datetime.now(UTC))
        self._parts = connection, topics, sender

    @asynccontextmanager
    async def worker(self, worker_id: str) -> AsyncIterator[Attempts]:
        bounds = AttemptBounds(worker_id, idle_after=timedelta(seconds=1), limits=DayLimits(tokens=100))
        attempts = Attempts(*self._parts, Standing(), bounds, self.clock)
        await attempts.start()
        running = asyncio.create_task(attempts.run())
        yield attempts
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def _over(attempts: Attempts, job_id: str) -> Budget | None:
    run = await attempts.begin(ENGINE, a_job(job_id=job_id), 1)
    assert isinstance(run, ServiceRun)
    await attempts.ended(ENGINE, a_job(job_id=job_id), run, a_usage(run.process_id))
    return run.over_budget


async def test_a_worker_knows_what_others_have_used_before_and_what_they_use_since(
    connection: KafkaConnection, topics: Topics
) -> None:
    async with Sender(connection, topics) as sender:
        workers = Workers(connection, topics, sender)
        async with workers.worker("worker-1") as first:
            for job_id, tokens in (("job-1", 60), ("job-2", 39)):
                run = await first.begin(ENGINE, a_job(job_id=job_id), 1)
                assert isinstance(run, ServiceRun)
                run.used(a_usage(run.process_id, job_id=job_id, tokens=tokens, at=workers.clock()))
                await first.ended(ENGINE, a_job(job_id=job_id), run, a_usage(run.process_id))
            async with workers.worker("worker-2") as second:
                assert await _over(second, "job-3") is None  # 99 of 100
                run = await second.begin(ENGINE, a_job(job_id="job-4"), 1)
                assert isinstance(run, ServiceRun)
                run.used(a_usage(run.process_id, job_id="job-4", tokens=1, at=workers.clock()))
                await second.ended(ENGINE, a_job(job_id="job-4"), run, a_usage(run.process_id))

                async def heard() -> bool:
                    return await _over(first, "job-5") is Budget.TOKENS

                await eventually(heard)
        # A restart: nothing is known but what the topic says.
        async with workers.worker("worker-3") as third:
            assert await _over(third, "job-6") is Budget.TOKENS


async def test_what_was_written_before_today_is_not_read_and_what_cannot_be_is_counted(
    connection: KafkaConnection, topics: Topics
) -> None:
    name, now = topics.name(Topic.PROCESS_EVENTS), datetime.now(UTC)
    heard: list[ProcessRecord] = []
    with counting(PROCESS_RECORDS_SKIPPED, reason="not_json") as skipped:
        async with AIOKafkaProducer(**connection.producer_options()) as producer:
            for process_id, age_days in (("yesterdays", 1), ("todays", 0)):
                output = process_output(topics, a_usage(process_id, at=now), "agrajag/service")
                written_ms = int((now - timedelta(days=age_days)).timestamp() * 1000)
                await producer.send_and_wait(name, output.value, output.key, timestamp_ms=written_ms)
            await producer.send_and_wait(name, b"{", output.key)
        process_log = ProcessLog(connection, topics, heard.append, lambda: now)
        await process_log.start()
        await process_log.close()
        assert skipped() == 1
    assert heard == [a_usage("todays", at=now)]


async def test_a_session_goes_from_worker_to_worker_and_is_suspended_by_its_last(
    connection: KafkaConnection, topics: Topics
) -> None:
    async def sessions() -> list[SessionEvent]:
        records = await read_all(connection.bootstrap_servers, topics.name(Topic.PROCESS_EVENTS))
        told = [read_process_record(record) for record in records]
        return [event for event in told if isinstance(event, SessionEvent)]

    async with Sender(connection, topics) as sender:
        workers = Workers(connection, topics, sender)
        async with workers.worker("worker-1") as first:
            await _over(first, "job-1")
            async with workers.worker("worker-2") as second:
                workers.clock.move(milliseconds=5)
                await _over(second, "job-2")
                # The first hears of it, and then has to take the session itself again.

                async def taken_back() -> bool:
                    workers.clock.move(milliseconds=5)
                    await _over(first, "job-3")
                    return (await sessions())[-1].worker_id == "worker-1"

                await eventually(taken_back)
                workers.clock.move(seconds=2)

                async def suspended() -> bool:
                    return (await sessions())[-1].status is SessionStatus.SUSPENDED

                await eventually(suspended)
    told = await sessions()
    assert len({event.session_id for event in told}) == 1
    assert [event.worker_id for event in told] == ["worker-1", "worker-2", "worker-1", "worker-1"]
    assert [event.seq for event in told] == sorted({event.seq for event in told})

"""A worker on a real broker: order within a lane, nothing lost, nothing committed that is not answered."""

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import Callable

import pytest
from structlog.testing import capture_logs

from agrajag.embedded import EmbeddedKafka
from agrajag.errors import ConfigError
from agrajag.metrics import SERVICE_ARRIVALS
from agrajag.model.enums import ServiceFailure
from agrajag.model.jobs import DiagnosisJob
from agrajag.service.attempts import process_id_of
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.topics import Topic, Topics
from tests.kafka_reading import read_all
from tests.service.engines import Scripted
from tests.service.running import (
    a_fresh_job,
    a_worker,
    a_worker_process,
    committed,
    job_record,
    results,
    send,
)
from tests.service.topics import make_topics
from tests.waiting import eventually
from tests.wire.records import counting


async def _a_moment(job: DiagnosisJob) -> None:
    await asyncio.sleep(0.01)


async def test_lanes_keep_their_order_and_one_that_hangs_holds_no_other(
    connection: KafkaConnection, topics: Topics
) -> None:
    released = asyncio.Event()

    async def hang_in_one_lane(job: DiagnosisJob) -> None:
        await (released.wait() if job.project_id == "project-7" else asyncio.sleep(0.02))

    engine = Scripted(hang_in_one_lane)
    jobs = [a_fresh_job(number, number % 20) for number in range(200)]
    await send(connection, topics, [job_record(topics, job) for job in jobs])
    async with a_worker(connection, topics, engine) as worker:
        await eventually(lambda: len(engine.ran) == 191 and engine.running == {"job-007"}, timeout=60.0)
        assert await committed(connection, topics) < 200
        released.set()

        async def all_committed() -> bool:
            return await committed(connection, topics) == 200

        await eventually(all_committed, timeout=60.0)
        assert not worker.done()
    by_lane = defaultdict(list)
    for job_id, _ in engine.ran:
        by_lane[int(job_id.removeprefix("job-")) % 20].append(job_id)
    assert all(began == sorted(began) for began in by_lane.values())
    assert Counter(answer.job_id for answer in await results(connection, topics)) == Counter(
        job.job_id for job in jobs
    )


async def test_a_bad_job_a_crash_and_a_job_that_comes_again_hold_nothing_up(
    connection: KafkaConnection, topics: Topics
) -> None:
    engine = Scripted()
    spoiled = a_fresh_job(3, 0)
    again = a_fresh_job(4, 1)
    records = [
        job_record(topics, a_fresh_job(0, 0, tool_name="crash")),
        job_record(topics, a_fresh_job(1, 0), b"\xff"),
        job_record(topics, a_fresh_job(2, 0, tool_name="flaky")),
        job_record(topics, spoiled, spoiled.to_json().replace(b'"tool_call_error"', b'"a_whim"')),
        job_record(topics, again),
        job_record(topics, again.with_changes(error_count=10)),
        job_record(topics, again, again.to_json().replace(b'"tool_call_error"', b'"a_whim"')),
        job_record(topics, a_fresh_job(5, 0)),
    ]
    await send(connection, topics, records)
    with counting(SERVICE_ARRIVALS, kind="replaced") as replaced:
        async with a_worker(connection, topics, engine):

            async def all_committed() -> bool:
                return await committed(connection, topics) == len(records)

            await eventually(all_committed, timeout=30.0)
    assert replaced() == 1
    told = await results(connection, topics)
    ended = {answer.job_id: answer for answer in told}
    assert len(told) == len(ended)
    assert {job_id: answer.failure for job_id, answer in ended.items()} == {
        "job-000": ServiceFailure.CRASHED,
        "job-002": None,
        "job-003": ServiceFailure.NOT_READABLE,
        "job-004": None,
        "job-005": None,
    }
    assert ended["job-002"].process_id == process_id_of(a_fresh_job(2, 0), 2)
    assert ended["job-004"].signals == 10
    letters = await read_all(connection.bootstrap_servers, topics.dead_letters(Topic.DIAGNOSIS_JOBS))
    assert len(letters) == 3


async def test_a_worker_that_is_told_to_end_lets_jobs_end_and_leaves_those_that_do_not_to_the_next(
    connection: KafkaConnection, topics: Topics
) -> None:
    async def some_hang(job: DiagnosisJob) -> None:
        await (asyncio.sleep(0.3) if job.tool_name == "search" else asyncio.Event().wait())

    engine = Scripted(some_hang)
    jobs = [a_fresh_job(number, number, tool_name="search" if number < 4 else "hangs") for number in range(6)]
    await send(connection, topics, [job_record(topics, job) for job in jobs])
    async with a_worker(connection, topics, engine, grace_seconds=1.0):
        await eventually(lambda: len(engine.running) == 6, timeout=30.0)
    answered = {answer.job_id for answer in await results(connection, topics)}
    assert answered == {f"job-{number:03}" for number in range(4)}
    next_one = Scripted()
    async with a_worker(connection, topics, next_one):
        await eventually(
            lambda: {job_id for job_id, _ in next_one.ran} >= {"job-004", "job-005"}, timeout=30.0
        )
    assert all(attempt == 1 for _, attempt in next_one.ran)


async def test_jobs_move_to_a_worker_that_joins_and_back_from_one_that_goes_and_none_is_lost(
    connection: KafkaConnection, topics: Topics
) -> None:
    engines = [Scripted(_a_moment), Scripted(_a_moment)]
    jobs: list[DiagnosisJob] = []

    async def send_a_wave() -> None:
        wave = [a_fresh_job(len(jobs) + lane, lane) for lane in range(10)]
        jobs.extend(wave)
        await send(connection, topics, [job_record(topics, job) for job in wave])

    async def second_has_some() -> bool:
        await send_a_wave()  # those before were all the first one's, if it joined late
        return bool(engines[1].ran)

    async def all_answered() -> bool:
        return {answer.job_id for answer in await results(connection, topics)} == {job.job_id for job in jobs}

    await send_a_wave()
    async with a_worker(connection, topics, engines[0], worker_id="stays"):
        await eventually(lambda: len(engines[0].ran) >= 10, timeout=30.0)
        async with a_worker(connection, topics, engines[1], worker_id="comes and goes", grace_seconds=0.0):
            await eventually(second_has_some, timeout=60.0)
            await send_a_wave()
        await eventually(all_answered, timeout=60.0)


async def test_a_running_job_outlives_a_rebalance_that_leaves_its_record_where_it_is(
    connection: KafkaConnection, topics: Topics
) -> None:
    released = asyncio.Event()

    async def until_released(job: DiagnosisJob) -> None:
        await released.wait()

    engine, other = Scripted(until_released), Scripted(until_released)
    jobs = [a_fresh_job(number, number) for number in range(12)]
    await send(connection, topics, [job_record(topics, job) for job in jobs])
    async with a_worker(connection, topics, engine, worker_id="first"):
        await eventually(lambda: len(engine.running) == 12, timeout=30.0)
        async with a_worker(connection, topics, other, worker_id="second", grace_seconds=0.0):
            await eventually(lambda: other.running and not other.running & engine.running, timeout=30.0)
            kept = set(engine.running)
            assert kept
            assert kept | other.running == {job.job_id for job in jobs}
            released.set()

            async def all_committed() -> bool:
                return await committed(connection, topics) == 12

            await eventually(all_committed, timeout=30.0)
    assert len(engine.ran) == 12  # what it kept was not begun again
    assert Counter(answer.job_id for answer in await results(connection, topics)) == Counter(
        job.job_id for job in jobs
    )


async def test_a_worker_does_not_start_without_its_topics(
    connection: KafkaConnection, topic_prefix: str
) -> None:
    with pytest.raises(ConfigError, match="diagnosis-jobs"):
        async with a_worker(connection, Topics(topic_prefix, partitions=4), Scripted()) as worker:
            await asyncio.wait([worker], timeout=30.0)


async def test_a_group_that_the_broker_does_not_let_us_join_is_told_and_not_waited_for_in_silence(
    connection: KafkaConnection, topics: Topics
) -> None:
    with capture_logs() as logs:
        async with a_worker(connection, topics, Scripted(), session_timeout_seconds=0.5):
            await eventually(
                lambda: any(
                    "InvalidSessionTimeout" in str(entry) for entry in logs if "_waits" in entry["event"]
                ),
                timeout=30.0,
            )


@pytest.mark.slow  # a broker of its own that is killed and started again
async def test_brokers_that_go_away_are_waited_for_and_no_job_runs_twice_for_it(
    own_kafka: Callable[[], EmbeddedKafka], topic_prefix: str
) -> None:
    broker, topics = own_kafka(), Topics(topic_prefix, partitions=4)
    connection = KafkaConnection(broker.bootstrap_servers)
    await make_topics(connection, topics)
    released = asyncio.Event()

    async def until_released(job: DiagnosisJob) -> None:
        await released.wait()

    engine = Scripted(until_released)
    await send(connection, topics, [job_record(topics, a_fresh_job(number, number)) for number in range(4)])
    async with a_worker(connection, topics, engine):
        await eventually(lambda: len(engine.running) == 4, timeout=30.0)
        broker.kill()
        released.set()
        await eventually(lambda: not engine.running)
        broker.restart()

        async def all_committed() -> bool:
            return await committed(connection, topics) == 4

        await eventually(all_committed, timeout=90.0)
    assert len(engine.ran) == 4
    assert {answer.job_id for answer in await results(connection, topics)} == {
        f"job-{number:03}" for number in range(4)
    }


@pytest.mark.slow  # each dead worker keeps its partitions for a second
async def test_a_worker_that_is_killed_ten_times_answers_every_job(
    connection: KafkaConnection, topics: Topics
) -> None:
    jobs = [a_fresh_job(number, number % 10) for number in range(100)]
    dice = random.Random(5)

    async def answered() -> set[str]:
        return {answer.job_id for answer in await results(connection, topics)}

    for ten in range(10):
        process = a_worker_process(connection, topics)
        enough = len(await answered()) + dice.randrange(10)
        await send(connection, topics, [job_record(topics, job) for job in jobs[ten * 10 : ten * 10 + 10]])

        async def are_answered(count: int = enough) -> bool:
            return len(await answered()) >= count

        await eventually(are_answered, timeout=60.0)
        process.kill()
        process.join()
    process = a_worker_process(connection, topics)

    async def all_committed() -> bool:
        return await committed(connection, topics) == len(jobs)

    await eventually(all_committed, timeout=60.0)
    process.kill()
    process.join()
    told = await results(connection, topics)
    assert {answer.job_id for answer in told} == {job.job_id for job in jobs}
    of_one_job = {(answer.job_id, answer.process_id, answer.failure) for answer in told}
    assert len(of_one_job) == len(jobs)  # what was said twice says the same

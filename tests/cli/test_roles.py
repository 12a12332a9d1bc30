"""Topics, worker, sink and diagnosis as processes on a real Kafka and a real store."""

import asyncio
import json
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition

from agrajag.bootstrap import create_topics
from agrajag.embedded import EmbeddedKafka, EmbeddedStore
from agrajag.model.enums import Classification, Diagnostician
from agrajag.model.jobs import DiagnosisResult
from agrajag.model.keys import lane_key
from agrajag.settings import load_settings
from agrajag.wire.topics import Topic, Topics
from tests.builders import a_job
from tests.cli.programs import agrajag, running, url_of
from tests.kafka_reading import read_all
from tests.monitor.asking import ask
from tests.waiting import eventually

PARTITIONS = 2


@pytest.fixture
def topics(topic_prefix: str) -> Topics:
    return Topics(topic_prefix, PARTITIONS)


def _settings(kafka: EmbeddedKafka, topics: Topics) -> dict[str, str]:
    return {
        "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap_servers,
        "AGRAJAG_TOPICS_PREFIX": topics.prefix,
        "AGRAJAG_TOPICS_PARTITIONS": str(topics.partitions),
    }


@pytest.fixture
def settings(kafka: EmbeddedKafka, topics: Topics) -> dict[str, str]:
    """For topics that are not there yet."""
    return _settings(kafka, topics)


@pytest.fixture(scope="module")
def working(kafka: EmbeddedKafka) -> dict[str, str]:
    """For topics that are there, of all tests that write nothing."""
    settings = _settings(kafka, Topics("test-roles", PARTITIONS))
    asyncio.run(create_topics(load_settings(settings)))
    return settings


def test_create_prints_what_it_made_and_nothing_the_second_time(
    settings: dict[str, str], topics: Topics
) -> None:
    first = agrajag("topics", "create", **settings)
    assert first.returncode == 0, first.stderr
    assert sorted(first.stdout.split()) == sorted(topic.name for topic in topics.planned())
    again = agrajag("topics", "create", **settings)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_an_existing_topic_that_is_wrong_is_reported_with_exit_code_1_and_stops_a_worker(
    working: dict[str, str],
) -> None:
    topics = load_settings(working).topics.topics()
    otherwise = {**working, "AGRAJAG_TOPICS_PARTITIONS": "3"}
    reported = agrajag("topics", "create", **otherwise)
    assert reported.returncode == 1
    assert reported.stdout == ""
    errors = topics.name(Topic.TOOL_CALL_ERRORS)
    assert f"agrajag: topic {errors}: partition count is 2, should be 3" in reported.stderr.splitlines()
    refused = agrajag("worker", **otherwise)
    assert refused.returncode == 2
    assert f"topic {errors}: partition count is 2, should be 3" in refused.stderr


@pytest.mark.parametrize("role", ["worker", "sink", "diagnosis", "api"])
def test_a_role_without_topics_ends_with_2_and_says_what_to_do(
    settings: dict[str, str], store: EmbeddedStore, role: str
) -> None:
    ended = agrajag(role, **settings, AGRAJAG_MONGO_URI=store.uri)
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1] == "agrajag: create the topics first: agrajag topics create"


async def test_a_worker_whose_table_was_lost_does_not_start(
    settings: dict[str, str], topics: Topics, kafka: EmbeddedKafka
) -> None:
    await create_topics(load_settings(settings))
    async with AIOKafkaProducer(bootstrap_servers=kafka.bootstrap_servers) as producer:
        await producer.send_and_wait(topics.name(Topic.HEALTH_CHANGED), b"{}", b"key")
    ended = agrajag("worker", **settings)
    assert ended.returncode == 2
    assert "the table was lost" in ended.stderr.splitlines()[-1]


async def test_a_worker_whose_source_holds_less_than_was_done_does_not_start(
    settings: dict[str, str], topics: Topics, kafka: EmbeddedKafka
) -> None:
    assert agrajag("topics", "create", **settings).returncode == 0
    place = TopicPartition(topics.name(Topic.TOOL_CALL_ERRORS), 0)
    async with AIOKafkaConsumer(
        bootstrap_servers=kafka.bootstrap_servers,
        group_id=f"{topics.prefix}.worker",
        enable_auto_commit=False,
    ) as consumer:
        consumer.assign([place])
        await consumer.commit({place: 5})
    ended = agrajag("worker", **settings)
    assert ended.returncode == 2
    assert f"{place.topic} partition 0 ends at 0" in ended.stderr.splitlines()[-1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_told_to_end_ends_in_order(
    working: dict[str, str], tmp_path: Path, number: signal.Signals
) -> None:
    with running(tmp_path, "worker", **working) as worker:
        worker.says("worker_ready")
        assert worker.stop(number) == 0
    assert worker.out == ""
    last = json.loads(worker.err.splitlines()[-1])
    assert (last["event"], last["crashed"]) == ("worker_stopped", False)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_sink_told_to_end_ends_in_order(
    working: dict[str, str],
    store: EmbeddedStore,
    database_name: str,
    tmp_path: Path,
    number: signal.Signals,
) -> None:
    places = {"AGRAJAG_MONGO_URI": store.uri, "AGRAJAG_MONGO_DATABASE": database_name}
    with running(tmp_path, "sink", **working, **places) as sink:
        sink.says("sink_has_partitions")
        assert sink.stop(number) == 0
    assert sink.out == ""
    assert "Traceback" not in sink.err


def test_a_sink_waits_for_a_store_that_is_away_and_can_be_told_to_end_meanwhile(
    settings: dict[str, str], tmp_path: Path
) -> None:
    with running(tmp_path, "sink", **settings, AGRAJAG_MONGO_URI="mongodb://127.0.0.1:1") as sink:
        sink.says("sink_waits")
        assert sink.stop() == 0


def test_a_worker_waiting_for_its_broker_can_be_told_to_end(tmp_path: Path) -> None:
    nowhere = {"AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"}
    with running(tmp_path, "worker", **nowhere) as worker:
        worker.says("waiting_for_kafka")
        assert worker.stop() == 0


async def test_a_diagnosis_answers_a_job_tells_its_process_and_ends_in_order(
    settings: dict[str, str], topics: Topics, kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    await create_topics(load_settings(settings))
    job = a_job(lease_until=datetime.now(UTC) + timedelta(minutes=15))
    async with AIOKafkaProducer(bootstrap_servers=kafka.bootstrap_servers) as producer:
        lane = lane_key(job.tenant_id, job.project_id).encode()
        await producer.send_and_wait(topics.name(Topic.DIAGNOSIS_JOBS), job.to_json(), lane)
    with running(tmp_path, "diagnosis", **settings) as diagnosis:
        (answered,) = await _all_of(kafka, topics.name(Topic.DIAGNOSIS_RESULTS), 1)
        result = DiagnosisResult.from_json(answered.value)
        assert (result.job_id, result.answered_by) == (job.job_id, Diagnostician.RULES)
        assert result.diagnosis is not None
        assert result.diagnosis.classification is Classification.UNCLEAR  # nobody has said how it is probed
        assert diagnosis.err.count("diagnosis_without_model") == 1
        await eventually(lambda: ask(f"{url_of(diagnosis)}/readyz").status == 200, timeout=30)
        assert ask(f"{url_of(diagnosis)}/readyz").json["lag"] == {"diagnosis-jobs": 0}
        assert await asyncio.to_thread(diagnosis.stop) == 0
    assert "Traceback" not in diagnosis.err
    told = [json.loads(record.value) for record in await _all_of(kafka, topics.name(Topic.PROCESS_EVENTS), 5)]
    assert [step["status"] for step in told if step["kind"] == "process"] == ["INIT", "RUNNING"]
    assert [step["status"] for step in told if step["kind"] == "session"] == ["ACTIVE", "SUSPENDED"]
    assert [step["processId"] for step in told if step["kind"] == "usage"] == [result.process_id]


async def _all_of(kafka: EmbeddedKafka, name: str, count: int) -> list[ConsumerRecord]:
    async def found() -> list[ConsumerRecord]:
        records = await read_all(kafka.bootstrap_servers, name)
        assert len(records) >= count
        return records

    records: list[ConsumerRecord] = await eventually(found, timeout=60)
    return records

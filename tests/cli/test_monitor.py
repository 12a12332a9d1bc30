"""What worker and sink say of themselves while their broker or store goes and comes back."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer

from agrajag.bootstrap import create_topics
from agrajag.embedded import EmbeddedKafka, EmbeddedStore
from agrajag.settings import load_settings
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.topics import Topic, Topics
from tests.builders import a_health
from tests.cli.programs import agrajag, running, url_of
from tests.monitor.asking import Answer, ask
from tests.sink.records import change, send
from tests.waiting import eventually_blocking

TOPICS = Topics("test-monitor", 2)


def settings_of(kafka: EmbeddedKafka) -> dict[str, str]:
    """For topics that are made here."""
    settings = {
        "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap_servers,
        "AGRAJAG_TOPICS_PREFIX": TOPICS.prefix,
        "AGRAJAG_TOPICS_PARTITIONS": str(TOPICS.partitions),
        "AGRAJAG_WORKER_WATCHDOG_SECONDS": "20",
    }
    asyncio.run(create_topics(load_settings(settings)))
    return settings


def eventually_ready(url: str) -> Answer:
    def ready() -> Answer:
        answer = ask(f"{url}/readyz")
        assert answer.status == 200, answer.body
        return answer

    return eventually_blocking(ready, 90)


def eventually_unready(url: str, reason: str) -> None:
    def unready() -> bool:
        answer = ask(f"{url}/readyz")
        assert answer.status == 503, answer.body
        assert reason in answer.json["reasons"], answer.body
        return True

    eventually_blocking(unready, 60)


def test_a_worker_is_unready_and_healthy_while_its_broker_is_away_and_ready_when_it_is_back(
    own_kafka: Callable[[], EmbeddedKafka], tmp_path: Path
) -> None:
    kafka = own_kafka()
    with running(tmp_path, "worker", **settings_of(kafka)) as worker:
        url = url_of(worker)
        ready = eventually_ready(url)
        assert ready.json["partitions"]["tool-call-errors"] == [0, 1]
        assert ready.json["lag"]["tool-call-errors"] == 0
        kafka.stop()
        eventually_unready(url, "kafka_away")
        assert ask(f"{url}/healthz").status == 200
        kafka.start()
        eventually_ready(url)
        assert 'agrajag_lag_records{topic="tool-call-errors"} 0.0' in ask(f"{url}/metrics").body
        assert worker.stop() == 0


def test_a_worker_that_waits_for_its_broker_is_healthy_and_starting(tmp_path: Path) -> None:
    with running(tmp_path, "worker", AGRAJAG_KAFKA_BOOTSTRAP_SERVERS="127.0.0.1:1") as worker:
        url = url_of(worker)
        assert ask(f"{url}/readyz").json == {"ready": False, "reasons": ["starting"]}
        assert ask(f"{url}/healthz").status == 200
        assert worker.stop() == 0


def test_a_sink_is_unready_and_healthy_while_its_store_is_away_and_ready_when_it_is_back(
    kafka: EmbeddedKafka, own_store: Callable[[], EmbeddedStore], tmp_path: Path
) -> None:
    store = own_store()
    settings = settings_of(kafka)
    with running(tmp_path, "sink", **settings, AGRAJAG_MONGO_URI=store.uri) as sink:
        url = url_of(sink)
        shared = ("health-changed", "inbox-items", "process-events", "health-commands", "command-results")
        held = {**{name: [0, 1] for name in shared}, "documents": [0]}
        # Where the broker does not say in time how far it is, nothing is told of partitions.
        eventually_blocking(lambda: eventually_ready(url).json["partitions"] == held)
        store.stop()
        asyncio.run(send(KafkaConnection(kafka.bootstrap_servers), TOPICS, [change(a_health())]))
        eventually_unready(url, "store_away")
        assert ask(f"{url}/healthz").status == 200
        none = dict.fromkeys((*shared, "documents"), 0)
        eventually_blocking(lambda: ask(f"{url}/readyz").json["lag"] == none | {"health-changed": 1})
        store.start()
        eventually_blocking(lambda: eventually_ready(url).json["lag"] == none)
        assert sink.stop() == 0


def test_a_worker_ends_with_2_when_most_of_its_first_records_cannot_be_read(
    kafka: EmbeddedKafka, topic_prefix: str, tmp_path: Path
) -> None:
    topics = Topics(topic_prefix, 2)
    settings = {**settings_of(kafka), "AGRAJAG_TOPICS_PREFIX": topic_prefix}
    asyncio.run(create_topics(load_settings(settings)))
    asyncio.run(_send(kafka, topics.name(Topic.TOOL_CALL_ERRORS), b"not json", 30))
    with running(tmp_path, "worker", **settings, AGRAJAG_WORKER_BAD_START_RECORDS="20") as worker:
        assert worker.process.wait(90) == 2
    assert "agrajag: 30 of the first 30 records after the start were set aside" in worker.err
    assert "worker_stopped" in worker.err


def test_a_monitor_whose_port_is_taken_ends_the_role_with_2_and_says_which(tmp_path: Path) -> None:
    nowhere = {"AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"}
    with running(tmp_path, "worker", **nowhere) as worker:
        port = url_of(worker).rpartition(":")[2]
        second = agrajag("worker", **nowhere, AGRAJAG_MONITOR_WORKER_PORT=port)
        assert second.returncode == 2
        assert f"monitor: cannot listen on 127.0.0.1:{port}" in second.stderr.splitlines()[-1]


@pytest.mark.parametrize("role", ["worker", "sink"])
def test_a_monitor_can_be_switched_off(tmp_path: Path, role: str) -> None:
    settings = {
        "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1",
        "AGRAJAG_MONGO_URI": "mongodb://127.0.0.1:1",
        "AGRAJAG_MONITOR_ENABLED": "false",
    }
    with running(tmp_path, role, **settings) as program:
        program.says("wait")
        assert "monitor_listens" not in program.err


async def _send(kafka: EmbeddedKafka, topic: str, value: bytes, count: int) -> None:
    async with AIOKafkaProducer(bootstrap_servers=kafka.bootstrap_servers) as producer:
        for _ in range(count):
            await producer.send_and_wait(topic, value, b"acme|search", 0)

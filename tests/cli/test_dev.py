"""`agrajag dev` on this machine: everything comes up, stays up, and ends with it, however it ends."""

import asyncio
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer
from pymongo import MongoClient

from agrajag.bootstrap import create_topics
from agrajag.embedded import EmbeddedKafka, EmbeddedStore
from agrajag.settings import load_settings
from tests.cli.programs import Program, agrajag, is_running, running
from tests.monitor.asking import ask
from tests.waiting import eventually, eventually_blocking

PARTS = ("kafka", "store", "worker", "sink", "diagnosis", "api")


def descendants(pid: int) -> set[int]:
    """The process and everything that it has started, directly or not."""
    found = {pid}
    for children in Path("/proc").glob(f"{pid}/task/*/children"):
        for child in children.read_text().split():
            found |= descendants(int(child))
    return found


def command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()


def addresses(dev: Program) -> dict[str, str]:
    """The second column of the table."""
    rows = [line.split() for line in dev.out.splitlines() if line.split()]
    return {row[0]: row[1] for row in rows if row[0] in PARTS}


def role(dev: Program, name: str) -> int | None:
    """The process of `worker` or `sink`, if it runs."""
    for pid in descendants(dev.process.pid):
        if is_running(pid) and command_line(pid).endswith(f"-m agrajag {name}"):
            return pid
    return None


@pytest.fixture
def dev(tmp_path: Path) -> Iterator[Program]:
    with running(tmp_path, "dev", "--data-dir", "data") as program:
        program.says("ready, Ctrl-C ends it")
        yield program


async def test_dev_says_what_listens_where_guards_its_directory_and_ends_all_of_it_on_sigterm(
    dev: Program, tmp_path: Path
) -> None:
    found = addresses(dev)
    assert found.keys() == set(PARTS)
    async with AIOKafkaConsumer(bootstrap_servers=found["kafka"]) as consumer:
        assert "agrajag.tool-call-errors.v1" in await consumer.topics()
    with MongoClient[dict[str, object]](found["store"]) as client:
        assert client.admin.command("ping")["ok"]

    second = agrajag("dev", "--data-dir", str(tmp_path / "data"))
    assert (second.returncode, second.stdout) == (2, "")
    assert f"in use by another process (pid {dev.process.pid})" in second.stderr
    assert dev.process.poll() is None

    worker_log = tmp_path / "data" / "worker.log"
    assert str(worker_log) in dev.out
    await eventually(lambda: '"worker_ready"' in worker_log.read_text(), timeout=60)
    roles = ("worker", "sink", "diagnosis", "api")
    await eventually(lambda: all(ask(found[role]).status == 200 for role in roles), timeout=60)
    started = descendants(dev.process.pid)
    assert len(started) > len(PARTS)
    assert dev.stop(signal.SIGTERM) == 0
    assert not [command_line(pid) for pid in started if is_running(pid)]
    assert '"worker_stopped"' in worker_log.read_text().splitlines()[-1]


def test_a_worker_that_dies_is_started_again_and_a_killed_dev_leaves_nothing_behind(dev: Program) -> None:
    worker = role(dev, "worker")
    assert worker is not None
    os.kill(worker, signal.SIGKILL)
    dev.says("worker: starting again")
    assert "worker: ended by signal 9" in dev.err
    assert eventually_blocking(lambda: role(dev, "worker")) != worker
    started = descendants(dev.process.pid)
    assert len(started) > len(PARTS)
    assert dev.stop(signal.SIGKILL) == -signal.SIGKILL
    eventually_blocking(lambda: not [pid for pid in started if is_running(pid)], timeout=30)


def test_parts_with_an_address_are_used_and_not_started(
    kafka: EmbeddedKafka, store: EmbeddedStore, topic_prefix: str, database_name: str, tmp_path: Path
) -> None:
    settings = {
        "AGRAJAG_TOPICS_PREFIX": topic_prefix,
        "AGRAJAG_TOPICS_PARTITIONS": "2",
        "AGRAJAG_MONGO_DATABASE": database_name,
        "AGRAJAG_MONGO_URI": store.uri,
    }
    with running(tmp_path, "dev", "--kafka", kafka.bootstrap_servers, **settings) as dev:
        dev.says("ready, Ctrl-C ends it")
        assert dev.out.count("runs elsewhere") == 2
        assert addresses(dev)["kafka"] == kafka.bootstrap_servers
        started = " ".join(map(command_line, descendants(dev.process.pid)))
        assert not re.search(r"kafka\.Kafka|secantusd", started)
        assert dev.stop(signal.SIGINT) == 0
    assert (tmp_path / ".agrajag" / "worker.log").exists()
    assert kafka.alive
    assert store.alive


def test_a_worker_that_cannot_start_is_given_up_with_its_own_words(
    kafka: EmbeddedKafka, store: EmbeddedStore, topic_prefix: str, tmp_path: Path
) -> None:
    settings = {
        "AGRAJAG_TOPICS_PREFIX": topic_prefix,
        "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap_servers,
    }
    asyncio.run(create_topics(load_settings({**settings, "AGRAJAG_TOPICS_PARTITIONS": "2"})))
    with running(tmp_path, "dev", "--mongo", store.uri, **settings, AGRAJAG_TOPICS_PARTITIONS="3") as dev:
        assert dev.process.wait(60) == 2
    assert f"topic {topic_prefix}.tool-call-errors.v1: partition count is 2, should be 3" in dev.err
    assert "worker: ended with exit code 2" in dev.err

"""The README's examples do what it says, run as they are printed, against a worker of a default installation."""

import asyncio
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from aiokafka import AIOKafkaProducer, ConsumerRecord

from agrajag.bootstrap import create_topics
from agrajag.embedded import EmbeddedKafka
from agrajag.embedded.jars import default_cache_dir
from agrajag.schemas.files import described_files
from agrajag.settings import load_settings
from agrajag.wire.origin import ORIGIN
from agrajag.wire.partition import partition_for
from tests.cli.programs import running
from tests.kafka_reading import read_all
from tests.waiting import eventually

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
PARTITIONS = 4
KEY = b"acme|mcp_search"
HOME = partition_for(KEY, PARTITIONS)
DOCUMENT_KEY = b"acme|PROJECT|essay-pipeline|mcp_search"
FINISHED_KEY = b"acme|PROJECT|finished|mcp_search"
HEALTH_CHANGED = "agrajag.health-changed.v1"
MURMUR2_OPTION = " -X partitioner=murmur2_random"


@pytest.fixture(scope="module")
def brokers(kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The session's broker with a worker on topics of the names in the README, which no other test there uses."""
    settings = {
        "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap_servers,
        "AGRAJAG_TOPICS_PARTITIONS": str(PARTITIONS),
    }
    asyncio.run(create_topics(load_settings(settings)))
    with running(tmp_path_factory.mktemp("worker"), "worker", **settings) as worker:
        worker.says("worker_ready")
        yield kafka.bootstrap_servers


def block(language: str, containing: str) -> str:
    """The README's one example in this language that has `containing`."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    (found,) = [text for text in blocks if containing in text]
    return str(found)


def needed(program: str, available: bool, package: str) -> None:
    """Skip the test at a desk without the program; CI installs it, so there the test fails."""
    if not available:
        give_up = pytest.fail if os.environ.get("CI") else pytest.skip
        give_up(f"{program} is not installed: apt-get install {package}")


def run(command: list[str], brokers: str, directory: Path) -> str:
    """What the program prints."""
    done = subprocess.run(
        command,
        cwd=directory,
        env={**os.environ, "KAFKA": brokers, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


async def answer(brokers: str, reply_to: str) -> dict[str, Any]:
    """The one check result that was asked for in this name."""

    async def answered() -> dict[str, Any]:
        results = [json.loads(record.value) for record in await read_all(brokers, "agrajag.check-results.v1")]
        (found,) = [result for result in results if result.get("replyTo") == reply_to] or [None]
        assert found is not None
        return dict(found)

    return await eventually(answered, 60)


async def sent(brokers: str, reply_to: str) -> list[ConsumerRecord]:
    """The records of the error, copies included."""
    records = await read_all(brokers, "agrajag.tool-call-errors.v1")
    return [record for record in records if json.loads(record.value).get("replyTo") == reply_to]


async def changes(brokers: str, partition: int) -> list[ConsumerRecord]:
    """What has become of the documents of one partition, in order."""
    records = await read_all(brokers, HEALTH_CHANGED)
    return [record for record in records if record.partition == partition]


def test_the_examples_know_nothing_of_this_package() -> None:
    for text in (block("python", "report.py"), block("python", "follow.py")):
        assert not re.search(r"^(import|from) agrajag", text, re.MULTILINE)


def test_the_error_shown_first_fits_its_schema() -> None:
    shown = json.loads(block("json", '"exceptionChain"'))
    schema = json.loads(described_files()["tool-call-error.v1.json"])
    jsonschema_rs.Draft202012Validator(schema, validate_formats=True).validate(shown)


async def test_the_producer_in_python_is_answered(brokers: str, tmp_path: Path) -> None:
    (tmp_path / "report.py").write_text(block("python", "report.py"))
    run([sys.executable, "report.py"], brokers, tmp_path)
    found = await answer(brokers, "turn-17")
    assert (found["ruleId"], found["classification"]) == ("connect-refused", "TECHNICALLY_BROKEN")
    (record,) = await sent(brokers, "turn-17")
    assert (record.key, record.partition) == (KEY, HOME)


def test_whoever_asks_before_a_call_makes_it_once_and_then_hears_why_not(
    brokers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KAFKA", brokers)
    (tmp_path / "ask.py").write_text(block("python", "ask.py").replace('"mcp_search"', '"towel_search"'))
    with pytest.raises(ConnectionRefusedError):
        runpy.run_path(str(tmp_path / "ask.py"))

    async def known() -> bool:
        found = [json.loads(record.value or b"{}") for record in await read_all(brokers, HEALTH_CHANGED)]
        return any((one.get("toolName"), one.get("status")) == ("towel_search", "DOWN") for one in found)

    asyncio.run(eventually(known, 60))
    runpy.run_path(str(tmp_path / "ask.py"))
    assert "not called: down for project essay-pipeline until" in capsys.readouterr().out


async def test_the_producer_in_java_is_answered(brokers: str, tmp_path: Path) -> None:
    needed("javac", shutil.which("javac") is not None, "default-jdk-headless")
    (command,) = re.findall(r"`(java -cp [^`]*Report\.java)`", README)
    assert f'"{default_cache_dir()}/*"' == command.split()[2].replace("$HOME", str(Path.home()))
    (tmp_path / "Report.java").write_text(block("java", "class Report"))
    run(["bash", "-c", command], brokers, tmp_path)
    found = await answer(brokers, "turn-18")
    assert found["ruleId"] == "connect-refused"
    (record,) = await sent(brokers, "turn-18")
    assert (record.key, record.partition) == (KEY, HOME)


async def test_kcat_is_answered_and_shows_the_answer(brokers: str, tmp_path: Path) -> None:
    needed("kcat", shutil.which("kcat") is not None, "kcat")
    send, _, look = block("sh", "kcat").partition("\nkcat -C")
    run(["bash", "-c", send], brokers, tmp_path)
    await answer(brokers, "turn-19")
    (record,) = await sent(brokers, "turn-19")
    assert (record.key, record.partition) == (KEY, HOME)
    shown = run(["bash", "-c", f"kcat -C{look}"], brokers, tmp_path)
    assert "turn-19" in {json.loads(line).get("replyTo") for line in shown.splitlines()}


async def test_a_client_that_hashes_with_crc32_is_served_once_and_right(brokers: str, tmp_path: Path) -> None:
    needed("kcat", shutil.which("kcat") is not None, "kcat")
    wrong = zlib.crc32(KEY) % PARTITIONS
    assert wrong != HOME
    send, _, _ = block("sh", "kcat").partition("\nkcat -C")
    assert send.count(MURMUR2_OPTION) == 1
    run(["bash", "-c", send.replace(MURMUR2_OPTION, "").replace("turn-19", "turn-20")], brokers, tmp_path)
    found = await answer(brokers, "turn-20")
    first, copy = sorted(await sent(brokers, "turn-20"), key=lambda record: record.partition == HOME)
    assert (first.partition, copy.partition, copy.key) == (wrong, HOME, KEY)
    place = f"{first.topic}-{first.partition}-{first.offset}"
    assert dict(copy.headers)[ORIGIN] == place.encode()
    assert found["eventId"] == place


async def test_the_subscriber_tells_each_change_once_and_what_is_gone(brokers: str, tmp_path: Path) -> None:
    (tmp_path / "report.py").write_text(block("python", "report.py").replace("turn-17", "turn-21"))
    run([sys.executable, "report.py"], brokers, tmp_path)
    await answer(brokers, "turn-21")
    newest = [record for record in await changes(brokers, HOME) if record.key == DOCUMENT_KEY][-1]
    async with AIOKafkaProducer(bootstrap_servers=brokers) as producer:
        for key, value, headers in (
            (newest.key, newest.value, []),
            (FINISHED_KEY, None, [("revision", b"7")]),
            (FINISHED_KEY, b'{"revision": 7, "status": "DOWN"}', []),
            (FINISHED_KEY, b'{"revision": 8, "status": "OK"}', []),
        ):
            await producer.send_and_wait(newest.topic, value, key, newest.partition, headers=headers)
    finished = f"{FINISHED_KEY.decode()} "
    with following(brokers, tmp_path) as told:
        lines = await eventually(lambda: [*told()] if f"{finished}OK" in told() else [], 60)
    assert [line for line in lines if line.startswith(finished)] == [f"{finished}gone", f"{finished}OK"]
    before = takewhile(lambda record: record.key != FINISHED_KEY, await changes(brokers, HOME))
    revisions = {json.loads(record.value)["revision"] for record in before if record.key == DOCUMENT_KEY}
    # What the worker tells later of its counters may stand behind.
    told_before = lines[: lines.index(f"{finished}gone")]
    assert told_before.count(f"{DOCUMENT_KEY.decode()} DOWN") == len(revisions)


@contextmanager
def following(brokers: str, directory: Path) -> Iterator[Any]:
    """The subscriber while it runs, and a function for the lines that it has printed."""
    (directory / "follow.py").write_text(block("python", "follow.py"))
    out = directory / "told.txt"
    with out.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "follow.py"],
            cwd=directory,
            env={**os.environ, "KAFKA": brokers, "PYTHONPATH": ""},
            stdout=stream,
        )
    try:
        yield lambda: out.read_text().splitlines()
    finally:
        process.kill()
        process.wait()

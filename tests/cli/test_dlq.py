"""`agrajag dlq`: what was set aside is told, shown, and sent again once."""

import asyncio
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer, ConsumerRecord
from typer.testing import CliRunner

from agrajag.bootstrap import create_topics, dead_letters
from agrajag.cli.app import app
from agrajag.embedded import EmbeddedKafka
from agrajag.errors import InputError
from agrajag.model.enums import Status
from agrajag.model.health import ToolHealth
from agrajag.settings import load_settings
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.dead_letters import dead_letter
from agrajag.wire.letter_box import Replay
from agrajag.wire.letters import Selection
from agrajag.wire.outputs import Output
from agrajag.wire.partition import partition_for
from agrajag.wire.reasons import DeadLetterReason
from agrajag.wire.topics import Topic, Topics
from tests.cli.programs import Program, agrajag, running
from tests.kafka_reading import read_all
from tests.waiting import eventually
from tests.wire.records import received

PARTITIONS = 2
ERROR: dict[str, Any] = {
    "tenantId": "acme",
    "projectId": "essays",
    "userId": "alice",
    "error": {"exceptionType": "java.net.ConnectException", "message": "Connection refused"},
}


class Installation:
    """Topics of their own on a real broker, and what a test does with them."""

    def __init__(self, kafka: EmbeddedKafka, topics: Topics) -> None:
        self.kafka = kafka
        self.topics = topics
        self.errors = topics.name(Topic.TOOL_CALL_ERRORS)
        self.letters = topics.dead_letters(Topic.TOOL_CALL_ERRORS)
        self.settings = {
            "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap_servers,
            "AGRAJAG_TOPICS_PREFIX": topics.prefix,
            "AGRAJAG_TOPICS_PARTITIONS": str(PARTITIONS),
        }

    def dlq(self, *arguments: str) -> tuple[int, list[str]]:
        """Exit code and what was printed."""
        ended = agrajag("dlq", *arguments, **self.settings)
        assert "Traceback" not in ended.stderr, ended.stderr
        return ended.returncode, ended.stdout.splitlines()

    async def replay(self, selection: Selection, *, dry_run: bool = False) -> Replay:
        async with dead_letters(load_settings(self.settings)) as box:
            return await box.replay(selection, dry_run=dry_run)

    async def send(self, *outputs: Output) -> None:
        connection = KafkaConnection(self.kafka.bootstrap_servers)
        async with AIOKafkaProducer(**connection.producer_options()) as producer:
            for topic, key, value, headers, partition in outputs:
                await producer.send_and_wait(topic, value, key, partition, headers=list(headers))

    async def read(self, topic: Topic) -> list[ConsumerRecord]:
        return await read_all(self.kafka.bootstrap_servers, self.topics.name(topic))

    async def document(self, tool: str) -> ToolHealth | None:
        """The newest word on a tool in `health-changed`."""
        found = [ToolHealth.from_json(record.value) for record in await self.read(Topic.HEALTH_CHANGED)]
        return max(
            (one for one in found if one.tool_name == tool), key=lambda one: one.revision, default=None
        )

    async def documented(self, tool: str) -> ToolHealth:
        async def there() -> ToolHealth | None:
            return await self.document(tool)

        found = await eventually(there, 60)
        assert found is not None
        return found

    def an_error(self, tool: str, **fields: Any) -> Output:
        key = f"acme|{tool}".encode()
        value = json.dumps(ERROR | {"toolName": tool} | fields).encode()
        return Output(self.errors, key, value, (), partition_for(key, PARTITIONS))

    def a_letter(self, error: Output, offset: int, minutes_old: float = 1.0) -> Output:
        """A letter of when our code had a bug that this record brought to light; the bug is mended since."""
        assert error.partition is not None
        record = received(
            error.value, topic=self.errors, partition=error.partition, offset=offset, key=error.key
        )
        record.timestamp = round((time.time() - 60 * minutes_old) * 1_000)
        mended = InputError(DeadLetterReason.PROCESSING_FAILED, "this record alone cannot be applied")
        return dead_letter(record, mended, self.letters)


@pytest.fixture
def installation(kafka: EmbeddedKafka, topic_prefix: str) -> Installation:
    found = Installation(kafka, Topics(topic_prefix, PARTITIONS))
    asyncio.run(create_topics(load_settings(found.settings)))
    return found


async def test_a_letter_is_replayed_under_its_event_id_and_a_second_replay_changes_nothing(
    installation: Installation, tmp_path: Path
) -> None:
    error = installation.an_error("search", replyTo="turn-1")
    late = installation.an_error("fetch", replyTo="turn-2")
    await installation.send(installation.a_letter(error, 41), installation.a_letter(late, 42, minutes_old=50))
    with running(tmp_path, "worker", **installation.settings) as worker:
        worker.says("worker_ready")
        assert (await installation.replay(Selection(), dry_run=True)).sent.total() == 2
        one = await installation.replay(Selection(places=frozenset({(error.partition or 0, 41)})))
        assert one == Replay(Counter({Topic.TOOL_CALL_ERRORS: 1}))
        before = await installation.documented("search")
        assert before.status is Status.DOWN
        assert (await installation.replay(Selection())).sent.total() == 1
        assert installation.dlq("replay", "--all") == (0, ["replayed 0, before 2"])

        await _passed(installation, error)
        assert await installation.document("search") == before
        answers = [json.loads(record.value) for record in await installation.read(Topic.CHECK_RESULTS)]
        assert {answer["replyTo"]: answer["eventId"] for answer in answers} == {
            "turn-1": f"{installation.errors}-{error.partition}-41",
            "turn-2": f"{installation.errors}-{late.partition}-42",
        }
        fetch = await installation.documented("fetch")
        assert fetch.status is Status.OK, "an error of 50 minutes ago says nothing about now"
        assert worker.stop() == 0


async def _passed(installation: Installation, error: Output) -> None:
    """Wait until the worker has gone past all that was sent to the partition of `error` until now."""
    for tool in map("sentinel-{}".format, range(1_000)):
        sentinel = installation.an_error(tool)
        if sentinel.partition == error.partition:
            await installation.send(sentinel)
            await installation.documented(tool)
            return


async def test_what_a_worker_sets_aside_is_listed_and_shown_and_fails_again_where_nothing_was_mended(
    installation: Installation, tmp_path: Path
) -> None:
    await installation.send(
        Output(installation.errors, b"acme|search", b'token="hunter2hunter2hunter2"', (), 1)
    )
    await installation.send(Output(installation.errors, b"acme|search", b"{}", (), 1))
    with running(tmp_path, "worker", **installation.settings) as worker:
        await _set_aside(installation, 2)
        code, lines = installation.dlq("list")
        assert code == 0
        assert [line.split()[:2] + line.split()[-2:] for line in lines[1:]] == [
            ["tool-call-errors", "missing_field", "1", "0"],
            ["tool-call-errors", "not_json", "1", "0"],
        ]
        [shown] = map(json.loads, installation.dlq("show", "--at", "1:0")[1])
        assert (shown["reason"], shown["bodyBytes"], shown["body"]) == ("not_json", 29, 'token="[redacted]"')

        assert (
            installation.dlq("replay", "--reason", "not_json", "--dry-run")[1][0]
            == "would replay 1, before 0"
        )
        await installation.replay(Selection(reasons=frozenset({"not_json"})))
        await _set_aside(installation, 4)  # the mark, and the letter of the second failure
        assert installation.dlq("list", "--reason", "not_json")[1][1].split()[-2:] == ["2", "1"]
        _stopped(worker)


async def _set_aside(installation: Installation, records: int) -> None:
    async def there() -> bool:
        found = await read_all(installation.kafka.bootstrap_servers, installation.letters)
        return len(found) == records

    await eventually(there, 60)


def _stopped(worker: Program) -> None:
    assert worker.stop() == 0


async def test_letters_that_would_do_harm_are_left_and_the_exit_code_says_so(
    installation: Installation,
) -> None:
    changed = Topic.HEALTH_CHANGED
    refused = InputError(DeadLetterReason.PROCESSING_FAILED, "refused by the store")
    good = installation.a_letter(installation.an_error("search"), 1)
    await installation.send(
        dead_letter(
            received(b"{}", topic=installation.topics.name(changed), partition=0),
            refused,
            installation.topics.dead_letters(changed),
        ),
        dead_letter(
            received(b"{}", topic="somebody-elses-topic", partition=0), refused, installation.letters
        ),
        dead_letter(received(b"{}", topic=installation.errors, partition=7), refused, installation.letters),
        dead_letter(received(b"v" * 3_000_000, topic=installation.errors), refused, installation.letters),
        Output(installation.letters, b"", b"no letter at all", (), 0),
        good,
        good,  # written twice
    )
    ended = agrajag("dlq", "replay", "--all", **installation.settings)
    assert ended.returncode == 1
    assert ended.stdout.splitlines() == ["replayed 1, before 0", "  tool-call-errors: 1"]
    told = [line for line in ended.stderr.splitlines() if line.startswith("agrajag: ")]
    assert told == [
        "agrajag: 1 cannot be replayed: compacted",
        "agrajag: 1 cannot be replayed: cut",
        "agrajag: 2 cannot be replayed: wrong_place",
    ]
    assert len(await installation.read(Topic.TOOL_CALL_ERRORS)) == 1
    assert await installation.read(Topic.HEALTH_CHANGED) == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["replay"], "say which letters"),
        (["replay", "--at", "41"], "is no place, write PARTITION:OFFSET"),
        (["show", "--topic", "no-such-topic"], "no-such-topic"),
        (["list", "--reason", "no_such_reason"], "no_such_reason"),
    ],
)
def test_letters_that_are_not_named_rightly_are_wrong_usage(arguments: list[str], told: str) -> None:
    ended = CliRunner().invoke(app, ["dlq", *arguments])
    assert ended.exit_code == 2
    assert told in " ".join(ended.stderr.split())


def test_without_topics_there_is_one_line_that_says_what_to_do(
    kafka: EmbeddedKafka, topic_prefix: str
) -> None:
    settings = {
        "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap_servers,
        "AGRAJAG_TOPICS_PREFIX": topic_prefix,
    }
    ended = agrajag("dlq", "list", **settings)
    assert ended.returncode == 2
    assert ended.stderr == (
        f"agrajag: no dead letters of {topic_prefix}: agrajag topics create makes the topics\n"
    )

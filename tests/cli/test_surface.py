"""A person at a terminal sees, reports and decides, on a real Kafka beside a worker and a diagnosis that run."""

import asyncio
import json
import shlex
import signal
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer

from agrajag.bootstrap import create_topics
from agrajag.embedded import EmbeddedKafka
from agrajag.model.enums import Scope, Status
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key
from agrajag.model.reading import CascadeReading, HealthReading
from agrajag.settings import load_settings
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.outputs import Output
from agrajag.wire.topics import Topic, Topics
from tests.builders import a_cooldown, a_health, an_inbox_item
from tests.cli.programs import agrajag, running

NOW = datetime.now(UTC)
README = Path(__file__).parents[2] / "README.md"
ASKING = ("health", "recheck", "inbox", "runs", "tail")
DECIDING = ("report", "clear", "override", "lift")
TOOLS_THAT_ARE = {Status.OK: "well", Status.DEGRADED: "shaky", Status.DOWN: "broken"}


@dataclass(frozen=True)
class Surface:
    """One installation: its settings, and the program on it."""

    settings: dict[str, str]
    topics: Topics

    def __call__(self, *arguments: str) -> "CompletedProcess[str]":
        return agrajag(*arguments, **self.settings)

    def data(self, *arguments: str, code: int = 0) -> list[dict[str, Any]]:
        """The JSON lines of a program that must end with `code` and say nothing beside them."""
        ended = self(*arguments, "--json")
        assert (ended.returncode, ended.stderr) == (code, "")
        return [json.loads(line) for line in ended.stdout.splitlines()]

    def send(self, *outputs: Output) -> None:
        async def sent() -> None:
            connection = KafkaConnection(self.settings["AGRAJAG_KAFKA_BOOTSTRAP_SERVERS"])
            async with AIOKafkaProducer(**connection.producer_options()) as producer:
                for output in outputs:
                    await producer.send_and_wait(
                        output.topic, output.value, output.key, headers=list(output.headers)
                    )

        asyncio.run(sent())


def told(document: ToolHealth, topics: Topics) -> Output:
    """The record of a document."""
    key = health_key(document.tenant_id, document.scope, document.scope_id, document.tool_name)
    return Output(topics.name(Topic.HEALTH_CHANGED), key.encode(), document.to_json())


@pytest.fixture(scope="module")
def surface(kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Surface]:
    """With a worker, a diagnosis, and documents of `acme` that no worker wrote."""
    prefix = f"test-{uuid.uuid4().hex[:12]}"
    settings = {
        "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap_servers,
        "AGRAJAG_TOPICS_PREFIX": prefix,
        "AGRAJAG_TOPICS_PARTITIONS": "2",
        "AGRAJAG_TENANT": "live",
    }
    asyncio.run(create_topics(load_settings(settings)))
    with ExitStack() as ends:
        programs = [
            ends.enter_context(running(tmp_path_factory.mktemp(role), role, **settings))
            for role in ("worker", "diagnosis")
        ]
        found = Surface(settings, Topics(prefix, 2))
        cool = a_cooldown(
            user_id="alice", next_spawn_allowed_at=NOW + timedelta(hours=1), note="\x1b[2Jlog in"
        )
        documents = [
            a_health(tool_name=tool, status=status, cooldowns=(cool,))
            for status, tool in TOOLS_THAT_ARE.items()
        ]
        mine = a_health(tool_name="broken", scope=Scope.USER, scope_id="alice")
        foreign = a_health(tenant_id="globex", tool_name="broken", status=Status.DOWN)
        now = [_as_of_now(one) for one in (*documents, mine, foreign)]
        programs[0].says("worker_ready")  # none begins where documents stand without its own log of them
        found.send(*(told(one, found.topics) for one in now))
        yield found


def _as_of_now(document: ToolHealth) -> ToolHealth:
    """The same with its evidence of now: tests run at any time."""
    verdict = document.verdict
    if verdict.status is Status.OK:
        return document
    return document.with_changes(verdict=verdict.with_changes(since=NOW, evidence_at=NOW))


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["health", "well"], 0),
        (["health", "shaky"], 4),
        (["health", "broken"], 5),
        (["health", "--status", "degraded"], 4),
        (["health", "broken", "--as", "alice"], 0),
        (["health", "--as", "alice"], 2),
    ],
)
def test_health_ends_with_what_is_worst_in_what_it_shows(
    surface: Surface, arguments: list[str], code: int
) -> None:
    ended = surface(*arguments, "--tenant", "acme")
    assert ended.returncode == code, ended.stderr
    assert "\x1b" not in ended.stdout
    assert "globex" not in ended.stdout


def test_health_tells_people_in_words_and_programs_in_readings(surface: Surface) -> None:
    listed = surface("health", "--tenant", "acme")
    lines = [" ".join(line.split()) for line in listed.stdout.splitlines()]
    assert lines[0] == "tool scope of status how"
    assert lines[1].startswith("broken PROJECT essays DOWN down for project essays since ")
    assert [line.split()[0] for line in lines[1:]] == ["broken", "shaky", "broken", "well"]
    full = surface("health", "broken", "--tenant", "acme", "--as", "alice", "--project", "essays")
    assert full.stdout.startswith("broken: down for project essays since ")
    assert "\nUSER alice  OK: working\nPROJECT essays  DOWN: down for project essays since " in full.stdout
    assert "no new diagnosis of http-5xx for alice only until " in full.stdout
    (one,) = surface.data("health", "shaky", "--tenant", "acme", code=4)
    assert HealthReading.from_json(json.dumps(one).encode()).status is Status.DEGRADED
    (for_alice,) = surface.data(
        "health", "broken", "--tenant", "acme", "--as", "alice", "--project", "essays", code=5
    )
    shown = CascadeReading.from_json(json.dumps(for_alice).encode())
    assert (shown.status, shown.speaking) == (Status.DOWN, "acme|PROJECT|essays|broken")
    assert [found.health.scope for found in shown.documents] == [Scope.USER, Scope.PROJECT]


def test_an_error_is_reported_judged_seen_and_its_cooldown_cleared_once(surface: Surface) -> None:
    error = ["report", "search", "password=hunter2 was refused", "--status", "403", "--as", "alice"]
    (answer,) = surface.data(*error, "--event-id", "mine", "--wait")
    assert (answer["eventId"], answer["ruleId"], answer["outcome"]) == ("mine", "http-403", "COOLING_DOWN")
    (reading,) = surface.data("health", "search")
    assert [one["errorSignature"] for one in reading["calling"]] == [answer["errorSignature"]]
    (seen,) = surface.data("tail", "tool-call-errors", "--tool", "search", "--to-end")
    assert seen["value"]["error"]["message"] == "password=[redacted] was refused"
    (cleared,) = surface.data("clear", "search", "--user", "alice")
    assert cleared["outcome"] == "APPLIED"
    again = surface("clear", "search")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "agrajag: no active cooldown fits\n")


def test_an_error_that_nobody_waits_for_is_told_by_its_id(surface: Surface) -> None:
    alone = surface("report", "quiet", "--exception", "httpx.ReadTimeout", "--header", "Retry-After: 5")
    assert (alone.returncode, alone.stderr) == (0, "")
    (seen,) = surface.data("tail", "tool-call-errors", "--key", "live|quiet", "--to-end")
    assert seen["value"]["eventId"] == alone.stdout.strip()
    assert seen["value"]["error"]["headers"] == {"retry-after": "5"}


def test_what_a_person_says_stands_until_it_is_lifted(surface: Surface) -> None:
    said = [
        "override",
        "map",
        "down",
        "--project",
        "atlas",
        "--reason",
        "moving house",
        "--for",
        "PT2H",
        "--by",
        "bob",
    ]
    assert surface(*said).stdout.startswith("APPLIED ")
    (reading,) = surface.data("health", "map", code=5)
    assert reading["words"].startswith("said to be down for project atlas by bob until ")
    assert surface("lift", "map").stdout.startswith("NOTHING_MATCHED ")
    assert surface("lift", "map", "--project", "atlas").stdout.startswith("APPLIED ")
    (after,) = surface.data("health", "map")
    assert after["words"] == "working"


def test_a_recheck_that_is_waited_for_tells_how_its_diagnosis_ended_and_shows_the_document(
    surface: Surface,
) -> None:
    (found,) = surface.data("recheck", "mystery", "--project", "essays", "--wait")
    assert found["closed"]["jobId"] == found["command"]["jobId"]
    assert (found["closed"]["verdict"], found["closed"]["applied"]) == ("UNCLEAR", False)
    assert (found["health"]["key"], found["health"]["words"]) == ("live|PROJECT|essays|mystery", "working")
    told_to_people = surface("recheck", "mystery", "--project", "essays", "--wait")
    assert (told_to_people.returncode, told_to_people.stdout) == (0, "mystery: working\n")
    assert ": UNCLEAR, not applied: could not be checked: " in told_to_people.stderr


def test_an_inbox_item_is_dismissed_by_its_id_alone(surface: Surface) -> None:
    item = an_inbox_item(tenant_id="acme", item_id="for-alice")
    surface.send(Output(surface.topics.name(Topic.INBOX_ITEMS), b"for-alice", item.to_json()))
    (listed,) = surface.data("inbox", "list", "--tenant", "acme")
    assert listed["itemId"] == "for-alice"
    # No worker has written it, so the owner of the document knows of none.
    (done,) = surface.data("inbox", "dismiss", "for-alice", "--tenant", "acme")
    assert (done["outcome"], done["toolName"]) == ("NOTHING_MATCHED", item.tool_name)
    elsewhere = surface("inbox", "dismiss", "for-alice")
    assert (elsewhere.returncode, elsewhere.stderr) == (1, "agrajag: there is no item 'for-alice'\n")


def test_what_the_readme_shows_at_a_terminal_can_be_typed_there(surface: Surface) -> None:
    section = README.read_text("utf-8").partition("\n## At a terminal\n")[2].partition("\n```\n")[2]
    lines = [shlex.split(line, comments=True) for line in section.partition("\n```\n")[0].splitlines()]
    shown = {line[1]: line[1:] for line in lines if line[0] == "agrajag"}
    assert set(shown) == {*ASKING, *DECIDING, "watch"}
    shown["tail"] += ["--to-end"]
    ended = {name: surface(*line) for name, line in shown.items() if name != "watch"}
    assert {name: ended[name].returncode for name in DECIDING} == dict.fromkeys(DECIDING, 0)
    assert all(ended[name].returncode in (0, 4, 5) for name in ASKING)
    assert ended["report"].stdout.startswith("UNCLEAR ")
    assert "mcp_search" in ended["tail"].stdout


def test_changes_and_records_are_printed_as_they_come_until_ctrl_c(surface: Surface, tmp_path: Path) -> None:
    (tmp_path / "tail").mkdir()
    with (
        running(tmp_path, "watch", "--tenant", "acme", **surface.settings) as watching,
        running(tmp_path / "tail", "tail", "health-changed", **surface.settings) as tailing,
    ):
        watching.says("watching; Ctrl-C ends it")
        tailing.says("reading; Ctrl-C ends it")
        begun = a_health(tool_name="fresh", revision=2)
        down = _as_of_now(a_health(tool_name="fresh", revision=3, status=Status.DOWN))
        counted = down.with_changes(revision=4, counters=down.counters.with_changes(errors=9))
        gone = told(down, surface.topics)._replace(value=None, headers=(("revision", b"5"),))
        unusable = told(down, surface.topics)._replace(value=b"\x1b[2J{")
        records = [told(one, surface.topics) for one in (begun, down, counted)]
        surface.send(*records, unusable, gone)
        watching.says("acme|PROJECT|essays|fresh is gone")
        tailing.says("  gone")
        assert (watching.stop(signal.SIGINT), tailing.stop(signal.SIGINT)) == (0, 0)
        lines = [line for line in watching.out.splitlines() if "fresh" in line]
        assert [line.partition("essays: ")[2][:22] for line in lines[:-1]] == [
            "working",
            "down for project essay",
        ]
        assert len(lines) == 3
        assert "unusable, not_json: " in tailing.out
        assert "\x1b" not in tailing.out

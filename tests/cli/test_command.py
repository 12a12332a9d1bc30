"""`agrajag command`: on a real Kafka with and without a worker, and what is wrong before anything is sent."""

import asyncio
from pathlib import Path

import pytest

from agrajag.bootstrap import create_topics
from agrajag.embedded import EmbeddedKafka
from agrajag.settings import load_settings
from tests.cli.programs import agrajag, running


@pytest.fixture
def settings(kafka: EmbeddedKafka, topic_prefix: str) -> dict[str, str]:
    """For topics that are there."""
    found = {
        "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap_servers,
        "AGRAJAG_TOPICS_PREFIX": topic_prefix,
        "AGRAJAG_TOPICS_PARTITIONS": "2",
    }
    asyncio.run(create_topics(load_settings(found)))
    return found


def test_a_command_waits_for_a_worker_and_is_done_once(settings: dict[str, str], tmp_path: Path) -> None:
    recheck = ["command", "recheck", "acme", "search", "--scope", "tenant", "--command-id", "mine"]
    alone = agrajag(*recheck, "--wait", "0.5", **settings)
    assert (alone.returncode, alone.stdout) == (3, "")
    assert "no worker has answered command mine within 0.5 s; it stands in" in alone.stderr
    with running(tmp_path, "worker", **settings) as worker:
        worker.says("worker_ready")
        agrajag(*recheck, **settings)  # may be told of the one that stood there
        done = agrajag(*recheck, **settings)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("ALREADY_APPLIED command=mine revision=")
        assert "job=job-" in done.stdout
        refused = agrajag("command", "override", "acme", "search", "--scope", "TENANT", **settings)
        assert (refused.returncode, refused.stdout.split()[:1]) == (1, ["REFUSED"]), refused.stderr
        assert refused.stderr == "agrajag: status: override needs it\n"
        nothing = agrajag("command", "liftOverride", "acme", "search", "--scope", "GLOBAL", **settings)
        assert (nothing.returncode, nothing.stdout.split()[0]) == (0, "NOTHING_MATCHED")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--duration", "two hours"], "agrajag: duration: "),
        (["--until", "2026-11-30T12:00:00"], "agrajag: until: "),
        (["--reason", "x" * 501], "agrajag: reason: "),
        (["--locale", "Swiss German"], "agrajag: locale: "),
        (["--status", "BROKEN"], "'BROKEN' is not one of"),
    ],
)
def test_an_option_that_cannot_be_meant_ends_with_2_before_anything_is_sent(
    arguments: list[str], told: str
) -> None:
    ended = agrajag(
        *["command", "override", "acme", "search", "--scope", "TENANT", *arguments],
        AGRAJAG_KAFKA_BOOTSTRAP_SERVERS="127.0.0.1:1",
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert told in ended.stderr


def test_a_command_where_there_are_no_topics_ends_with_1(kafka: EmbeddedKafka, topic_prefix: str) -> None:
    ended = agrajag(
        *["command", "recheck", "acme", "search", "--scope", "TENANT"],
        AGRAJAG_KAFKA_BOOTSTRAP_SERVERS=kafka.bootstrap_servers,
        AGRAJAG_TOPICS_PREFIX=topic_prefix,
    )
    assert ended.returncode == 1
    assert "there is no topic" in ended.stderr

"""`agrajag api` and `agrajag tokens`."""

import asyncio
import json
import re
from pathlib import Path

import httpx
import pytest

from agrajag.bootstrap import create_topics
from agrajag.cli.app import main
from agrajag.embedded import EmbeddedKafka
from agrajag.settings import load_settings
from tests.cli.programs import running


def ended(*arguments: str) -> int | str | None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    return end.value.code


def made_token(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[str, str]:
    """A new token and its line for the file."""
    given = ("--tenant", "acme", "--user", "alice", "--role", "reader")
    assert ended("tokens", "new", *given, *options) == 0
    secret, line = capsys.readouterr().out.splitlines()
    return secret, line


def test_a_token_is_printed_once_with_a_line_that_does_not_tell_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    secret, line = made_token(capsys, "--expires", "2031-01-31")
    assert re.fullmatch(r"agrajag_[A-Za-z0-9_-]{43}", secret)
    entry = json.loads(line.removeprefix("- "))
    assert entry.keys() == {"sha256", "tenant", "user", "role", "expires"}
    assert (entry["role"], entry["expires"]) == ("reader", "2031-01-31T00:00:00Z")
    assert secret not in line
    assert made_token(capsys)[0] != secret


def test_a_name_that_no_file_could_hold_gets_no_token(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("tokens", "new", "--tenant", "a\u202eb", "--user", "", "--role", "admin") == 2
    assert [line.partition(":")[0] for line in capsys.readouterr().err.splitlines()] == ["agrajag"] * 2


def test_the_role_answers_those_whose_token_stands_in_the_file_and_ends_in_order(
    kafka: EmbeddedKafka, topic_prefix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret, line = made_token(capsys)
    file = tmp_path / "tokens.yaml"
    file.write_text(f"tokens:\n{line}\n")
    settings = {
        "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap_servers,
        "AGRAJAG_TOPICS_PREFIX": topic_prefix,
        "AGRAJAG_TOPICS_PARTITIONS": "2",
        "AGRAJAG_MONGO_URI": "mongodb://127.0.0.1:1",
        "AGRAJAG_API_PORT": "0",
        "AGRAJAG_API_TOKENS_FILE": str(file),
    }
    asyncio.run(create_topics(load_settings(settings)))
    with running(tmp_path, "api", **settings) as api:
        api.says("api_listens")
        (url,) = (
            line["url"] for line in map(json.loads, api.err.splitlines()) if line["event"] == "api_listens"
        )
        answered = httpx.get(f"{url}/brain", headers={"Authorization": f"Bearer {secret}"})
        assert answered.json() == {"items": [{"tenant": "acme", "user": "alice", "role": "reader"}]}
        assert httpx.get(f"{url}/brain").status_code == 401
        assert api.stop() == 0
    assert "Traceback" not in api.err


def test_a_broken_file_of_tokens_stops_the_start_with_one_line_for_each_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tokens.yaml"
    file.write_text("tokens:\n- {sha256: 12, tenant: acme, user: bob, role: king}\n")
    monkeypatch.setenv("AGRAJAG_API_TOKENS_FILE", str(file))
    assert ended("api") == 2
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("agrajag:")]
    assert [line.split(": ")[2] for line in told] == ["tokens[0].sha256", "tokens[0].role"]


def test_it_does_not_listen_for_other_machines_without_tokens(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AGRAJAG_API_HOST", "0.0.0.0")  # noqa: S104 - what is refused
    assert ended("api") == 2
    assert (
        "AGRAJAG_API_TOKENS is not set: should be set, or AGRAJAG_API_TOKENS_FILE" in capsys.readouterr().err
    )

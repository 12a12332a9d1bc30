"""`agrajag rules`: files checked, rules listed, errors explained, new rules tried on past errors."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest
from aiokafka import AIOKafkaProducer
from typer.testing import CliRunner

from agrajag.cli.rules import app
from agrajag.cli.rules.reading import given_error
from agrajag.documents.cascade import DocumentName
from agrajag.documents.directory import file_of
from agrajag.documents.pack_files import bundled_packs
from agrajag.documents.pushing import planned_push, push
from agrajag.documents.topic import read_documents
from agrajag.embedded import EmbeddedKafka
from agrajag.errors import ConfigError, InputError
from agrajag.model.health import ToolHealth
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.topics import Topic
from tests.builders import a_cooldown, a_health, an_error
from tests.cli.programs import agrajag, fed
from tests.documents.texts import a_rule_file, a_rule_text, rules_at
from tests.pipeline.process import PARTITIONS
from tests.pipeline.runs import Run, create_topics, run_of, sent

SECRET = "Bearer abcdefghijklmnopqrstuvwxyz123456"
_TEAPOT = a_rule_text("teapot", match={"httpStatus": 418})
_TRIED = a_rule_text("tried", match={"bodyContains": ["maintenance"]}, before="http-5xx", shadow=True)

Write = Callable[[dict[DocumentName, str]], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a directory of documents."""

    def written(documents: dict[DocumentName, str]) -> Path:
        for name, text in documents.items():
            file = file_of(tmp_path / "documents", name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return tmp_path / "documents"

    return written


@pytest.fixture
def error_file(tmp_path: Path) -> Path:
    file = tmp_path / "error.json"
    file.write_bytes(an_error(http_status=503, body=f"maintenance, {SECRET}").to_json())
    return file


def test_check_prints_one_line_for_each_rejected_rule_and_warning_and_ends_with_1(write: Write) -> None:
    bad = a_rule_text("bad\x1b[2J"), a_rule_text("worse", classification=SECRET)
    directory = write({rules_at("acme"): a_rule_file(*bad, a_rule_text("late", match={"httpStatus": 503}))})
    ended = agrajag("rules", "check", str(directory))
    first, second, warning = ended.stdout.splitlines()
    assert ended.returncode == 1
    assert first.startswith(
        "acme/_tenant/_vance/agrajag/error-patterns.yaml: rule 'bad\\x1b[2J': id: holds a control"
    )
    assert second.startswith(
        "acme/_tenant/_vance/agrajag/error-patterns.yaml: rule 'worse': classification: "
    )
    assert warning.startswith(
        "warning: acme/_tenant/_vance/agrajag/error-patterns.yaml: rule 'late': match: can never"
    )
    assert ended.stderr == "agrajag: documents 1  rules 1  rejected 2  warnings 1\n"
    assert "abcdefghijk" not in ended.stdout
    assert ended.stdout.replace("\n", "").isprintable()


def test_check_of_good_files_prints_nothing_and_ends_with_0(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(a_rule_file(_TEAPOT))
    ended = agrajag("rules", "check", str(file))
    assert (ended.returncode, ended.stdout) == (0, "")


def test_list_of_a_directory_shows_order_layers_replacements_trials_and_what_is_rejected(
    write: Write,
) -> None:
    directory = write(
        {
            rules_at("acme"): a_rule_file(_TEAPOT, _TRIED, a_rule_text("bad", match={"typo": 1})),
            rules_at("acme", "essays"): a_rule_file(a_rule_text("teapot", note="ours")),
        }
    )
    where = ["--dir", str(directory), "--tenant", "acme", "--project", "essays"]
    shown = agrajag("rules", "list", *where)
    assert shown.returncode == 0
    lines = shown.stdout.splitlines()
    (teapot,) = [line for line in lines if " teapot " in line]
    assert teapot.split()[-2:] == [
        "acme/essays/_vance/agrajag/error-patterns.yaml",
        "acme/_tenant/_vance/agrajag/error-patterns.yaml",
    ]
    assert any(line.rstrip().endswith("before http-5xx") for line in lines)
    assert next(line for line in lines if line.startswith("rejected: ")).endswith("any, all, not")
    assert any(line.startswith("rule packs, ") for line in lines)
    tree = json.loads(agrajag("rules", "list", *where, "--json").stdout)
    assert int(teapot.split()[0]) == [one["rule"]["id"] for one in tree["rules"]].index("teapot") + 1
    assert lines[0] == f"rule set {tree['ruleSetHash']}"
    own = [one["rule"]["id"] for one in tree["rules"] if one["pack"] is None]
    assert own[-2:] == ["teapot", "fallback"]
    assert [one["ruleId"] for one in tree["rejected"]] == ["bad"]


def test_list_without_a_tenant_shows_the_bundled_rules_with_the_packs_and_needs_no_broker() -> None:
    tree = json.loads(agrajag("rules", "list", "--json").stdout)
    by_pack = Counter((one["pack"], one["source"]) for one in tree["rules"])
    assert by_pack.pop((None, "agrajag/defaults/_vance/agrajag/error-patterns.yaml")) == 12
    assert by_pack == {(pack.name, pack.layer.source): len(pack.layer.rules) for pack in bundled_packs()}


def test_explain_tells_an_error_in_a_file_by_the_rules_of_a_directory(write: Write, error_file: Path) -> None:
    directory = write({rules_at("acme"): a_rule_file(_TRIED)})
    told = agrajag("rules", "explain", str(error_file), "--dir", str(directory))
    assert told.returncode == 0
    assert "decided by http-5xx: UNCLEAR, signature http-5xx" in told.stdout
    assert "with the shadow rules in force:\n  decided by tried: USER_INPUT, signature tried" in told.stdout
    assert "abcdefghijk" not in told.stdout


def test_explain_reads_standard_input_and_prints_json_for_machines(error_file: Path) -> None:
    told = fed(error_file.read_text(), "rules", "explain", "-", "--bundled", "--json", "--tenant", "globex")
    tree = json.loads(told.stdout)
    assert (tree["decidedBy"], tree["answer"]["outcome"]) == ("http-5xx", "ENQUEUED")
    assert (tree["answer"]["tenantId"], tree["answer"]["eventId"]) == ("globex", "event-1")
    assert "abcdefghijk" not in told.stdout


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"garbage", "not_json"),
        (b"{}", "missing_field"),
        (orjson.dumps({"tenantId": "a", "toolName": "b", "error": {}, "userId": 7}), "invalid_field"),
        (b" " * 1_048_577, "too_large"),
    ],
)
def test_a_file_that_holds_no_error_is_refused_with_the_reason_a_worker_gives(
    tmp_path: Path, value: bytes, reason: str
) -> None:
    file = tmp_path / "error.json"
    file.write_bytes(value)
    with pytest.raises(InputError) as refused:
        given_error(str(file))
    assert refused.value.reason == reason


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigError, match=r"/nowhere\.json: No such file"):
        given_error("/nowhere.json")


def test_a_directory_that_is_not_there_ends_with_2() -> None:
    ended = agrajag("rules", "list", "--tenant", "acme", "--dir", "/nowhere")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("agrajag: documents: /nowhere is no directory")


@pytest.mark.parametrize(
    "arguments",
    [
        ["explain"],
        ["explain", "x.json", "--event-id", "e"],
        ["explain", "x.json", "--bundled", "--dir", "."],
        ["explain", "--event-id", "e", "--standing"],
        ["explain", "--event-id", "e", "--project", "essays"],
        ["list", "--project", "essays"],
        ["shadow", "--hours", "0"],
        ["check"],
    ],
)
def test_wrong_use_ends_with_2(arguments: list[str]) -> None:
    ended = CliRunner().invoke(app, arguments)
    assert (ended.exit_code, ended.stdout) == (2, "")


def test_a_past_error_is_explained_and_shadow_rules_tried_on_all_of_them(
    kafka: EmbeddedKafka, topic_prefix: str, tmp_path: Path
) -> None:
    with run_of(kafka.bootstrap_servers, topic_prefix, tmp_path) as run:
        asyncio.run(_filled(run))
        environment = {
            "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap_servers,
            "AGRAJAG_TOPICS_PREFIX": topic_prefix,
            "AGRAJAG_TOPICS_PARTITIONS": str(PARTITIONS),
        }
        told = agrajag("rules", "explain", "--event-id", "e2", **environment)
        assert (told.returncode, told.stderr) == (0, "")
        assert "error e2: tool search, tenant acme" in told.stdout
        assert "decided by http-5xx" in told.stdout
        assert "told to the caller: ENQUEUED" in told.stdout
        assert "decided by tried" in told.stdout

        missing = agrajag("rules", "explain", "--event-id", "e9", **environment)
        assert (missing.returncode, missing.stdout) == (1, "")
        assert missing.stderr.startswith(
            "agrajag: no error 'e9' in what the topic and its dead letters still keep: 5 "
        )

        tried = json.loads(agrajag("rules", "shadow", "--tenant", "acme", "--json", **environment).stdout)
        assert tried["errorsRead"] == 4
        (change,) = tried["changes"]
        assert (change["ruleId"], change["insteadOf"], change["outcome"]) == (
            "tried",
            "http-5xx",
            "COOLING_DOWN",
        )
        assert (change["errors"], change["users"], change["lastEventId"]) == (3, 2, "e2")

        listed = json.loads(agrajag("rules", "list", "--tenant", "acme", "--json", **environment).stdout)
        assert [one["rule"]["id"] for one in listed["onTrial"]] == ["tried"]


def test_without_a_shadow_rule_no_error_is_read_and_what_is_rejected_is_told(write: Write) -> None:
    directory = write(
        {rules_at("acme"): a_rule_file(_TEAPOT, a_rule_text("mine", match={"typo": 1}, shadow=True))}
    )
    ended = agrajag("rules", "shadow", "--dir", str(directory))
    rejected, told = ended.stderr.splitlines()
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "rule 'mine': match.typo: unknown selector" in rejected
    assert told.startswith("agrajag: no shadow rule would change anything")


def test_an_error_is_explained_over_the_documents_that_stand(
    kafka: EmbeddedKafka, topic_prefix: str, tmp_path: Path, error_file: Path
) -> None:
    with run_of(kafka.bootstrap_servers, topic_prefix, tmp_path) as run:
        pause = a_cooldown(next_spawn_allowed_at=datetime.now(UTC) + timedelta(hours=1))
        asyncio.run(_standing(run, a_health(revision=2, cooldowns=(pause,)), a_health(revision=1)))
        environment = {
            "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap_servers,
            "AGRAJAG_TOPICS_PREFIX": topic_prefix,
        }
        now = error_file.read_bytes().replace(b'"occurredAt":"2026-05-23T12:00:00Z",', b"")
        error_file.write_bytes(now)
        told = agrajag(
            "rules", "explain", str(error_file), "--bundled", "--standing", "--json", **environment
        )
        assert json.loads(told.stdout)["answer"]["outcome"] == "SUPPRESSED"
        plain = agrajag("rules", "explain", str(error_file), "--bundled", "--json")
        assert json.loads(plain.stdout)["answer"]["outcome"] == "ENQUEUED"


async def _standing(run: Run, *healths: ToolHealth) -> None:
    await create_topics(run)
    topic = run.plan.topics.name(Topic.HEALTH_CHANGED)
    async with AIOKafkaProducer(bootstrap_servers=run.plan.bootstrap_servers) as producer:
        for health in healths:
            await producer.send_and_wait(topic, health.to_json(), b"acme|PROJECT|essays|search")


async def _filled(run: Run) -> None:
    """Three errors that the tenant's shadow rule would decide, and two that it would not."""
    await create_topics(run)
    connection = KafkaConnection(run.plan.bootstrap_servers)
    table = await read_documents(connection, run.plan.topics)
    plan = planned_push({rules_at("acme"): a_rule_file(_TRIED)}, table)
    await push(connection, run.plan.topics, plan, table)
    maintenance = [
        an_error(event_id=f"e{n}", occurred_at=None, http_status=503, body="maintenance", user_id=user)
        for n, user in enumerate(("alice", "bob", "alice"))
    ]
    others = [
        an_error(event_id="e3", occurred_at=None, http_status=503),
        an_error(event_id="e4", occurred_at=None, tenant_id="globex", http_status=503, body="maintenance"),
    ]
    await run.send(map(sent, [*maintenance, *others]))

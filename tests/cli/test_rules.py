"""`agrajag rules`: files checked, rules listed, errors explained, new rules tried on past errors."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from agrajag.documents.cascade import DocumentName
from agrajag.documents.directory import file_of
from agrajag.documents.pushing import planned_push, push
from agrajag.documents.topic import read_documents
from agrajag.embedded import EmbeddedKafka
from agrajag.wire.clients import KafkaConnection
from tests.builders import an_error
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
    file.write_bytes(an_error(http_status=503, body=f"down for maintenance, {SECRET}").to_json())
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
    assert teapot.split()[0] == "12"
    assert teapot.split()[-2:] == [
        "acme/essays/_vance/agrajag/error-patterns.yaml",
        "acme/_tenant/_vance/agrajag/error-patterns.yaml",
    ]
    assert any(line.rstrip().endswith("before http-5xx") for line in lines)
    assert next(line for line in lines if line.startswith("rejected: ")).endswith("errorCode")
    tree = json.loads(agrajag("rules", "list", *where, "--json").stdout)
    assert lines[0] == f"rule set {tree['ruleSetHash']}"
    assert [one["rule"]["id"] for one in tree["rules"]][-2:] == ["teapot", "fallback"]
    assert [one["ruleId"] for one in tree["rejected"]] == ["bad"]


def test_list_without_a_tenant_shows_the_bundled_rules_and_needs_no_broker() -> None:
    tree = json.loads(agrajag("rules", "list", "--json").stdout)
    assert len(tree["rules"]) == 12
    assert {one["source"] for one in tree["rules"]} == {"agrajag/defaults/_vance/agrajag/error-patterns.yaml"}


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
    ("value", "told"),
    [
        (b"garbage", "agrajag: not_json: "),
        (b"{}", "agrajag: missing_field: "),
        (orjson.dumps({"tenantId": "a", "toolName": "b", "error": {}, "userId": 7}), "agrajag: invalid_field: userId"),
    ],
)  # fmt: skip
def test_explain_of_what_is_no_error_says_why_and_ends_with_1(
    tmp_path: Path, value: bytes, told: str
) -> None:
    file = tmp_path / "error.json"
    file.write_bytes(value)
    ended = agrajag("rules", "explain", "--bundled", str(file))
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(told)


@pytest.mark.parametrize(
    "arguments",
    [
        ["explain"],
        ["explain", "x.json", "--event-id", "e"],
        ["explain", "/nowhere.json", "--bundled"],
        ["explain", "x.json", "--bundled", "--dir", "."],
        ["list", "--project", "essays"],
        ["list", "--tenant", "acme", "--dir", "/nowhere"],
    ],
)
def test_wrong_use_ends_with_2(arguments: list[str]) -> None:
    ended = agrajag("rules", *arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "Traceback" not in ended.stderr


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

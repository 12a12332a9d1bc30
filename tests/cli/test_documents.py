"""Pushing, listing and showing documents as a person does, on a real Kafka."""

import asyncio
from pathlib import Path

import pytest

from agrajag.bootstrap import create_topics
from agrajag.documents.cascade import RULES_PATH, SETTINGS_PATH
from agrajag.embedded import EmbeddedKafka
from agrajag.settings import load_settings
from tests.cli.programs import agrajag
from tests.documents.test_directory import put
from tests.documents.texts import a_rule_file, a_rule_text, rules_at, settings_at


@pytest.fixture
def settings(kafka: EmbeddedKafka, topic_prefix: str) -> dict[str, str]:
    found = {
        "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap_servers,
        "AGRAJAG_TOPICS_PREFIX": topic_prefix,
        "AGRAJAG_TOPICS_PARTITIONS": "1",
    }
    asyncio.run(create_topics(load_settings(found)))
    return found


def _rules(settings: dict[str, str], tenant: str, *project: str) -> str:
    shown = agrajag("documents", "show", RULES_PATH, "--tenant", tenant, *project, **settings)
    assert shown.returncode == 0, shown.stderr
    return shown.stdout


def test_a_push_says_what_it_did_and_the_second_one_does_nothing(
    settings: dict[str, str], tmp_path: Path
) -> None:
    put(tmp_path, rules_at("acme"), a_rule_file("teapot"))
    put(tmp_path, settings_at("acme", "essays"), "agrajag.answer.all: true\n")
    first = agrajag("documents", "push", str(tmp_path), **settings)
    assert (first.returncode, first.stderr) == (0, "agrajag: 2 added, 0 changed, 0 unchanged, 0 removed\n")
    assert first.stdout == f"added acme/_tenant/{RULES_PATH}\nadded acme/essays/{SETTINGS_PATH}\n"
    again = agrajag("documents", "push", str(tmp_path), "--prune", **settings)
    assert (again.returncode, again.stdout) == (0, "")
    assert again.stderr == "agrajag: 0 added, 0 changed, 2 unchanged, 0 removed\n"
    assert _rules(settings, "acme", "--project", "essays") == a_rule_file("teapot")
    listed = agrajag("documents", "list", **settings)
    assert listed.returncode == 0
    assert [line.split()[:4] for line in listed.stdout.splitlines()] == [
        ["tenant", "project", "path", "from"],
        ["acme", "_tenant", RULES_PATH, "topic"],
        ["acme", "essays", SETTINGS_PATH, "topic"],
    ]


def test_only_a_pruning_push_removes_and_only_of_the_tenants_that_it_is_about(
    settings: dict[str, str], tmp_path: Path
) -> None:
    for tenant in ("acme", "globex"):
        put(tmp_path, rules_at(tenant), a_rule_file("teapot"))
    put(tmp_path, settings_at("acme"), "agrajag.answer.all: true\n")
    assert agrajag("documents", "push", str(tmp_path), **settings).returncode == 0
    other = tmp_path / "other"
    put(other, settings_at("acme"), "agrajag.answer.all: false\n")
    kept = agrajag("documents", "push", str(other), **settings)
    assert kept.stdout == f"changed acme/_tenant/{SETTINGS_PATH}\n"
    pruned = agrajag("documents", "push", str(other), "--prune", **settings)
    assert pruned.stdout == f"removed acme/_tenant/{RULES_PATH}\n"
    assert _rules(settings, "globex") == a_rule_file("teapot")
    assert "http-403" in _rules(settings, "acme")
    assert agrajag("documents", "push", str(other), "--tenant", "globex", **settings).returncode == 2
    gone = agrajag("documents", "push", str(other), "--tenant", "globex", "--prune", **settings)
    assert gone.stdout == f"removed globex/_tenant/{RULES_PATH}\n"


def test_what_is_wrong_is_named_and_not_pushed_unless_it_is_forced(
    settings: dict[str, str], tmp_path: Path
) -> None:
    put(tmp_path, rules_at("acme"), a_rule_file("good", a_rule_text("worn", classification="WORKING")))
    put(tmp_path, settings_at("acme"), "agrajag.cooldown.max: soon\n")
    put(tmp_path, rules_at("globex"), b"\xff")
    refused = agrajag("documents", "push", str(tmp_path), **settings)
    assert (refused.returncode, refused.stdout) == (1, "")
    told = refused.stderr.splitlines()
    assert len(told) == 4
    assert f"agrajag: acme/_tenant/{RULES_PATH}: rule 'worn': classification:" in told[1]
    assert f"agrajag: acme/_tenant/{SETTINGS_PATH}: agrajag.cooldown.max: 'soon' is not" in told[2]
    assert agrajag("documents", "list", **settings).stdout.count("\n") == 1
    forced = agrajag("documents", "push", str(tmp_path), "--force", "--tenant", "acme", **settings)
    assert (forced.returncode, forced.stdout.count("added")) == (0, 2)
    assert "globex" not in forced.stderr
    listed = agrajag("documents", "list", **settings)
    assert (listed.returncode, len(listed.stderr.splitlines())) == (1, 2)


def test_a_directory_for_workers_is_listed_and_shown_beneath_the_topic(
    settings: dict[str, str], tmp_path: Path
) -> None:
    put(tmp_path, rules_at("acme"), a_rule_file("file"))
    mounted = settings | {"AGRAJAG_DOCUMENTS_DIR": str(tmp_path)}
    assert "directory" in agrajag("documents", "list", **mounted).stdout
    assert _rules(mounted, "acme") == a_rule_file("file")
    missing = agrajag("documents", "show", "_vance/nothing.yaml", "--tenant", "acme", **settings)
    assert (missing.returncode, missing.stdout) == (1, "")
    assert missing.stderr == "agrajag: there is no document _vance/nothing.yaml for acme\n"

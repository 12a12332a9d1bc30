"""`agrajag rules score`: figures for people and for machines, bad lines named."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from agrajag.cli.rules import app
from agrajag.documents.directory import file_of
from agrajag.errors import ConfigError
from tests.documents.texts import a_rule_file, a_rule_text, rules_at, settings_at

_LINE = {
    "family": "slack-web-api",
    "transport": "http",
    "expectedClassification": "INTERMITTENT",
    "ambiguous": False,
    "alternatives": [],
    "fidelity": "seen",
}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    lines = [
        {
            **_LINE,
            "id": "limited",
            "httpStatus": 429,
            "headers": {"Retry-After": "7"},
            "expectedCooldownSeconds": 7,
        },
        {**_LINE, "id": "refused", "httpStatus": 403, "fidelity": "composed"},
        {
            **_LINE,
            "id": "odd",
            "httpStatus": 503,
            "ambiguous": True,
            "alternatives": ["UNCLEAR"],
            "family": "aws",
        },
    ]
    file = tmp_path / "corpus.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["score", *map(str, arguments)])


def test_the_figures_the_labels_the_families_and_the_worst_records_are_shown(corpus: Path) -> None:
    ended = run(corpus)
    assert ended.exit_code == 0
    lines = [line.split() for line in ended.stdout.splitlines()]
    assert lines[0][:5] == ["unambiguous", "1", "of", "2", "50.0%"]
    assert [line[0] for line in lines[:6]] == [
        "unambiguous", "all", "acceptable", "unclear", "cooldown", "harmful",
    ]  # fmt: skip
    assert lines[5][1] == "1"
    assert ["INTERMITTENT", "1", "1", "1"] in lines
    assert ["aws", "1", "0/1", "1/1", "1/1"] in lines
    assert ["refused", "slack-web-api", "INTERMITTENT", "USER_PERMISSION", "(harmful)", "http-403"] in lines


def test_one_object_tells_machines_everything(corpus: Path) -> None:
    tree = json.loads(run(corpus, "--json").stdout)
    assert tree["unambiguous"] == {"right": 1, "of": 2, "share": 0.5}
    assert tree["acceptable"] == {"right": 2, "of": 3, "share": pytest.approx(2 / 3)}
    assert tree["unclear"]["right"] == 1
    assert tree["cooldown"] == {"right": 1, "of": 1, "share": 1.0}
    assert (tree["harmful"]["count"], tree["harmful"]["byLabelAlone"]) == (1, 1)
    assert [(one["id"], one["said"], one["ruleId"]) for one in tree["harmful"]["records"]] == [
        ("refused", "USER_PERMISSION", "http-403")
    ]
    assert tree["families"]["aws"]["acceptable"] == {"right": 1, "of": 1, "share": 1.0}
    assert tree["classifications"] == {
        "INTERMITTENT": {
            "records": 3, "right": 1, "said": {"INTERMITTENT": 1, "USER_PERMISSION": 1, "UNCLEAR": 1},
        }
    }  # fmt: skip
    assert [one["id"] for one in tree["wrong"]] == ["refused"]


def test_only_what_was_seen_is_scored_if_so_wanted(corpus: Path) -> None:
    assert json.loads(run(corpus, "--json", "--seen").stdout)["all"]["of"] == 2


def test_bad_lines_are_named_the_rest_is_scored_and_it_ends_with_1(corpus: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.jsonl"
    more.write_text('\n{"id": "half"}\n')
    ended = run(corpus, more, "--json")
    assert ended.exit_code == 1
    assert f"{more}: line 2: family: " in ended.stderr
    assert json.loads(ended.stdout)["all"]["of"] == 3


def test_a_file_that_cannot_be_read_is_an_error_of_the_command(tmp_path: Path) -> None:
    ended = run(tmp_path / "none.jsonl")
    assert isinstance(ended.exception, ConfigError)
    assert "none.jsonl: No such file" in str(ended.exception)


def test_a_tenants_own_rules_and_settings_are_scored(corpus: Path, tmp_path: Path) -> None:
    own = a_rule_text("http-403", match={"httpStatus": 403}, classification="INTERMITTENT")
    directory = tmp_path / "documents"
    for name, text in (
        (rules_at("acme"), a_rule_file(own)),
        (settings_at("acme"), "agrajag.packs.off: true"),
    ):
        file = file_of(directory, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    tree = json.loads(run(corpus, "--json", "--tenant", "acme", "--dir", directory).stdout)
    assert tree["unambiguous"]["right"] == 2

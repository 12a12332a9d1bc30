"""Pack files: a head, rules with a source and examples, and everything wrong told."""

from typing import Any

import pytest

from agrajag.core.pack_parsing import parse_pack
from agrajag.core.rule_parsing import parse_layer

_BUNDLED = frozenset({"http-403", "fallback"})
_RULE: dict[str, Any] = {
    "id": "slack-archived",
    "match": {"errorCode": "is_archived"},
    "signature": "slack-archived",
    "classification": "USER_INPUT",
    "source": "Slack Web API, errors of chat.postMessage",
    "examples": [{"httpStatus": 200, "body": '{"ok": false, "error": "is_archived"}'}],
}
_PACK: dict[str, Any] = {
    "name": "slack",
    "families": ["slack-*"],
    "description": "The Web API of\nSlack.",
    "patterns": [_RULE],
}


def wrong(**changes: Any) -> list[tuple[str | None, str]]:
    pack, problems = parse_pack({**_PACK, **changes}, "packs/slack.yaml", _BUNDLED)
    assert pack is None
    assert {problem.source for problem in problems} == {"packs/slack.yaml"}
    return [(problem.rule_id, problem.field) for problem in problems]


def test_a_pack_has_a_head_and_rules_that_know_their_pack_source_and_examples() -> None:
    pack, problems = parse_pack(_PACK, "packs/slack.yaml", _BUNDLED)
    assert problems == ()
    assert pack is not None
    assert (pack.name, pack.families, pack.description) == ("slack", ("slack-*",), "The Web API of Slack.")
    (rule,) = pack.layer.rules
    assert (rule.id, rule.pack) == ("slack-archived", "slack")
    assert pack.sources == {"slack-archived": _RULE["source"]}
    assert pack.examples == {"slack-archived": tuple(_RULE["examples"])}
    assert pack.counter_examples == {"slack-archived": ()}


def test_one_family_may_be_named_by_itself_and_none_for_all() -> None:
    given = {name: value for name, value in _PACK.items() if name != "families"}
    for head, families in (({"family": "slack"}, ("slack",)), ({}, ())):
        pack, _ = parse_pack(given | head, "packs/slack.yaml", _BUNDLED)
        assert pack is not None
        assert pack.families == families


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"description": None}, "description"),
        ({"family": "slack"}, "family"),
        ({"families": "slack"}, "families"),
        ({"families": [7]}, "families"),
        ({"vendor": "slack"}, "vendor"),
        ({"patterns": {}}, "patterns"),
    ],
)
def test_a_bad_head_is_told(changes: dict[str, Any], field: str) -> None:
    assert wrong(**changes) == [(None, field)]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"source": None}, "source"),
        ({"source": " "}, "source"),
        ({"examples": []}, "examples"),
        ({"examples": None}, "examples"),
        ({"examples": ["is_archived"]}, "examples"),
        ({"notExamples": {}}, "notExamples"),
        ({"before": "slack-other"}, "before"),
        ({"shadow": True}, "shadow"),
        ({"match": {"typo": 1}}, "match.typo"),
    ],
)
def test_a_bad_rule_of_a_pack_is_told(changes: dict[str, Any], field: str) -> None:
    assert wrong(patterns=[{**_RULE, **changes}]) == [("slack-archived", field)]


def test_a_pack_has_no_rule_of_a_bundled_id() -> None:
    assert wrong(patterns=[{**_RULE, "id": "http-403"}]) == [("http-403", "id")]


@pytest.mark.parametrize("data", [None, [], "slack"])
def test_what_is_no_mapping_is_no_pack(data: object) -> None:
    pack, (problem,) = parse_pack(data, "packs/slack.yaml", _BUNDLED)
    assert (pack, problem.field) == (None, "pack")


def test_another_rule_file_knows_neither_source_nor_examples() -> None:
    layer = parse_layer({"patterns": [_RULE]}, "rules.yaml")
    assert layer.rules == ()
    assert [problem.field for problem in layer.problems] == ["source"]

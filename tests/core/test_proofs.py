"""What a pack shows of its rules is held against what they decide."""

from typing import Any

import pytest

from agrajag.core.match import RuleSet, compiled
from agrajag.core.pack_parsing import parse_pack
from agrajag.core.packs import Pack
from agrajag.core.proofs import NotAnError, error_of, unproven
from tests.builders import NOW, a_rule


def _pack(**fields: Any) -> Pack:
    rule = {
        "id": "limit",
        "match": {"errorCodes": ["E1"]},
        "signature": "limit",
        "classification": "INTERMITTENT",
        "cooldown": "header:retry-after",
        "source": "somebody's documentation",
        "examples": [{"errorCode": "E1"}],
    } | fields
    data = {"name": "some", "description": "Something.", "patterns": [rule]}
    pack, problems = parse_pack(data, "some.yaml", frozenset())
    assert pack is not None, problems
    return pack


def _rules(pack: Pack) -> RuleSet:
    return compiled([[*pack.layer.rules, a_rule("fallback")]])


def _told(pack: Pack) -> list[str]:
    return list(map(str, unproven(pack, _rules(pack), NOW)))


def test_a_pack_whose_rules_decide_what_they_show_is_proven() -> None:
    pack = _pack(
        examples=[
            {"errorCode": "E1", "headers": {"Retry-After": "7"}, "cooldownSeconds": 7},
            {"httpStatus": 400, "body": {"error": {"code": "E1"}}, "classification": "INTERMITTENT"},
        ],
        notExamples=[{"errorCode": "E2"}],
    )
    assert _told(pack) == []


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"examples": [{"errorCode": "E1"}, {"errorCode": "E2"}]}, "examples[1]: is decided by fallback"),
        (
            {"examples": [{"errorCode": "E1", "classification": "USER_INPUT"}]},
            "examples[0]: is INTERMITTENT, not",
        ),
        (
            {"examples": [{"errorCode": "E1", "headers": {"Retry-After": "7"}, "cooldownSeconds": 9}]},
            "examples[0]: waits 7 seconds, not 9",
        ),
        ({"examples": [{"errorCode": "E1", "status": 400}]}, "examples[0]: an error has no field 'status'"),
        (
            {"examples": [{"errorCode": "E1", "httpStatus": 7}]},
            "examples[0]: is no error: error.httpStatus: ",
        ),
        ({"notExamples": [{"errorCode": "E1"}]}, "notExamples[0]: is decided by limit"),
        (
            {"notExamples": [{"errorCode": "E2", "classification": "USER_INPUT"}]},
            "notExamples[0]: is UNCLEAR by fallback, not",
        ),
    ],
)
def test_what_is_not_as_shown_is_told_with_the_example(fields: dict[str, Any], told: str) -> None:
    (problem,) = _told(_pack(**fields))
    assert problem.startswith(f"some.yaml: rule 'limit': {told}")


def test_an_example_of_what_json_does_not_know_is_no_error() -> None:
    with pytest.raises(NotAnError, match="is no error"):
        error_of({"message": {1, 2}})

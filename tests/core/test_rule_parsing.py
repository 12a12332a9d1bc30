"""A rule file is checked rule by rule: a bad one is named and left out, and never matches more than was meant."""

from datetime import timedelta
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.match_parsing import SELECTORS
from agrajag.core.rule_parsing import MAX_RULES, parse_layer
from agrajag.core.rules import Rule, Selectors
from agrajag.model.enums import Classification, HealthAction

_GOOD: dict[str, Any] = {
    "id": "http-403",
    "match": {"httpStatus": 403},
    "signature": "http-403",
    "classification": "USER_PERMISSION",
}
_MISSING = object()


def _entry(**changes: Any) -> dict[str, Any]:
    return {name: value for name, value in (_GOOD | changes).items() if value is not _MISSING}


def _parsed(**changes: Any) -> Rule:
    layer = parse_layer({"patterns": [_entry(**changes)]}, "rules.yaml")
    assert layer.problems == ()
    (rule,) = layer.rules
    return rule


def test_a_rule_is_read_with_status_signature_class_cooldown_and_lock() -> None:
    assert _parsed(cooldown="PT24H", locked=True, note="a note", before="other") == Rule(
        id="http-403",
        match=Selectors(http_statuses=(403, 403)),
        signature="http-403",
        classification=Classification.USER_PERMISSION,
        cooldown=timedelta(hours=24),
        locked=True,
        note="a note",
        before="other",
    )


def test_what_a_rule_leaves_out_has_the_defaults_of_the_specification() -> None:
    rule = _parsed()
    assert (rule.cooldown, rule.cooldown_header, rule.note, rule.before) == (None, None, None, None)
    assert rule.health_action is HealthAction.NONE
    assert (rule.locked, rule.shadow) == (False, False)


@pytest.mark.parametrize("written", ["header:retry-after", "header:Retry-After", "header: Retry-After "])
def test_a_cooldown_may_name_a_response_header(written: str) -> None:
    rule = _parsed(cooldown=written)
    assert (rule.cooldown, rule.cooldown_header) == (None, "retry-after")


@pytest.mark.parametrize("written", ["markUnavailable", "markunavailable", "MARKUNAVAILABLE"])
def test_a_health_action_is_read_whatever_its_case_and_the_exceptions_stay(written: str) -> None:
    rule = _parsed(healthAction=written, match={"exceptionType": ["a.B", "c.D"]})
    assert rule.health_action is HealthAction.MARK_UNAVAILABLE
    assert rule.match.exception_types == ("a.B", "c.D")


def test_an_empty_match_has_no_selectors() -> None:
    assert _parsed(match={}).match == Selectors()


def test_all_selectors_of_one_rule_are_kept() -> None:
    match = {
        "httpStatusRange": [500, 599],
        "exceptionType": ["X"],
        "bodyContains": ["Bad ÄPFEL"],
        "errorCode": "e",
    }
    assert _parsed(match=match).match == Selectors((500, 599), ("X",), ("bad äpfel",), "e")


def test_status_and_range_together_mean_both() -> None:
    assert _parsed(match={"httpStatus": 503, "httpStatusRange": [500, 599]}).match.http_statuses == (503, 503)
    assert _parsed(match={"httpStatusRange": [400, 599], "httpStatus": 404}).match.http_statuses == (404, 404)


def test_a_numeric_error_code_is_its_digits() -> None:
    assert _parsed(match={"errorCode": -32601}).match.error_code == "-32601"


_ENDLESS: list[Any] = ["x"] * 10
for _ in range(12):
    _ENDLESS = [_ENDLESS] * 10
_CIRCLE: list[Any] = []
_CIRCLE.append(_CIRCLE)

_REJECTED = [
    ("id", _MISSING, "id", "is required"),
    ("id", "", "id", "is not a text"),
    ("id", "  ", "id", "is not a text"),
    ("id", 7, "id", "7 is not a text"),
    ("id", "x" * 121, "id", "121 characters"),
    ("id", "a\nb", "id", "one line"),
    ("id", "a\x00b", "id", "control character"),
    ("id", "a\ud800b", "id", "surrogate"),
    ("match", _MISSING, "match", "is required"),
    ("match", None, "match", "must be a mapping"),
    ("match", "403", "match", "must be a mapping"),
    ("match", {"httpstatus": 403}, "match.httpstatus", "unknown selector"),
    ("match", {"tool": "x"}, "match.tool", "unknown selector"),
    ("match", {"bodyRegex": "5[0-9]+"}, "match.bodyRegex", "unknown selector"),
    ("match", {"httpStatus": "5.."}, "match.httpStatus", "'5..' is no HTTP status"),
    ("match", {7: 1}, "match.7", "unknown selector"),
    ("match", {"httpStatus": "403"}, "match.httpStatus", "'403' is no HTTP status"),
    ("match", {"httpStatus": True}, "match.httpStatus", "True is no HTTP status"),
    ("match", {"httpStatus": 403.0}, "match.httpStatus", "403.0 is no HTTP status"),
    ("match", {"httpStatus": 99}, "match.httpStatus", "99 is no HTTP status"),
    ("match", {"httpStatus": 1000}, "match.httpStatus", "1000 is no HTTP status"),
    ("match", {"httpStatus": None}, "match.httpStatus", "None is no HTTP status"),
    ("match", {"httpStatusRange": [500]}, "match.httpStatusRange", "list of two"),
    ("match", {"httpStatusRange": "500-599"}, "match.httpStatusRange", "list of two"),
    ("match", {"httpStatusRange": [599, 500]}, "match.httpStatusRange", "599 is above 500"),
    ("match", {"httpStatusRange": [500, "x"]}, "match.httpStatusRange", "'x' is no HTTP status"),
    ("match", {"httpStatus": 404, "httpStatusRange": [500, 599]}, "match.httpStatusRange", "can never match"),
    ("match", {"exceptionType": "java.net.ConnectException"}, "match.exceptionType", "must be a list"),
    ("match", {"exceptionType": []}, "match.exceptionType", "at least one"),
    ("match", {"exceptionType": [None]}, "match.exceptionType", "is not a text"),
    ("match", {"bodyContains": "x"}, "match.bodyContains", "must be a list"),
    ("match", {"bodyContains": [" "]}, "match.bodyContains", "is not a text"),
    ("match", {"bodyContains": ["x" * 501]}, "match.bodyContains", "501 characters"),
    ("match", {"errorCode": ["x"]}, "match.errorCode", "is not a text"),
    ("match", {"errorCode": True}, "match.errorCode", "is not a text"),
    ("match", {"errorCode": 10**5000}, "match.errorCode", "bits"),
    ("signature", _MISSING, "signature", "is required"),
    ("signature", "a\tb", "signature", "one line"),
    ("signature", "a\x9bb", "signature", "cannot be seen"),
    ("signature", "a\u202eb", "signature", "cannot be seen"),
    ("id", "a\u200bb", "id", "cannot be seen"),
    ("classification", _MISSING, "classification", "is required"),
    ("classification", "BROKEN", "classification", "'BROKEN' is none of"),
    ("classification", "unclear", "classification", "'unclear' is none of"),
    ("classification", "WORKING", "classification", "never shows that a tool is WORKING"),
    ("classification", ["UNCLEAR"], "classification", "is none of"),
    ("classification", _ENDLESS, "classification", "is none of"),
    ("cooldown", 300, "cooldown", "300 is neither"),
    ("cooldown", "5m", "cooldown", "'5m' is no positive"),
    ("cooldown", "PT0S", "cooldown", "no positive"),
    ("cooldown", "-PT5M", "cooldown", "no positive"),
    ("cooldown", "P1M", "cooldown", "no positive"),
    ("cooldown", "P9999Y", "cooldown", "no positive"),
    ("cooldown", "header:", "cooldown", "is not a text"),
    ("cooldown", _ENDLESS * 2, "cooldown", "a list of one to 12 places"),
    ("cooldown", _CIRCLE, "cooldown", "is no positive"),
    ("cooldown", 1 << 100_000, "cooldown", "a number of 100001 bits"),
    ("healthAction", "markDown", "healthAction", "'markDown' is none of none, markUnavailable"),
    ("healthAction", None, "healthAction", "None is none of"),
    ("locked", "yes", "locked", "neither true nor false"),
    ("locked", None, "locked", "neither true nor false"),
    ("shadow", "yes", "shadow", "neither true nor false"),
    ("note", 7, "note", "is not a text"),
    ("note", "x" * 501, "note", "501 characters"),
    ("before", 7, "before", "is not a text"),
    ("prio", 1, "prio", "unknown field"),
    ("helathAction", "none", "helathAction", "unknown field"),
    ("he\x1b[2J", "none", "'he\\x1b[2J'", "unknown field"),
]


@pytest.mark.parametrize(
    ("name", "value", "field", "reason"),
    _REJECTED,
    ids=[f"{field}: {reason}" for _, _, field, reason in _REJECTED],
)
def test_a_bad_rule_is_rejected_with_file_id_field_and_reason(
    name: str, value: Any, field: str, reason: str
) -> None:
    layer = parse_layer({"patterns": [_entry(**{name: value})]}, "acme/rules.yaml")
    assert layer.rules == ()
    (problem,) = layer.problems
    assert problem.source == "acme/rules.yaml"
    assert problem.rule_id == ("http-403" if name != "id" else problem.rule_id)
    assert problem.field == field
    assert reason in problem.reason
    assert str(problem).startswith("acme/rules.yaml: rule '")
    assert len(str(problem)) < 700


def test_a_rule_without_an_id_is_named_by_its_place() -> None:
    layer = parse_layer({"patterns": [_entry(), "text", _entry(id=_MISSING)]}, "rules.yaml")
    assert [problem.rule_id for problem in layer.problems] == ["#2", "#3"]


def test_a_bad_rule_leaves_the_others_in_force() -> None:
    entries = [_entry(id="a"), _entry(id="b", match={"typo": 1}), _entry(id="c")]
    layer = parse_layer({"patterns": entries}, "rules.yaml")
    assert [rule.id for rule in layer.rules] == ["a", "c"]
    assert [problem.rule_id for problem in layer.problems] == ["b"]


def test_of_two_rules_with_one_id_the_first_is_in_force() -> None:
    layer = parse_layer({"patterns": [_entry(note="first"), _entry(note="second")]}, "rules.yaml")
    assert [rule.note for rule in layer.rules] == ["first"]
    assert [problem.field for problem in layer.problems] == ["id"]


def test_a_rule_may_be_tried_beside_the_one_of_its_id_that_is_in_force() -> None:
    entries = [_entry(), _entry(shadow=True), _entry(shadow=True, note="again")]
    layer = parse_layer({"patterns": entries}, "rules.yaml")
    assert [rule.shadow for rule in layer.rules] == [False, True]
    assert [problem.field for problem in layer.problems] == ["id"]


def test_what_reads_like_a_regular_expression_is_a_plain_text() -> None:
    assert _parsed(match={"bodyContains": [".*"]}).match.body_contains == (".*",)


def test_a_file_with_more_rules_than_allowed_is_a_problem_of_the_whole_file() -> None:
    entries = [_entry(id=f"rule-{number}") for number in range(MAX_RULES + 1)]
    assert len(parse_layer({"patterns": entries[:-1]}, "rules.yaml").rules) == MAX_RULES
    layer = parse_layer({"patterns": entries}, "rules.yaml")
    assert layer.rules == ()
    assert [str(problem) for problem in layer.problems] == [
        "rules.yaml: patterns: the file has 10,001 rules; at most 10,000 are allowed"
    ]


@pytest.mark.parametrize(
    "data", [None, [], "patterns", 7, {}, {"patterns": None}, {"patterns": {}}, {"rules": []}]
)
def test_a_file_without_a_list_of_patterns_is_a_problem_of_the_whole_file(data: object) -> None:
    layer = parse_layer(data, "rules.yaml")
    assert layer.rules == ()
    (problem,) = layer.problems
    assert (problem.rule_id, problem.field) == (None, "patterns")
    assert str(problem) == "rules.yaml: patterns: the file must be a mapping with a list `patterns`"


def test_an_empty_list_of_patterns_is_a_good_file() -> None:
    layer = parse_layer({"patterns": []}, "rules.yaml")
    assert (layer.rules, layer.problems) == ((), ())


_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.dates()
    | st.binary(max_size=3)
)
_DATA = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4) | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)
_NAMES = [
    "id",
    "match",
    "signature",
    "classification",
    "cooldown",
    "healthAction",
    "locked",
    "note",
    "before",
    "shadow",
    "errorCode",
    "hint",
    "other",
]
_SELECTORS = [*SELECTORS, "other"]
_NEAR_MISSES = st.dictionaries(
    st.sampled_from(_NAMES),
    _DATA
    | st.sampled_from(["UNCLEAR", "PT5M", "none"])
    | st.dictionaries(st.sampled_from(_SELECTORS), _DATA),
)


@given(st.lists(_NEAR_MISSES | _DATA, max_size=4), _DATA)
def test_no_data_makes_the_check_raise_and_every_entry_is_a_rule_or_a_problem(
    entries: list[Any], data: Any
) -> None:
    layer = parse_layer({"patterns": entries}, "rules.yaml")
    assert len(layer.rules) + len(layer.problems) == len(entries)
    assert all(problem.field and problem.reason for problem in layer.problems)
    assert parse_layer(data, "rules.yaml").rules == ()


@given(st.dictionaries(st.sampled_from(_SELECTORS), _DATA, min_size=1))
def test_a_match_that_names_anything_never_becomes_a_catch_all(match: dict[str, Any]) -> None:
    assert all(
        rule.match != Selectors() for rule in parse_layer({"patterns": [_entry(match=match)]}, "f").rules
    )


def test_a_small_file_whose_aliases_unfold_endlessly_is_rejected_at_once() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30)]
    lines.append(
        "patterns: [{id: a, match: {}, signature: *a29, classification: *a29, cooldown: *a29, note: *a29}]"
    )
    layer = parse_layer(yaml.safe_load("\n".join(lines)), "rules.yaml")
    assert [problem.field for problem in layer.problems] == ["signature"]

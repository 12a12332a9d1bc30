"""Rule files as text, and the bundled one against the table of the specification (spec agrajag §4.2)."""

import time
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.cooldown import span_for
from agrajag.core.policy import Policy
from agrajag.core.rules import Rule, merge
from agrajag.documents.rule_files import bundled_layer, bundled_rules, read_layer
from agrajag.model.answers import MAX_CONTENT
from agrajag.model.enums import Classification, HealthAction
from tests.builders import NOW, features_of

C, ACTION = Classification, HealthAction
_SECONDS, _MINUTES, _DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=24)


class Row(NamedTuple):
    """One row of the table, and an error that is an example of it."""

    id: str
    error: dict[str, Any]
    signature: str
    classification: Classification
    pause: timedelta
    locked: bool
    action: HealthAction = ACTION.NONE


_TOOL = "ToolException"
TABLE = (
    Row(
        "http-401-expired-token",
        {"http_status": 401, "body": '{"error":"TOKEN_EXPIRED"}'},
        "http-401-expired",
        C.USER_SPECIFIC_TECHNICAL,
        _DAY,
        True,
    ),
    Row(
        "http-401-generic",
        {"http_status": 401, "body": "who are you"},
        "http-401",
        C.UNCLEAR,
        30 * _SECONDS,
        False,
    ),
    Row("http-403", {"http_status": 403}, "http-403", C.USER_PERMISSION, _DAY, True),
    Row("http-404-endpoint", {"http_status": 404}, "http-404", C.UNCLEAR, 30 * _SECONDS, False),
    Row(
        "http-429",
        {"http_status": 429, "headers": {"Retry-After": "90"}},
        "http-429",
        C.INTERMITTENT,
        90 * _SECONDS,
        True,
    ),
    Row("http-5xx", {"http_status": 503}, "http-5xx", C.UNCLEAR, 30 * _SECONDS, False),
    Row(
        "socket-timeout",
        {"exception_type": "java.net.SocketTimeoutException"},
        "timeout",
        C.UNCLEAR,
        30 * _SECONDS,
        False,
    ),
    Row(
        "connect-refused",
        {"exception_type": "java.net.ConnectException"},
        "connect-refused",
        C.TECHNICALLY_BROKEN,
        5 * _MINUTES,
        True,
        ACTION.MARK_UNAVAILABLE,
    ),
    Row(
        "schema-violation",
        {"body": "__schema_violation__"},
        "schema-violation",
        C.UNCLEAR,
        30 * _SECONDS,
        False,
    ),
    Row(
        "manual-read-not-found",
        {"exception_type": _TOOL, "message": "Manual not found: 'doc-kind-calendar'"},
        "manual-not-found",
        C.USER_INPUT,
        5 * _MINUTES,
        True,
    ),
    Row(
        "tool-exception-generic", {"exception_type": _TOOL}, "tool-exception", C.UNCLEAR, 30 * _SECONDS, False
    ),
    Row("fallback", {}, "unclassified", C.UNCLEAR, 30 * _SECONDS, True),
)


def _matched(**error: Any) -> Rule:
    rule = bundled_rules().first_match(features_of(**error))
    assert rule is not None
    return rule


def test_the_bundled_rules_are_the_table_in_its_order_and_nothing_else() -> None:
    assert [rule.id for rule in bundled_rules().rules] == [row.id for row in TABLE]
    assert bundled_layer().problems == ()


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.id)
def test_a_row_of_the_table_decides_its_example_as_the_specification_says(row: Row) -> None:
    rule = _matched(**row.error)
    assert rule.id == row.id
    assert (rule.signature, rule.classification) == (row.signature, row.classification)
    assert (rule.health_action, rule.locked) == (row.action, row.locked)
    assert span_for(rule, 1, features_of(**row.error), NOW, Policy()) == row.pause


@pytest.mark.parametrize(
    ("error", "rule_id"),
    [
        ({"http_status": 401, "body": "expired_token"}, "http-401-expired-token"),
        ({"http_status": 401, "message": "token_expired"}, "http-401-expired-token"),
        ({"http_status": 400, "body": "token_expired"}, "fallback"),
        ({"http_status": 499}, "fallback"),
        ({"http_status": 500}, "http-5xx"),
        ({"http_status": 599}, "http-5xx"),
        ({"http_status": 402}, "fallback"),
        ({"http_status": 200}, "fallback"),
        ({"http_status": 503, "exception_type": "java.net.ConnectException"}, "http-5xx"),
        ({"exception_type": "java.net.UnknownHostException"}, "connect-refused"),
        (
            {"exception_type": _TOOL, "exception_chain": (_TOOL, "java.net.ConnectException")},
            "connect-refused",
        ),
        (
            {"exception_type": _TOOL, "exception_chain": ("java.net.SocketTimeoutException",)},
            "socket-timeout",
        ),
        ({"exception_type": "ConnectionRefusedError"}, "connect-refused"),
        ({"exception_type": "httpx.ReadTimeout"}, "socket-timeout"),
        ({"exception_type": _TOOL, "body": "__schema_violation__"}, "schema-violation"),
        ({"exception_type": _TOOL, "message": "Recipe not found"}, "tool-exception-generic"),
        ({"message": "Manual not found: 'x'"}, "fallback"),
        ({"message": "HTTP 403 Forbidden"}, "http-403"),
        ({"message": "took 403 ms"}, "fallback"),
    ],
)
def test_the_order_and_the_selectors_decide_between_neighbours(error: dict[str, Any], rule_id: str) -> None:
    assert _matched(**error).id == rule_id


def test_too_many_requests_without_a_hint_waits_as_its_class_does() -> None:
    rule = _matched(http_status=429)
    spans = [span_for(rule, hits, features_of(http_status=429), NOW, Policy()) for hits in (1, 2, 3)]
    assert spans == [30 * _SECONDS, 2 * _MINUTES, 8 * _MINUTES]


def test_only_a_refused_connection_writes_a_status_by_itself() -> None:
    marking = [rule.id for rule in bundled_rules().rules if rule.health_action is not ACTION.NONE]
    assert marking == ["connect-refused"]


@given(
    st.integers(100, 599) | st.none(),
    st.sampled_from(["ToolException", "java.net.ConnectException", "x.Other"]) | st.none(),
    st.text(max_size=20),
)
def test_every_error_has_a_rule(status: int | None, exception: str | None, body: str) -> None:
    assert _matched(http_status=status, exception_type=exception, body=body).signature


def test_ten_thousand_rules_are_read() -> None:
    line = "- {{id: rule-{0}, match: {{httpStatus: 500}}, signature: s, classification: UNCLEAR}}\n"
    layer = read_layer("patterns:\n" + "".join(line.format(i) for i in range(10_000)), "acme")
    assert len(layer.rules) == 10_000


def test_a_text_of_ten_megabytes_is_refused_unread() -> None:
    text = "patterns: []\n" + "# nothing\n" * 1_000_000
    started = time.process_time()
    layer = read_layer(text, "acme/rules.yaml")
    assert time.process_time() - started < 0.1
    assert layer.rules == ()
    assert [str(problem) for problem in layer.problems] == [
        f"acme/rules.yaml: file: has {len(text):,} characters; at most {MAX_CONTENT:,} are read"
    ]


def test_the_bundled_rules_are_read_once() -> None:
    assert bundled_rules() is bundled_rules()


def test_a_rule_file_is_read_from_yaml() -> None:
    text = "patterns:\n- {id: a, match: {httpStatus: 418}, signature: teapot, classification: USER_INPUT}\n"
    layer = read_layer(text, "acme")
    assert [rule.signature for rule in layer.rules] == ["teapot"]
    assert [rule.id for rule in merge([bundled_layer().rules, layer.rules])][-2:] == ["a", "fallback"]


@pytest.mark.parametrize(
    "text",
    [
        "patterns: [", "a: b: c", "\t- x", "\x00", "!!python/object/apply:os.system ['true']", "&a [*b]", "x: \ud800",
        "[" * 3_000, "? {a: b} : c", "x: 2026-99-99", "x: " + "9" * 5_000, "%TAG ! x", "- !!binary 'x'",
        "!!timestamp soon", "!!int ''", "!!bool x", "- !!set [a]", "!!timestamp 2026-01-01T00:00:00+9999:00",
        "{<<: [1]}",
    ],
    ids=lambda text: ascii(text)[:24],
)  # fmt: skip
def test_text_that_is_no_yaml_is_one_problem_of_the_whole_file(text: str) -> None:
    layer = read_layer(text, "acme/rules.yaml")
    assert layer.rules == ()
    (problem,) = layer.problems
    assert (problem.source, problem.rule_id) == ("acme/rules.yaml", None)
    assert 0 < len(problem.reason) <= 300
    assert "\n" not in problem.reason


@pytest.mark.parametrize("text", ["", "---", "# nothing", "patterns:", "rules: []", "- a", "just a text"])
def test_yaml_that_holds_no_patterns_is_one_problem_of_the_whole_file(text: str) -> None:
    (problem,) = read_layer(text, "acme").problems
    assert (problem.rule_id, problem.field) == (None, "patterns")


_PIECES = [
    "patterns:",
    "- ",
    "[",
    "]",
    "{",
    "}",
    "&a ",
    "*a",
    "!!int ",
    "!!set ",
    "!!binary ",
    "!!timestamp ",
    "<<: ",
    "? ",
    "\n",
]


@given(st.lists(st.sampled_from(_PIECES) | st.text(max_size=3), max_size=12).map("".join))
def test_no_text_makes_reading_raise(text: str) -> None:
    layer = read_layer(text, "acme")
    assert layer.rules == ()
    assert layer.problems or "patterns" in text

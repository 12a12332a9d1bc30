"""Why a selector fits an error or does not, in words; never another answer than the matcher's."""

from typing import Any

import pytest
from hypothesis import given

from agrajag.core.features import Features
from agrajag.core.findings import findings, status_words
from agrajag.core.match import RuleSet
from agrajag.core.rules import Selectors
from agrajag.model.events import ToolCallError
from tests.builders import a_rule, features_of
from tests.core.rule_language import EVENTS, SELECTORS


@given(SELECTORS, EVENTS)
def test_a_rule_whose_selectors_all_hold_is_always_one_that_the_matcher_finds(
    match: Selectors, event: ToolCallError
) -> None:
    features = Features(event)
    matches = RuleSet([a_rule(match=match)]).first_match(features) is not None
    assert all(finding.holds for finding in findings(match, features)) is matches


@pytest.mark.parametrize(
    ("match", "error", "holds", "why"),
    [
        ({"http_statuses": (500, 599)}, {"http_status": 503}, True, "HTTP status 503 is in 500-599"),
        ({"http_statuses": (500, 599)}, {"http_status": 404}, False, "HTTP status 404; wanted: 500-599"),
        ({"http_statuses": (500, 599)}, {}, False, "no HTTP status; wanted: 500-599"),
        ({"http_statuses": (403, 403)}, {"http_status": 403}, True, "HTTP status 403"),
        ({"http_statuses": (403, 403)}, {"http_status": 404}, False, "HTTP status 404; wanted: 403"),
        (
            {"http_statuses": (403, 403)},
            {"message": "HTTP 403 Forbidden"},
            True,
            "HTTP status 403 (read from the message)",
        ),
        (
            {"exception_types": ("java.net.ConnectException",)},
            {"exception_type": "httpx.ConnectError"},
            True,
            "'java.net.ConnectException' was raised, here called 'httpx.ConnectError'",
        ),
        ({"exception_types": ("x.A",)}, {"exception_type": "x.A"}, True, "'x.A' was raised"),
        (
            {"exception_types": ("x.A", "x.B")},
            {"exception_type": "y.C", "exception_chain": ("y.D",)},
            False,
            "raised: 'y.C', 'y.D'; wanted: 'x.A', 'x.B'",
        ),
        ({"exception_types": ("x.A",)}, {}, False, "no exception is named; wanted: 'x.A'"),
        ({"body_contains": ("gone", "lost")}, {"body": "it is LOST"}, True, "'lost' stands in the body"),
        ({"body_contains": ("lost",)}, {"message": "it is LOST"}, True, "'lost' stands in the message"),
        (
            {"body_contains": ("a", "b", "c", "d", "e", "f")},
            {"message": "xyz"},
            False,
            "neither message nor body contains 'a' or 'b' or 'c' or 'd' and 2 more",
        ),
        ({"error_code": "quota"}, {"error_code": "quota"}, True, "the error code is 'quota'"),
        ({"error_code": "quota"}, {"body": '{"error":{"code":7}}'}, False, "the error code is '7'; wanted: 'quota'"),
        ({"error_code": "quota"}, {}, False, "there is no error code; wanted: 'quota'"),
    ],
)  # fmt: skip
def test_a_finding_says_what_was_wanted_and_what_was_there(
    match: dict[str, Any], error: dict[str, Any], holds: bool, why: str
) -> None:
    (finding,) = findings(Selectors(**match), features_of(**error))
    assert (finding.holds, finding.why) == (holds, why)


def test_each_selector_that_is_given_has_its_finding_under_its_name_in_rule_files() -> None:
    both = Selectors((500, 599), ("X",), ("x",), "x")
    names = [finding.selector for finding in findings(both, features_of())]
    assert names == ["httpStatusRange", "exceptionType", "bodyContains", "errorCode"]
    assert [finding.selector for finding in findings(Selectors((500, 500)), features_of())] == ["httpStatus"]
    assert findings(Selectors(), features_of()) == ()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ({}, "no HTTP status"),
        ({"http_status": 503, "message": "HTTP 404"}, "HTTP status 503"),
        ({"message": "HTTP 404", "body": "HTTP 503"}, "HTTP status 404 (read from the message)"),
        ({"message": "failed", "body": "HTTP 503"}, "HTTP status 503 (read from the body)"),
    ],
)
def test_the_status_is_told_with_where_it_was_found(error: dict[str, Any], words: str) -> None:
    assert status_words(features_of(**error)) == words


def test_secrets_and_what_acts_on_a_terminal_are_never_shown() -> None:
    hostile = features_of(
        error_code="Bearer abcdefghijklmnopqrstuvwxyz123456\x1b[2J\n\u202e", exception_type="a\x07b"
    )
    shown = [finding.why for finding in findings(Selectors(None, ("X",), (), "y"), hostile)]
    assert "abcdefghijklmnop" not in "".join(shown)
    assert "[redacted]" in shown[1]
    assert all(why.isprintable() for why in shown)

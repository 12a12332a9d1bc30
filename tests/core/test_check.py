"""What the caller of a failed tool is told: the rule's own words where it has some, and never against a job's."""

from dataclasses import replace
from typing import Any

import pytest

from agrajag.core.check import check_result
from agrajag.core.policy import Policy
from agrajag.core.rules import Rule
from agrajag.core.verdicts import Verdict
from agrajag.model.answers import CheckResult
from agrajag.model.enums import Classification, ToolErrorCode
from tests.builders import NOW, a_rule, an_error
from tests.core.triaging import Triage, rules_with


def _told(rule: Rule, **error: Any) -> CheckResult:
    triage = Triage()
    triage.rules = rules_with(rule)
    arrival = triage.arrival(an_error(**error), NOW)
    (verdict,) = triage.step([arrival])
    assert isinstance(verdict, Verdict)
    return check_result(arrival, verdict, triage.rules.hash, [], Policy())


@pytest.mark.parametrize(
    "classification", [one for one in Classification if one is not Classification.WORKING]
)
def test_a_hint_of_the_rule_stands_in_for_that_of_its_class_where_no_diagnosis_is_pending(
    classification: Classification,
) -> None:
    rule = a_rule("own", classification=classification, body_contains=("own",), hint="Log in to Slack again.")
    told = _told(rule, body="own").hint
    assert told == (
        "diagnosis pending" if classification is Classification.UNCLEAR else "Log in to Slack again."
    )


def test_without_a_hint_of_the_rule_the_class_speaks() -> None:
    rule = a_rule("own", classification=Classification.USER_INPUT, body_contains=("own",))
    assert _told(rule, body="own").hint == "the tool is healthy: change the input and try again"


def test_the_word_of_the_rule_counts_but_for_one_that_the_reporter_sent() -> None:
    rule = replace(
        a_rule("own", classification=Classification.USER_PERMISSION, body_contains=("own",)),
        error_code=ToolErrorCode.NOT_REGISTERED,
    )
    assert _told(rule, body="own").error_code is ToolErrorCode.NOT_REGISTERED
    assert _told(rule, body="own", error_code="BACKEND_FAILED").error_code is ToolErrorCode.BACKEND_FAILED
    assert _told(replace(rule, error_code=None), body="own").error_code is ToolErrorCode.DISALLOWED

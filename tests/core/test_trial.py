"""What shadow rules would change is told, and never happens."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.match import RuleSet, compiled
from agrajag.core.policy import Policy
from agrajag.core.rules import Rule
from agrajag.core.trial import TrialReport, Tried, tried
from agrajag.core.verdicts import Arrival, Verdict
from agrajag.documents.rule_files import bundled_layer, bundled_rules
from agrajag.model.enums import Classification, HealthAction, Outcome, Status
from agrajag.model.events import ToolCallError
from tests.builders import NOW, a_health, a_rule, an_error, features_of
from tests.core.test_triage_properties import arrivals_of, steps
from tests.core.triaging import Triage

_DOWN = a_rule(
    "ours", http_statuses=(503, 503), before="http-5xx", shadow=True,
    classification=Classification.TECHNICALLY_BROKEN, health_action=HealthAction.MARK_UNAVAILABLE,
)  # fmt: skip


def _rules(*shadows: Rule) -> RuleSet:
    return compiled([bundled_layer().rules, shadows])


def _tried(tools: Triage, policy: Policy | None = None, at: Any = NOW, **error: Any) -> Tried | None:
    arrival = tools.arrival(an_error(**{"occurred_at": at} | error), at)
    (verdict,) = tools.step([arrival])
    assert isinstance(verdict, Verdict)
    return tried(arrival, verdict, tools.rules, policy or Policy(), at)


def test_a_shadow_rule_that_would_match_first_is_told_with_the_rule_it_would_stand_in_for() -> None:
    tools = Triage(_rules(_DOWN))
    found = _tried(tools, http_status=503)
    assert found == Tried(_DOWN, bundled_rules().first_match(features_of(http_status=503)), Outcome.MARKED)
    assert found.classification is Classification.TECHNICALLY_BROKEN
    assert tools.health().status is Status.OK


def test_an_error_that_another_rule_decides_either_way_is_not_told() -> None:
    assert _tried(Triage(_rules(_DOWN)), http_status=500) is None
    assert _tried(Triage(_rules(_DOWN)), http_status=403) is None


def test_what_a_narrower_rule_of_a_known_id_leaves_to_the_others_is_told_too() -> None:
    narrower = a_rule("http-5xx", http_statuses=(500, 502), shadow=True)
    found = _tried(Triage(_rules(narrower)), http_status=503)
    assert found is not None
    assert found.rule is not None
    assert found.instead_of is not None
    assert (found.rule.id, found.instead_of.id) == ("fallback", "http-5xx")


def test_what_would_begin_does_not_depend_on_what_the_rules_in_force_have_begun() -> None:
    tools = Triage(_rules(_DOWN))
    outcomes = [
        found.outcome for n in range(3) if (found := _tried(tools, http_status=503, event_id=f"e{n}"))
    ]
    assert outcomes == [Outcome.MARKED] * 3


@pytest.mark.parametrize("error", [{"probe": True}, {"occurred_at": NOW - timedelta(minutes=16)}])
def test_an_error_about_which_no_rule_decides_anything_is_not_told(error: dict[str, Any]) -> None:
    assert _tried(Triage(_rules(_DOWN)), http_status=503, **error) is None


def test_an_error_older_than_a_success_is_not_told() -> None:
    tools = Triage(_rules(_DOWN))
    tools.put(a_health(last_success_at=NOW))
    assert _tried(tools, http_status=503) is None


def test_a_shadow_rule_that_takes_the_place_of_the_only_match_may_leave_none() -> None:
    rules = compiled([[a_rule("only")], [a_rule("only", http_statuses=(500, 500), shadow=True)]])
    found = _tried(Triage(rules))
    assert found == Tried(None, rules.rules[0], Outcome.UNMATCHED)
    assert found.classification is Classification.UNCLEAR


@given(st.lists(steps, max_size=20))
def test_shadow_rules_never_change_what_is_decided_or_kept(sequence: list[Any]) -> None:
    plain, shadowed = (
        Triage(),
        Triage(_rules(_DOWN, a_rule("all", before="http-401-expired-token", shadow=True))),
    )
    arrivals = arrivals_of(plain, sequence)
    assert plain.step(arrivals) == shadowed.step(arrivals)
    assert plain.table == shadowed.table


@given(st.lists(steps, max_size=10))
def test_without_a_shadow_rule_nothing_is_ever_told(sequence: list[Any]) -> None:
    tools = Triage()
    for arrival, verdict in zip(arrivals := arrivals_of(tools, sequence), tools.step(arrivals), strict=True):
        assert isinstance(verdict, Verdict)
        assert tried(arrival, verdict, tools.rules, Policy(), arrival.appended_at) is None


def _report(rules: RuleSet, *arrivals: Arrival[ToolCallError]) -> TrialReport:
    report = TrialReport()
    for arrival in arrivals:
        report.take(arrival, rules, Policy())
    return report


def test_a_report_counts_errors_and_users_by_tool_and_change_the_most_errors_first() -> None:
    tools, rules = Triage(), _rules(_DOWN)
    later = NOW + timedelta(minutes=5)
    report = _report(
        rules,
        tools.arrival(an_error(event_id="e1", http_status=503, user_id="alice"), later),
        tools.arrival(an_error(event_id="e2", http_status=503, user_id="bob", count=3), NOW),
        tools.arrival(an_error(event_id="e3", http_status=503, user_id=None, tool_name="other"), NOW),
        tools.arrival(an_error(event_id="e4", http_status=500), NOW),
        tools.arrival(an_error(event_id="e5", http_status=503, probe=True), NOW),
    )
    assert report.errors_read == 5
    search, other = report.counts()
    assert (search.tool_name, search.errors, search.users) == ("search", 4, 2)
    assert (search.rule_id, search.instead_of, search.outcome) == ("ours", "http-5xx", Outcome.MARKED)
    assert (search.first, search.last, search.last_event_id) == (NOW, later, "e1")
    assert (other.tool_name, other.errors, other.users) == ("other", 1, 0)


def test_of_errors_at_the_same_moment_the_one_that_was_read_last_is_named() -> None:
    tools = Triage()
    arrivals = [tools.arrival(an_error(event_id=f"e{n}", http_status=503)) for n in range(3)]
    (count,) = _report(_rules(_DOWN), *arrivals).counts()
    assert (count.errors, count.last_event_id) == (3, "e2")


def test_a_report_takes_each_error_as_if_it_had_come_in_time() -> None:
    arrival = Triage().arrival(an_error(http_status=503, occurred_at=NOW), NOW + timedelta(minutes=10))
    (count,) = _report(_rules(_DOWN), arrival).counts()
    assert count.outcome is Outcome.MARKED


def test_a_report_about_rules_without_a_shadow_reads_and_finds_nothing() -> None:
    report = _report(bundled_rules(), Triage().arrival(an_error(http_status=503)))
    assert (report.errors_read, report.counts()) == (1, [])

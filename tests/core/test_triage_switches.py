"""What a tenant has switched off does not begin, whatever the rules say, and the caller is told so."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.check import check_result
from agrajag.core.policy import ALL_NAMES, NO_NAMES, Names, Policy
from agrajag.core.verdicts import Verdict
from agrajag.model.enums import Classification, HealthAction, Outcome, Status
from tests.builders import NOW, a_rule, an_error
from tests.core.triaging import REFUSED, Triage, after, rules_with

SEARCH = Names(names=frozenset({"search"}))
NO_DIAGNOSIS = Policy(never_diagnosed=SEARCH)
NEVER_DOWN = Policy(never_down=SEARCH)


@pytest.mark.parametrize("tools", [SEARCH, ALL_NAMES])
def test_without_diagnosis_a_cooldown_begins_and_no_job(tools: Names) -> None:
    triage = Triage(policy=Policy(never_diagnosed=tools))
    verdict = triage.send(http_status=503)
    assert (verdict.outcome, verdict.job, verdict.undiagnosed) == (Outcome.UNDIAGNOSED, None, True)
    assert triage.entry().jobs == ()
    assert triage.health().counters.jobs == 0
    assert triage.send(after(seconds=10), http_status=503).outcome is Outcome.SUPPRESSED
    assert triage.send(after(minutes=5), http_status=503).outcome is Outcome.UNDIAGNOSED


def test_other_tools_and_other_classes_go_on_as_ever() -> None:
    triage = Triage(policy=NO_DIAGNOSIS)
    assert triage.send(http_status=503, tool_name="other").outcome is Outcome.ENQUEUED
    assert triage.send(http_status=403).outcome is Outcome.COOLING_DOWN
    assert triage.send(**REFUSED).outcome is Outcome.MARKED


def test_a_diagnosis_that_runs_when_it_is_switched_off_is_still_joined() -> None:
    triage = Triage()
    first = triage.send(http_status=503)
    triage.policy = NO_DIAGNOSIS
    verdict = triage.send(after(seconds=1), http_status=503)
    assert (verdict.outcome, verdict.job_id) == (Outcome.COALESCED, first.job_id)


@pytest.mark.parametrize("tools", [SEARCH, ALL_NAMES])
def test_a_tool_that_is_never_down_cools_down_without_a_status(tools: Names) -> None:
    triage = Triage(policy=Policy(never_down=tools))
    verdict = triage.send(**REFUSED)
    assert (verdict.outcome, verdict.unmarked) == (Outcome.UNMARKED, True)
    assert (triage.health().status, triage.health().history) == (Status.OK, ())
    assert triage.send(after(seconds=10), **REFUSED).outcome is Outcome.SUPPRESSED


def test_a_tool_that_is_never_down_may_be_degraded() -> None:
    degrading = a_rule(
        "slow", http_statuses=(504, 504), health_action=HealthAction.MARK_DEGRADED, before="http-5xx"
    )
    triage = Triage(rules_with(degrading), NEVER_DOWN)
    triage.send(http_status=504)
    assert triage.health().status is Status.DEGRADED


def test_a_mark_that_no_rule_could_have_made_is_not_held_back() -> None:
    personal = a_rule(
        "mine",
        http_statuses=(402, 402),
        classification=Classification.USER_SPECIFIC_TECHNICAL,
        health_action=HealthAction.MARK_UNAVAILABLE,
    )
    triage = Triage(rules_with(personal), NEVER_DOWN)
    assert triage.send(http_status=402, user_id=None).outcome is Outcome.COOLING_DOWN
    assert triage.send(http_status=402).outcome is Outcome.UNMARKED


def test_where_only_the_mark_is_switched_off_the_diagnosis_begins() -> None:
    both = a_rule(
        "both", http_statuses=(503, 503), health_action=HealthAction.MARK_UNAVAILABLE, before="http-5xx"
    )
    triage = Triage(rules_with(both), NEVER_DOWN)
    verdict = triage.send(http_status=503)
    assert (verdict.outcome, verdict.unmarked, verdict.undiagnosed) == (Outcome.ENQUEUED, True, False)
    neither = Triage(rules_with(both), Policy(never_down=SEARCH, never_diagnosed=SEARCH)).send(
        http_status=503
    )
    assert (neither.outcome, neither.unmarked, neither.undiagnosed) == (Outcome.UNDIAGNOSED, True, True)


@pytest.mark.parametrize(
    ("policy", "error", "word"),
    [(NO_DIAGNOSIS, {"http_status": 503}, "diagnosis"), (NEVER_DOWN, REFUSED, "DOWN")],
)
def test_the_caller_is_told_what_is_switched_off(policy: Policy, error: dict[str, Any], word: str) -> None:
    triage = Triage(policy=policy)
    arrival = triage.arrival(an_error(**error), NOW)
    (verdict,) = triage.step([arrival])
    assert isinstance(verdict, Verdict)
    told = check_result(arrival, verdict, triage.rules.hash, [triage.health()], policy)
    assert (told.outcome, told.status, told.job_id) == (verdict.outcome, Status.OK, None)
    assert told.hint is not None
    assert word in told.hint


_ERRORS = st.sampled_from(
    [{"http_status": 503}, REFUSED, {"http_status": 403}, {"message": "odd"}, {"http_status": 401}]
)
_TOOLS = st.sampled_from([NO_NAMES, SEARCH, ALL_NAMES, Names(names=frozenset({"other"}))])


@given(st.lists(st.tuples(_ERRORS, st.integers(0, 3_600)), max_size=10), _TOOLS, _TOOLS)
def test_what_is_switched_off_never_begins(
    errors: list[tuple[Any, int]], undiagnosed: Names, kept_up: Names
) -> None:
    triage = Triage(policy=Policy(never_diagnosed=undiagnosed, never_down=kept_up))
    verdicts = [
        triage.send(after(seconds=seconds), **error)
        for error, seconds in sorted(errors, key=lambda one: one[1])
    ]
    entries = triage.table.values()
    if "search" in undiagnosed:
        assert not any(entry.jobs for entry in entries)
    else:
        assert not any(verdict.undiagnosed for verdict in verdicts)
    if "search" in kept_up:
        assert all(entry.health is not None and entry.health.status is Status.OK for entry in entries)
    else:
        assert not any(verdict.unmarked for verdict in verdicts)

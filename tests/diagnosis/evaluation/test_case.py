"""A scenario's job is the one that Layer 1 makes of its errors, and its documents are those that stood before."""

from datetime import timedelta

import pytest

from agrajag.diagnosis.evaluation.case import case_of, filled, script_of
from agrajag.diagnosis.evaluation.reading import bundled_scenarios
from agrajag.diagnosis.evaluation.scenario import Scenario
from agrajag.errors import ConfigError
from agrajag.model.enums import Scope, Status, Trigger
from tests.builders import NOW
from tests.diagnosis.evaluation.scenarios import a_scenario


@pytest.mark.parametrize("scenario", bundled_scenarios(), ids=lambda scenario: scenario.id)
def test_layer_1_hands_each_scenario_on_to_the_diagnosis(scenario: Scenario) -> None:
    case = case_of(scenario, NOW)

    assert case.job.tool_name == scenario.job.tool
    assert case.job.originating_user_id == scenario.job.user
    assert any(
        cooldown.job_id == case.job.job_id
        for entry in case.entries.values()
        if entry.health
        for cooldown in entry.health.cooldowns
    )


def test_errors_and_users_are_counted_on_the_job() -> None:
    job = {"tool": "search", "error": {"status": 500}, "errors": 12, "users": 3}

    case = case_of(a_scenario(job=job), NOW)

    assert (case.job.error_count, case.job.distinct_users, case.job.scope) == (12, 3, Scope.PROJECT)


def test_a_request_of_a_user_asks_about_the_scope_that_it_names() -> None:
    job = {"tool": "search", "trigger": "user_request", "scope": "USER"}

    case = case_of(a_scenario(job=job), NOW)

    assert (case.job.trigger, case.job.scope, case.job.scope_id) == (
        Trigger.USER_REQUEST,
        Scope.USER,
        "alice",
    )


def test_an_error_that_layer_1_decides_by_itself_is_no_scenario() -> None:
    with pytest.raises(ConfigError, match="dead-backend: Layer 1 begins no diagnosis"):
        case_of(a_scenario(job={"tool": "search", "error": {"status": 403}}), NOW)


def test_what_was_known_before_stands_in_the_documents() -> None:
    history = [{"ago": "PT5M", "status": "DOWN", "note": "gone", "count": 2, "lasted": "PT1M"}]
    known = {"scope": "TENANT", "status": "DOWN", "since": "PT5M", "recoversIn": "PT1H", "history": history}

    case = case_of(a_scenario(health=[known]), NOW)
    health = next(entry.health for key, entry in case.entries.items() if "TENANT" in key)

    assert health is not None
    assert health.verdict.status is Status.DOWN
    assert health.verdict.expected_recovery_at == NOW + timedelta(hours=1)
    assert (health.history[0].at, health.history[0].last_at) == (
        NOW - timedelta(minutes=5),
        NOW - timedelta(minutes=4),
    )


def test_names_are_filled_in_wherever_they_stand() -> None:
    value = {"url": "$url/x", "list": ["$tool", 7], "end": "$end", "other": "$5"}

    assert filled(value, NOW, url="http://here", tool="search") == {
        "url": "http://here/x",
        "list": ["search", 7],
        "end": "2026-05-23T13:30+00:00",
        "other": "$5",
    }


def test_a_tool_says_when_its_maintenance_ends() -> None:
    scenario = a_scenario(server={"anyone": [{"status": 503, "body": {"until": "$end"}}]})

    script = script_of(scenario, NOW)

    assert script is not None
    assert script.answers_to(None)[0].body == {"until": "2026-05-23T13:30+00:00"}
    assert script_of(a_scenario(server=None, target=None), NOW) is None

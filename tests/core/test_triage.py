"""What the classes of errors do: what is answered, written, paused and sent on (spec agrajag §4.1)."""

from typing import Any

import pytest

from agrajag.core.match import RuleSet
from agrajag.model.enums import Classification, CredentialKind, HealthAction, Outcome, Scope, Status
from tests.builders import NOW, a_rule
from tests.core.triaging import REFUSED, Triage, after, rules_with


def test_a_403_cools_down_its_user_and_writes_no_status() -> None:
    tools = Triage()
    verdict = tools.send(http_status=403)
    assert verdict.rule is not None
    assert (verdict.rule.signature, verdict.outcome) == ("http-403", Outcome.COOLING_DOWN)
    health = tools.health(Scope.USER, "alice")
    assert health.status is Status.OK
    assert health.history == ()
    assert [(one.error_signature, one.user_id) for one in health.cooldowns] == [("http-403", "alice")]
    assert health.cooldowns[0].next_spawn_allowed_at == after(hours=24)


def test_a_refused_connection_in_the_cause_chain_marks_the_project_down() -> None:
    tools = Triage()
    verdict = tools.send(**REFUSED)
    assert verdict.outcome is Outcome.MARKED
    health = tools.health()
    assert health.status is Status.DOWN
    assert health.verdict.classification is Classification.TECHNICALLY_BROKEN
    assert (health.verdict.by, health.history[0].by) == ("agrajag-checker", "agrajag-checker")
    assert health.verdict.expected_recovery_at == after(minutes=5)
    assert health.verdict.note == "The backend cannot be reached."
    assert health.cooldowns[0].user_id is None
    assert verdict.job is None


def test_a_5xx_starts_one_diagnosis_and_a_short_cooldown() -> None:
    tools = Triage()
    verdict = tools.send(http_status=503, session_id="s1", process_id="p1", locale="de")
    job = verdict.job
    assert verdict.outcome is Outcome.ENQUEUED
    assert job is not None
    assert (job.scope, job.scope_id, job.error_signature) == (Scope.PROJECT, "essays", "http-5xx")
    assert (job.originating_user_id, job.originating_session_id) == ("alice", "s1")
    assert (job.claimed_by, job.error_count, job.distinct_users) == ("event-1", 1, 1)
    cooldown = tools.health().cooldowns[0]
    assert cooldown.next_spawn_allowed_at == after(seconds=30)
    assert (cooldown.job_id, cooldown.lease_until) == (job.job_id, after(minutes=15))
    assert tools.health().status is Status.OK


def test_a_pause_says_since_when_it_lasts_and_the_next_one_since_its_own_beginning() -> None:
    tools = Triage()
    for at, since in ((NOW, NOW), (after(minutes=4), NOW), (after(minutes=6), after(minutes=6))):
        tools.send(at, exception_type="ToolException", message="Manual not found: 'kind'")
        assert tools.health(Scope.USER, "alice").cooldowns[0].since == since


def test_bad_input_of_the_model_pauses_only_that_user_and_never_the_tool() -> None:
    tools = Triage()
    verdict = tools.send(exception_type="ToolException", message="Manual not found: 'doc-kind-calendar'")
    assert verdict.rule is not None
    assert verdict.rule.classification is Classification.USER_INPUT
    assert verdict.job is None
    assert tools.health(Scope.USER, "alice").cooldowns[0].next_spawn_allowed_at == after(minutes=5)
    assert len(tools.table) == 1


def test_an_expired_token_of_alice_says_nothing_about_bob() -> None:
    tools = Triage()
    expired: dict[str, Any] = {"http_status": 401, "body": '{"error": "token_expired"}'}
    assert tools.send(**expired).outcome is Outcome.COOLING_DOWN
    assert tools.send(**expired, user_id="bob").outcome is Outcome.COOLING_DOWN
    assert tools.send(**expired).outcome is Outcome.SUPPRESSED


@pytest.mark.parametrize("classification", [Classification.USER_PERMISSION, Classification.USER_INPUT])
def test_a_rule_cannot_make_permission_or_input_touch_a_status(classification: Classification) -> None:
    rule = a_rule("http-403", classification=classification, health_action=HealthAction.MARK_UNAVAILABLE)
    tools = Triage(rules_with(rule))
    assert tools.send(http_status=403).outcome is Outcome.COOLING_DOWN
    assert tools.health(Scope.USER, "alice").status is Status.OK


def test_a_users_own_problem_lands_on_the_user_whatever_the_rule_says() -> None:
    rule = a_rule(
        "mine",
        classification=Classification.USER_SPECIFIC_TECHNICAL,
        health_action=HealthAction.MARK_UNAVAILABLE,
        before="http-403",
    )
    tools = Triage(rules_with(rule))
    tools.send(tool_name="client_files", session_id="s1")
    assert tools.health(Scope.USER, "alice", "client_files").status is Status.DOWN
    tools.send(user_id=None)
    assert tools.health().status is Status.OK


def test_a_client_tool_is_kept_in_its_session() -> None:
    tools = Triage()
    verdict = tools.send(tool_name="client_files", session_id="s1", **REFUSED)
    assert (verdict.scope, verdict.scope_id) == (Scope.SESSION, "s1")
    assert tools.health(Scope.SESSION, "s1", "client_files").status is Status.DOWN


def test_without_project_the_tenant_is_meant() -> None:
    tools = Triage()
    assert tools.send(project_id=None, **REFUSED).scope is Scope.TENANT
    assert tools.health(Scope.TENANT, "acme").status is Status.DOWN


def test_no_matching_rule_is_unclear_and_starts_nothing() -> None:
    tools = Triage(RuleSet([a_rule("only", http_statuses=(418, 418))]))
    verdict = tools.send(http_status=500)
    assert (verdict.outcome, verdict.rule, verdict.job) == (Outcome.UNMATCHED, None, None)
    assert tools.health().cooldowns == ()
    assert tools.health().counters.errors == 1


def test_a_probe_is_never_triaged() -> None:
    tools = Triage()
    assert tools.send(probe=True, **REFUSED).outcome is Outcome.PROBE
    assert tools.table == {}


def test_a_retry_after_header_sets_the_cooldown_and_is_capped() -> None:
    tools = Triage()
    tools.send(http_status=429, headers={"Retry-After": "90"})
    tools.send(http_status=429, headers={"retry-after": "999999"}, tool_name="other")
    assert tools.health().cooldowns[0].next_spawn_allowed_at == after(seconds=90)
    assert tools.health(tool="other").cooldowns[0].next_spawn_allowed_at == after(hours=24)


def test_a_rate_limit_on_a_users_own_credential_cools_that_user_only() -> None:
    tools = Triage()
    limited: dict[str, Any] = {"http_status": 429, "credential_kind": CredentialKind.USER}
    assert tools.send(**limited).user_id == "alice"
    assert tools.send(**limited, user_id="bob").outcome is Outcome.COOLING_DOWN


def test_a_report_that_names_no_user_says_nothing_about_those_who_have_a_name() -> None:
    tools = Triage()
    expired: dict[str, Any] = {"http_status": 401, "body": '{"error": "token_expired"}'}
    tools.send(**expired, user_id=None)
    assert tools.send(**expired, user_id="bob").outcome is Outcome.COOLING_DOWN
    assert tools.send(**expired, user_id=None).outcome is Outcome.SUPPRESSED

"""Layer 1, one error at a time: what it answers, writes, pauses and sends on (spec agrajag §4.1)."""

from datetime import timedelta
from typing import Any

import pytest

from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.core.rules import Rule, merge
from agrajag.documents.rule_files import bundled_layer
from agrajag.model.enums import Classification, CredentialKind, HealthAction, Outcome, Scope, Status
from agrajag.model.health import MAX_COOLDOWNS, MAX_JOBS, LastDiagnosis
from tests.builders import NOW, a_health, a_rule, an_error
from tests.core.triaging import Triage, after, jobs_of

REFUSED: dict[str, Any] = {
    "exception_type": "httpx.ConnectError",
    "exception_chain": ("java.net.ConnectException",),
}


def rules_with(*rules: Rule) -> RuleSet:
    return RuleSet(merge([bundled_layer().rules, rules]))


# --- what the classes do ---


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


# --- cooldowns ---


def test_an_active_cooldown_answers_and_is_never_extended() -> None:
    tools = Triage()
    tools.send(**REFUSED)
    before = tools.health()
    verdict = tools.send(after(minutes=4), **REFUSED)
    assert (verdict.outcome, verdict.cooldown_until) == (Outcome.SUPPRESSED, after(minutes=5))
    health = tools.health()
    assert (health.cooldowns, health.verdict, health.history) == (
        before.cooldowns,
        before.verdict,
        before.history,
    )
    assert (health.counters.errors, health.counters.suppressed) == (2, 1)


def test_the_end_of_a_cooldown_is_its_deadline_itself() -> None:
    tools = Triage()
    tools.send(**REFUSED)
    assert tools.send(after(minutes=5), **REFUSED).outcome is Outcome.MARKED


def test_a_cooldown_of_one_signature_does_not_cover_another() -> None:
    tools = Triage()
    tools.send(**REFUSED)
    assert tools.send(http_status=503).outcome is Outcome.ENQUEUED


def test_repeated_cooldowns_grow_and_are_forgotten_an_hour_after_their_end() -> None:
    tools = Triage()
    spans = []
    at = NOW
    for _ in range(5):
        tools.send(at, http_status=429)
        until = tools.health().cooldowns[0].next_spawn_allowed_at
        spans.append(until - at)
        at = until
    assert [span.total_seconds() for span in spans] == [30, 120, 480, 1920, 7200]
    tools.send(at + timedelta(hours=1), http_status=429)
    assert tools.health().cooldowns[0].hits == 1


def test_a_cooldown_of_a_wider_scope_covers_the_caller() -> None:
    tools = Triage()
    tools.send(project_id=None, **REFUSED)
    assert tools.send(**REFUSED).outcome is Outcome.SUPPRESSED


def test_a_full_document_takes_no_further_cooldown_and_says_so() -> None:
    tools = Triage()
    for number in range(MAX_COOLDOWNS):
        tools.send(http_status=429, credential_kind=CredentialKind.USER, user_id=f"user-{number}")
    verdict = tools.send(http_status=429, credential_kind=CredentialKind.USER, user_id="one-more")
    assert verdict.outcome is Outcome.NO_ROOM
    assert len(tools.health().cooldowns) == MAX_COOLDOWNS
    assert tools.health().counters.errors == MAX_COOLDOWNS + 1
    late = tools.send(
        after(hours=2), http_status=429, credential_kind=CredentialKind.USER, user_id="one-more"
    )
    assert late.outcome is Outcome.COOLING_DOWN
    assert len(tools.health().cooldowns) == 1


# --- jobs ---


def test_a_thousand_users_of_one_outage_make_one_job() -> None:
    tools = Triage()
    errors = [an_error(http_status=503, event_id=f"e{n}", user_id=f"user-{n % 1000}") for n in range(10_000)]
    decided = tools.step([tools.arrival(error) for error in errors])
    assert len(set(jobs_of(decided))) == 1
    health = tools.health()
    assert (health.counters.errors, health.counters.coalesced, health.counters.jobs) == (10_000, 9_999, 1)
    (job,) = tools.entry().jobs
    assert (job.error_count, job.distinct_users) == (10_000, 32)


def test_a_job_is_sent_again_at_the_2nd_10th_and_100th_signal() -> None:
    tools = Triage()
    decided = tools.step([tools.arrival(an_error(http_status=503, event_id=f"e{n}")) for n in range(1, 121)])
    sent = [number for number, one in enumerate(decided, start=1) if one.job is not None]
    assert sent == [1, 2, 10, 100]
    assert [one.job.error_count for one in decided if one.job] == [1, 2, 10, 100]


def test_a_collapsed_report_counts_as_many_as_it_stands_for() -> None:
    tools = Triage()
    tools.send(http_status=503)
    resent = tools.send(http_status=503, count=50).job
    assert resent is not None
    assert resent.error_count == 51
    assert tools.health().counters.errors == 51


def test_joining_errors_leave_their_different_details_up_to_five() -> None:
    tools = Triage()
    for number in range(10):
        tools.send(http_status=503, message=f"failure of kind {chr(97 + number)}")
    tools.send(http_status=503, message="failure of kind a")
    (job,) = tools.entry().jobs
    assert len(job.signals) == 5
    assert len(set(job.signals)) == 5


def test_while_a_job_is_in_flight_its_cooldown_may_end_without_a_second_job() -> None:
    tools = Triage()
    first = tools.send(http_status=503)
    verdict = tools.send(after(minutes=10), http_status=503)
    assert (verdict.outcome, verdict.job_id) == (Outcome.COALESCED, first.job_id)


def test_an_expired_lease_lets_the_next_error_claim() -> None:
    tools = Triage()
    first = tools.send(http_status=503)
    second = tools.send(after(minutes=15), http_status=503)
    assert second.outcome is Outcome.ENQUEUED
    assert second.job_id != first.job_id


def test_alices_401_does_not_hide_bobs() -> None:
    tools = Triage()
    alice = tools.send(http_status=401)
    bob = tools.send(http_status=401, user_id="bob")
    assert (alice.outcome, bob.outcome) == (Outcome.ENQUEUED, Outcome.ENQUEUED)
    assert alice.job_id != bob.job_id


def test_an_event_sent_twice_is_a_further_signal_and_never_a_second_job() -> None:
    tools = Triage()
    first = tools.send(http_status=503, event_id="same")
    again = tools.send(http_status=503, event_id="same")
    assert (again.outcome, again.job_id) == (Outcome.COALESCED, first.job_id)
    much_later = tools.send(after(minutes=20), clock=after(minutes=20), http_status=503, event_id="same")
    assert much_later.job is None
    assert tools.health().counters.errors == 3


def test_equal_ids_of_two_tenants_are_two_jobs() -> None:
    tools = Triage()
    first = tools.send(http_status=503, event_id="same")
    second = tools.send(http_status=503, event_id="same", tenant_id="globex")
    assert first.job_id != second.job_id


def test_a_fresh_diagnosis_answers_for_its_signature() -> None:
    tools = Triage()
    last = LastDiagnosis(
        classification=Classification.WORKING,
        by="agrajag-engine/p1",
        at=NOW,
        error_signature="http-5xx",
        job_id="j1",
    )
    tools.put(a_health(last_diagnosis=last))
    assert tools.send(after(minutes=4), http_status=503).outcome is Outcome.ALREADY_DIAGNOSED
    assert tools.send(after(minutes=4), http_status=404).outcome is Outcome.ENQUEUED
    assert tools.send(after(minutes=5), http_status=503).outcome is Outcome.ENQUEUED


def test_a_diagnosis_newer_than_the_error_answers_it_however_old() -> None:
    tools = Triage()
    last = LastDiagnosis(
        classification=Classification.UNCLEAR,
        by="agrajag-engine/p1",
        at=NOW,
        error_signature="http-5xx",
        job_id="j1",
    )
    tools.put(a_health(last_diagnosis=last))
    assert tools.send(after(minutes=-10), clock=NOW, http_status=503).outcome is Outcome.ALREADY_DIAGNOSED


def test_a_document_holds_a_bounded_number_of_jobs_in_flight() -> None:
    tools = Triage()
    for number in range(MAX_JOBS):
        assert tools.send(http_status=401, user_id=f"user-{number}").outcome is Outcome.ENQUEUED
    assert tools.send(http_status=401, user_id="one-more").outcome is Outcome.NO_ROOM
    assert tools.send(after(minutes=16), http_status=401, user_id="one-more").outcome is Outcome.ENQUEUED


# --- time ---


def test_an_error_that_is_processed_too_late_is_counted_and_changes_nothing_else() -> None:
    tools = Triage()
    verdict = tools.send(clock=after(minutes=15, seconds=1), **REFUSED)
    assert verdict.outcome is Outcome.LATE
    health = tools.health()
    assert (health.status, health.cooldowns, health.counters.errors) == (Status.OK, (), 1)


def test_an_error_from_before_a_success_says_nothing_about_now() -> None:
    tools = Triage()
    tools.put(a_health(last_success_at=NOW))
    assert tools.send(NOW, **REFUSED).outcome is Outcome.SUPERSEDED
    assert tools.send(after(seconds=1), **REFUSED).outcome is Outcome.MARKED


def test_an_older_error_does_not_replace_what_newer_evidence_says() -> None:
    degraded = a_rule(
        "http-404-endpoint",
        http_statuses=(404, 404),
        classification=Classification.TECHNICALLY_BROKEN,
        health_action=HealthAction.MARK_UNAVAILABLE,
        note="gone",
    )
    tools = Triage(rules_with(degraded))
    tools.send(after(seconds=10), **REFUSED)
    tools.send(after(seconds=5), http_status=404)
    assert tools.health().verdict.note == "The backend cannot be reached."


def test_a_weaker_status_does_not_replace_an_unexpired_down() -> None:
    slow = a_rule(
        "slow", http_statuses=(599, 599), before="http-5xx",
        classification=Classification.INTERMITTENT, health_action=HealthAction.MARK_DEGRADED,
    )  # fmt: skip
    tools = Triage(rules_with(slow))
    tools.send(**REFUSED)
    tools.send(after(minutes=1), http_status=599)
    assert tools.health().status is Status.DOWN
    tools.send(after(minutes=6), http_status=599)
    assert tools.health().status is Status.DEGRADED


def test_the_history_collapses_equal_repeats_and_keeps_since() -> None:
    tools = Triage()
    for minutes in (0, 5, 10):
        tools.send(after(minutes=minutes), **REFUSED)
    health = tools.health()
    assert health.verdict.since == NOW
    assert [(entry.count, entry.at, entry.last_at) for entry in health.history] == [
        (3, NOW, after(minutes=10))
    ]


def test_the_history_is_newest_first_and_never_longer_than_its_setting() -> None:
    kinds = [
        a_rule(
            f"kind-{number}", http_statuses=(500 + number, 500 + number), before="http-5xx", note=f"{number}",
            classification=Classification.TECHNICALLY_BROKEN, health_action=HealthAction.MARK_UNAVAILABLE,
        )
        for number in range(30)
    ]  # fmt: skip
    tools = Triage(rules_with(*kinds), Policy(history_size=20))
    for number in range(30):
        tools.send(after(seconds=number), http_status=500 + number)
    assert [entry.note for entry in tools.health().history] == [str(number) for number in range(29, 9, -1)]

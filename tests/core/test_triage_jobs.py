"""Errors that no rule decides: one job for one outage, and who joins it (spec agrajag §8)."""

from agrajag.model.enums import Classification, CredentialKind, Outcome
from agrajag.model.health import MAX_JOBS, LastDiagnosis
from tests.builders import NOW, a_health, an_error
from tests.core.triaging import Triage, after, jobs_of


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


def test_a_shared_credential_that_fails_is_one_outage_for_all_its_users() -> None:
    tools = Triage()
    for number in range(100):
        tools.send(http_status=401, credential_kind=CredentialKind.SHARED, user_id=f"user-{number}")
    assert tools.health().counters.jobs == 1
    assert tools.health().counters.coalesced == 99


def test_an_auth_marker_without_a_status_belongs_to_one_user_as_well() -> None:
    tools = Triage()
    alice = tools.send(message="invalid_grant: the refresh token is gone")
    bob = tools.send(message="invalid_grant: the refresh token is gone", user_id="bob")
    assert (alice.user_id, bob.user_id) == ("alice", "bob")
    assert alice.job_id != bob.job_id


def test_a_diagnosis_of_alices_credential_does_not_answer_for_bobs() -> None:
    tools = Triage()
    last = LastDiagnosis(
        classification=Classification.USER_SPECIFIC_TECHNICAL, by="agrajag-engine/p1", at=NOW,
        error_signature="http-401", job_id="j1", user_id="alice",
    )  # fmt: skip
    tools.put(a_health(last_diagnosis=last))
    assert tools.send(after(minutes=1), http_status=401).outcome is Outcome.ALREADY_DIAGNOSED
    assert tools.send(after(minutes=1), http_status=401, user_id="bob").outcome is Outcome.ENQUEUED


def test_an_error_that_was_long_under_way_still_gets_a_whole_lease() -> None:
    tools = Triage()
    job = tools.send(NOW, occurred_at=after(minutes=-14), http_status=503).job
    assert job is not None
    assert job.lease_until == after(minutes=15)
    assert tools.send(after(minutes=14), http_status=503).outcome is Outcome.COALESCED

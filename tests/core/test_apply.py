"""What each verdict writes (spec agrajag §5.2 step 5), and that an answer ends its job whatever it says."""

from datetime import timedelta
from typing import Any

import pytest

from agrajag.core.apply import Applied, Ending
from agrajag.core.apply_guards import NOT_TRIED, REASONS, Guard
from agrajag.core.cooldown import is_active
from agrajag.core.verdicts import Repeat
from agrajag.model.enums import (
    Classification,
    CloseReason,
    CommandKind,
    CommandOutcome,
    Outcome,
    Scope,
    ServiceFailure,
    Status,
    Trigger,
)
from agrajag.model.health import RECENT_IDS, HealthEntry
from agrajag.model.jobs import CooldownAdjustment
from tests.builders import NOW, a_health, a_result
from tests.core.applying import (
    ALICE,
    OUTAGE,
    SOON,
    SYSTEM_FAILS,
    SYSTEM_WORKS,
    TENANT,
    USER_FAILS,
    USER_WORKS,
    Applying,
)
from tests.core.triaging import REFUSED, after

C = Classification
LATER = after(hours=2)


def test_technically_broken_makes_the_tool_down_with_the_time_and_note_of_the_answer() -> None:
    tools = Applying()
    applied = tools.answer(tools.job(), evidence=OUTAGE, expected_recovery_at=LATER)
    health = tools.health()
    assert (health.status, health.verdict.classification) == (Status.DOWN, C.TECHNICALLY_BROKEN)
    assert (health.verdict.expected_recovery_at, health.verdict.note) == (LATER, "it answers 502")
    assert (applied.verdict, applied.applied, applied.reason) == (C.TECHNICALLY_BROKEN, True, None)
    assert (applied.close_reason, applied.ending) == (CloseReason.DONE, Ending.APPLIED)


def test_what_is_written_names_the_process_and_rests_on_the_newest_evidence() -> None:
    tools = Applying()
    job = tools.job()
    tools.answer(job, evidence=OUTAGE)
    health = tools.health()
    by = f"agrajag-engine/proc-{job.job_id}"
    assert (health.verdict.by, health.history[0].by) == (by, by)
    assert health.verdict.evidence_at == health.last_checked_at == after(seconds=6)


def test_one_users_own_problem_makes_the_tool_down_for_that_user_alone() -> None:
    tools = Applying()
    job = tools.job(project_id=None)
    tools.answer(
        job,
        classification=C.USER_SPECIFIC_TECHNICAL,
        wanted=Scope.TENANT,
        evidence=(USER_FAILS, SYSTEM_WORKS),
    )
    assert tools.health(**ALICE).status is Status.DOWN
    assert tools.health(**TENANT).status is Status.OK


def test_intermittent_makes_the_tool_degraded_until_the_time_of_the_answer_if_it_has_one() -> None:
    tools = Applying()
    tools.answer(tools.job(), classification=C.INTERMITTENT)
    assert (tools.health().status, tools.health().verdict.expected_recovery_at) == (Status.DEGRADED, None)


def test_working_makes_the_tool_ok_and_ends_its_pauses() -> None:
    tools = Applying()
    tools.put(a_health(status=Status.DOWN))
    job = tools.job()
    applied = tools.answer(job, classification=C.WORKING, evidence=(USER_WORKS,))
    health = tools.health()
    assert (health.status, health.verdict.classification) == (Status.OK, C.WORKING)
    assert (health.history[0].status, health.history[0].at) == (Status.OK, after(seconds=5))
    assert not any(is_active(entry, SOON) for entry in health.cooldowns)
    assert applied.applied


def test_working_is_written_too_where_nothing_was_wrong() -> None:
    tools = Applying()
    tools.answer(tools.job(), classification=C.WORKING, evidence=(SYSTEM_WORKS,))
    assert (tools.health().status, tools.health().verdict.classification) == (Status.OK, C.WORKING)


def test_working_heals_the_narrowest_document_that_is_not_ok() -> None:
    tools = Applying()
    for scope in ({}, ALICE):
        tools.put(a_health(status=Status.DOWN, **scope))
    tools.answer(tools.job(), classification=C.WORKING, evidence=(USER_WORKS,))
    assert (tools.health(**ALICE).status, tools.health().status) == (Status.OK, Status.DOWN)


@pytest.mark.parametrize("classification", [C.USER_PERMISSION, C.USER_INPUT])
def test_a_users_permission_or_input_touches_no_status_and_pauses_as_asked(
    classification: Classification,
) -> None:
    tools = Applying()
    wanted = CooldownAdjustment(error_signature="http-5xx", user_id="alice", duration=timedelta(hours=3))
    applied = tools.answer(tools.job(), classification=classification, cooldown_adjustments=(wanted,))
    health = tools.health()
    assert (health.status, health.history, tools.find(**ALICE)) == (Status.OK, (), None)
    (entry,) = [one for one in health.cooldowns if one.user_id == "alice"]
    assert entry.next_spawn_allowed_at == SOON + timedelta(hours=3)
    assert (applied.verdict, applied.applied, applied.guards) == (classification, True, ())


def test_unclear_makes_the_tool_degraded_for_a_quarter_of_an_hour() -> None:
    tools = Applying()
    tools.answer(tools.job(), classification=C.UNCLEAR)
    verdict = tools.health().verdict
    assert (verdict.status, verdict.expected_recovery_at) == (Status.DEGRADED, SOON + timedelta(minutes=15))


def test_unclear_keeps_a_time_that_the_answer_gives() -> None:
    tools = Applying()
    tools.answer(tools.job(), classification=C.UNCLEAR, expected_recovery_at=LATER)
    assert tools.health().verdict.expected_recovery_at == LATER


@pytest.mark.parametrize("failure", sorted(set(ServiceFailure) - NOT_TRIED))
def test_a_diagnosis_that_came_to_no_end_leaves_the_fallback_and_a_note(
    failure: ServiceFailure,
) -> None:
    tools = Applying()
    applied = tools.answer(tools.job(), diagnosis=None, failure=failure)
    verdict = tools.health().verdict
    assert (verdict.status, verdict.expected_recovery_at) == (Status.DEGRADED, SOON + timedelta(minutes=15))
    assert verdict.note == applied.human_note == f"could not be diagnosed: {failure}"
    assert (applied.verdict, tools.health().last_diagnosis) == (C.UNCLEAR, None)


def test_only_a_run_that_found_no_end_in_its_time_may_say_something_about_the_tool() -> None:
    assert set(ServiceFailure) - NOT_TRIED == {ServiceFailure.DEADLINE}


@pytest.mark.parametrize("failure", sorted(NOT_TRIED))
@pytest.mark.parametrize("said", [{"diagnosis": None}, {"is_fallback": True}])
def test_a_diagnosis_that_failed_for_reasons_of_ours_says_nothing_about_the_tool(
    failure: ServiceFailure, said: dict[str, Any]
) -> None:
    tools = Applying()
    applied = tools.answer(tools.job(), failure=failure, **said)
    assert (tools.health().status, tools.health().history) == (Status.OK, ())
    assert (applied.verdict, applied.applied, applied.guards) == (None, False, (Guard.NOT_TRIED,))
    assert tools.send(after(seconds=31), http_status=503).outcome is Outcome.ENQUEUED


def test_a_fallback_is_unclear_whatever_it_says_and_is_no_answer_to_later_errors() -> None:
    tools = Applying()
    applied = tools.answer(tools.job(), is_fallback=True, evidence=OUTAGE)
    assert (applied.verdict, tools.health().status) == (C.UNCLEAR, Status.DEGRADED)
    assert tools.health().last_diagnosis is None
    assert tools.send(after(seconds=31), http_status=503).outcome is Outcome.ENQUEUED


def test_an_answer_ends_its_job_and_answers_the_errors_of_the_next_minutes() -> None:
    tools = Applying()
    job = tools.job()
    tools.send(after(seconds=1), http_status=503)
    tools.answer(job, evidence=OUTAGE)
    entry = tools.entry()
    assert (entry.jobs, entry.handled_job_ids) == ((), (job.job_id,))
    (cooldown,) = tools.health().cooldowns
    assert (cooldown.job_id, cooldown.claimed_by, cooldown.lease_until) == (None, None, None)
    last = tools.health().last_diagnosis
    assert last is not None
    assert (last.classification, last.at, last.job_id) == (C.TECHNICALLY_BROKEN, SOON, job.job_id)
    assert tools.send(after(minutes=1), http_status=503).outcome is Outcome.ALREADY_DIAGNOSED
    assert tools.send(after(minutes=6), http_status=503).outcome is Outcome.ENQUEUED


def test_an_answer_for_one_users_credential_answers_for_nobody_else() -> None:
    tools = Applying()
    tools.answer(tools.job(http_status=401), classification=C.USER_PERMISSION)
    assert tools.send(after(minutes=1), http_status=401).outcome is Outcome.ALREADY_DIAGNOSED
    assert tools.send(after(minutes=1), http_status=401, user_id="bob").outcome is Outcome.ENQUEUED


def test_an_answer_about_one_user_answers_them_whatever_they_met_and_nobody_else() -> None:
    tools = Applying()
    tools.answer(tools.job(), classification=C.USER_PERMISSION)
    assert tools.send(after(minutes=1), http_status=503).outcome is Outcome.ALREADY_DIAGNOSED
    assert tools.send(after(minutes=1), http_status=503, user_id="bob").outcome is Outcome.ENQUEUED


def test_a_pause_claimed_for_everybody_becomes_that_of_the_user_whose_own_it_is() -> None:
    tools = Applying()
    tools.answer(tools.job(), classification=C.USER_SPECIFIC_TECHNICAL, evidence=(USER_FAILS, SYSTEM_WORKS))
    (cooldown,) = tools.health().cooldowns
    assert (cooldown.user_id, cooldown.next_spawn_allowed_at) == ("alice", SOON + timedelta(minutes=15))
    assert tools.send(after(seconds=20), http_status=503).outcome is Outcome.SUPPRESSED
    assert tools.send(after(seconds=20), http_status=503, user_id="bob").outcome is Outcome.ENQUEUED


def test_the_next_such_answer_makes_the_users_pause_longer() -> None:
    tools = Applying()
    for minutes in (0, 20):
        job = tools.job(at=after(minutes=minutes), clock=after(minutes=minutes))
        at = after(minutes=minutes, seconds=10)
        refused = USER_FAILS.with_changes(at=at)
        tools.answer(job, at, classification=C.USER_SPECIFIC_TECHNICAL, evidence=(refused,))
    (cooldown,) = tools.health().cooldowns
    assert (cooldown.hits, cooldown.next_spawn_allowed_at) == (2, after(minutes=50, seconds=10))


def test_the_same_record_again_changes_nothing() -> None:
    tools = Applying()
    result = a_result(tools.job(), at=SOON, evidence=OUTAGE)
    assert isinstance(tools.take_answer(result, offset=70), Applied)
    before = dict(tools.table)
    assert isinstance(tools.take_answer(result, offset=70), Repeat)
    assert tools.table == before


def test_the_same_record_again_changes_nothing_long_after_its_job_is_forgotten() -> None:
    tools = Applying()
    result = a_result(tools.job(), at=SOON, evidence=OUTAGE)
    tools.take_answer(result, offset=0)
    for number in range(1, RECENT_IDS + 1):
        at = after(minutes=40 * number)
        tools.answer(tools.job(at=at), at, diagnosis=None, failure=ServiceFailure.NO_RECIPE)
    assert isinstance(tools.take_answer(result, offset=0), Repeat)


def test_the_same_processes_answer_in_another_record_changes_nothing() -> None:
    tools = Applying()
    result = a_result(tools.job(), at=SOON, evidence=OUTAGE)
    tools.take_answer(result)
    before = dict(tools.table)
    assert isinstance(tools.take_answer(result), Repeat)
    assert tools.table == before


def test_another_processes_answer_to_an_answered_job_is_stale() -> None:
    tools = Applying()
    result = a_result(tools.job(), at=SOON, evidence=OUTAGE)
    tools.take_answer(result)
    before = dict(tools.table)
    applied = tools.take_answer(result.with_changes(process_id="proc-2"))
    assert isinstance(applied, Applied)
    assert (applied.close_reason, applied.applied, applied.guards) == (
        CloseReason.STALE,
        False,
        (Guard.ANSWERED,),
    )
    assert tools.table == before


@pytest.mark.parametrize("ended", ["never claimed", "deleted", "claimed anew"])
def test_an_answer_that_no_claim_waits_for_is_stale_and_writes_nothing(ended: str) -> None:
    tools = Applying()
    job = tools.job()
    if ended == "deleted":
        tools.command(CommandKind.DELETE, after(seconds=1))
    elif ended == "claimed anew":
        tools.send(after(minutes=16), clock=after(minutes=16), http_status=503)
    else:
        tools.table.clear()
    before = dict(tools.table)
    applied = tools.answer(job, evidence=OUTAGE)
    assert (applied.close_reason, applied.reason) == (CloseReason.STALE, REASONS[Guard.UNCLAIMED])
    assert tools.table == before


def test_an_answer_is_applied_where_only_the_claim_outlived_a_rebuild_of_the_table() -> None:
    tools = Applying()
    job = tools.job()
    (key,) = tools.table
    health = tools.health()
    tools.table[key] = HealthEntry(revision=health.revision, health=health)
    tools.answer(job, evidence=OUTAGE)
    assert tools.health().status is Status.DOWN


def test_an_answer_after_its_lease_still_counts_if_nobody_has_claimed_since() -> None:
    tools = Applying()
    at = after(minutes=30)
    tools.answer(tools.job(), at, evidence=tuple(one.with_changes(at=at) for one in OUTAGE))
    assert tools.health().status is Status.DOWN


def test_who_asked_for_a_diagnosis_is_told_as_its_parent_and_whose_call_failed_is_not() -> None:
    for trigger, parent in ((Trigger.USER_REQUEST, "proc-of-alice"), (Trigger.TOOL_CALL_ERROR, None)):
        tools = Applying()
        job = tools.job(process_id="proc-of-alice").with_changes(trigger=trigger)
        (key,) = tools.table
        tools.table[key] = tools.table[key].with_changes(jobs=(job,))
        assert tools.answer(job).parent_process_id == parent


def test_a_down_becomes_intermittent_where_a_probe_has_worked_and_not_without_one() -> None:
    for probes, status in (((USER_WORKS, SYSTEM_FAILS), Status.DEGRADED), ((SYSTEM_FAILS,), Status.DOWN)):
        tools = Applying()
        tools.send(**REFUSED)
        job = tools.job(at=after(seconds=1))
        tools.answer(job, classification=C.INTERMITTENT, evidence=probes)
        assert tools.health().status is status


def test_secrets_and_hidden_characters_of_a_note_are_not_stored() -> None:
    tools = Applying()
    applied = tools.answer(tools.job(), human_note="Authorization: Bearer abcdef0123456789abcdef\x1b[31m")
    note = tools.health().verdict.note or ""
    assert "abcdef0123456789" not in note
    assert note.isprintable()
    assert note == applied.human_note
    assert tools.health().created_at == NOW


@pytest.mark.parametrize("others", [0, RECENT_IDS], ids=["at once", "once its command id is forgotten"])
def test_a_recheck_that_is_asked_again_is_told_of_its_job_which_has_ended(others: int) -> None:
    tools = Applying()
    job = tools.recheck(command_id="asked")
    tools.answer(job, evidence=OUTAGE)
    for number in range(others):
        tools.command(CommandKind.OVERRIDE, after(minutes=1), status=Status.DOWN, reason=f"{number}")
    before = dict(tools.table)
    again = tools.command(CommandKind.RECHECK, after(minutes=9), command_id="asked", user_id="alice")
    assert (again.outcome, again.job_id, again.job) == (CommandOutcome.ALREADY_APPLIED, job.job_id, None)
    assert again.is_repeat
    assert tools.table == before


def test_a_recheck_that_is_asked_again_when_its_job_is_forgotten_says_so() -> None:
    tools = Applying()
    tools.recheck(command_id="asked")
    tools.command(CommandKind.DELETE, after(minutes=1))
    again = tools.command(CommandKind.RECHECK, after(minutes=2), command_id="asked", user_id="alice")
    assert (again.outcome, again.job_id) == (CommandOutcome.ALREADY_APPLIED, None)
    assert again.reason == "it was asked before, and its diagnosis is not known any more"

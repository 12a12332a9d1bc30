"""Every guard between an answer and the documents; each of these tests fails without its guard."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agrajag.core.apply_guards import REASONS, Guard
from agrajag.core.cooldown import is_active
from agrajag.core.policy import ALL_NAMES, Policy
from agrajag.model.enums import (
    Classification,
    CloseReason,
    CommandKind,
    Outcome,
    Scope,
    ServiceFailure,
    Status,
)
from agrajag.model.health import MAX_COOLDOWNS, Connection, LinkFacet
from agrajag.model.jobs import CooldownAdjustment, DiagnosisJob, Evidence
from tests.builders import NOW, a_cooldown, a_health, a_result, evidence
from tests.core.applying import (
    ALICE,
    OUTAGE,
    SOON,
    SYSTEM,
    SYSTEM_FAILS,
    SYSTEM_WORKS,
    TENANT,
    USER,
    USER_BREAKS,
    USER_FAILS,
    USER_WORKS,
    Applying,
)
from tests.core.triaging import REFUSED, after

C = Classification
OWN: dict[str, Any] = {"classification": C.USER_SPECIFIC_TECHNICAL, "evidence": (USER_FAILS, SYSTEM_WORKS)}
BARE = evidence(SYSTEM, at=after(seconds=6), had_credentials=False, status_code=401)


def adjustment(
    signature: str = "http-5xx", user_id: str | None = "alice", **span: float
) -> CooldownAdjustment:
    return CooldownAdjustment(
        error_signature=signature, user_id=user_id, duration=timedelta(**(span or {"minutes": 30}))
    )


def paused(tools: Applying, minutes: float = 10) -> set[tuple[str, str | None]]:
    """Whose pauses last in the project's document."""
    cooldowns = tools.health().cooldowns
    return {(one.error_signature, one.user_id) for one in cooldowns if is_active(one, after(minutes=minutes))}


def test_every_guard_says_why_in_few_words() -> None:
    assert set(REASONS) == set(Guard)
    assert all(0 < len(reason) <= 90 for reason in REASONS.values())


# --- may it say anything about now ---


@pytest.mark.parametrize("seconds", [6, 8])
def test_stale_if_the_tool_has_worked_since_for_anybody(seconds: int) -> None:
    tools = Applying()
    job = tools.job()
    tools.succeed(after(seconds=seconds), user_id="bob")
    applied = tools.answer(job, evidence=OUTAGE)
    assert (applied.close_reason, applied.guards) == (CloseReason.STALE, (Guard.NEWER_SUCCESS,))
    assert (tools.health().status, tools.health().last_diagnosis) == (Status.OK, None)
    assert tools.entry().jobs == ()


def test_not_stale_if_the_tool_has_worked_before_the_evidence() -> None:
    tools = Applying()
    job = tools.job()
    tools.succeed(after(seconds=5))
    tools.answer(job, evidence=OUTAGE)
    assert tools.health().status is Status.DOWN


def test_somebody_elses_success_says_nothing_about_what_is_one_users_own() -> None:
    tools = Applying()
    job = tools.job()
    tools.succeed(after(seconds=8), user_id="bob")
    tools.answer(job, **OWN)
    assert tools.health(**ALICE).status is Status.DOWN


def test_stale_if_a_diagnosis_is_newer_than_the_evidence() -> None:
    tools = Applying()
    first, second = tools.job(), tools.job(http_status=404)
    tools.answer(first, classification=C.INTERMITTENT, evidence=OUTAGE)
    applied = tools.answer(second, after(seconds=20), evidence=OUTAGE)
    assert (applied.close_reason, applied.guards) == (CloseReason.STALE, (Guard.NEWER_DIAGNOSIS,))
    assert tools.health().status is Status.DEGRADED


def test_a_diagnosis_of_another_users_own_trouble_makes_nothing_stale() -> None:
    tools = Applying()
    bobs, alices = tools.job(user_id="bob"), tools.job(http_status=404)
    tools.answer(bobs, classification=C.USER_PERMISSION)
    tools.answer(alices, after(seconds=20), evidence=OUTAGE)
    assert tools.health().status is Status.DOWN


def test_somebody_elses_success_leaves_a_users_permission_and_its_pause() -> None:
    tools = Applying()
    job = tools.job()
    tools.succeed(after(seconds=8), user_id="bob")
    applied = tools.answer(job, classification=C.USER_PERMISSION, cooldown_adjustments=(adjustment(),))
    assert (applied.close_reason, applied.applied) == (CloseReason.DONE, True)
    assert paused(tools) == {("http-5xx", "alice")}


def test_an_answer_that_waited_too_long_writes_nothing() -> None:
    tools = Applying()
    job = tools.job()
    result_at = after(seconds=10)
    applied = tools.take_answer(
        a_result(job, at=result_at, evidence=OUTAGE),
        clock=result_at + timedelta(minutes=15, seconds=1),
    )
    assert getattr(applied, "guards", None) == (Guard.LATE,)
    assert tools.health().status is Status.OK


def test_a_document_that_a_person_has_deleted_since_does_not_come_back() -> None:
    tools = Applying()
    tools.put(a_health(**ALICE))
    job = tools.job()
    tools.command(CommandKind.DELETE, after(seconds=8), **ALICE)
    applied = tools.answer(job, **OWN)
    assert applied.guards == (Guard.DELETED,)
    assert (tools.find(**ALICE), tools.inbox()) == (None, ())


def test_newer_evidence_than_that_of_the_run_stands() -> None:
    tools = Applying()
    job = tools.job()
    tools.send(after(seconds=8), **REFUSED)
    applied = tools.answer(job, classification=C.INTERMITTENT, evidence=OUTAGE)
    assert (applied.applied, applied.guards) == (False, (Guard.NEWER_EVIDENCE,))
    assert (tools.health().status, tools.health().verdict.by) == (Status.DOWN, "agrajag-checker")


def test_newer_evidence_stands_against_working_too() -> None:
    tools = Applying()
    job = tools.job()
    tools.send(after(seconds=8), **REFUSED)
    applied = tools.answer(job, classification=C.WORKING, evidence=(SYSTEM_WORKS,))
    assert (applied.applied, applied.guards) == (False, (Guard.NEWER_EVIDENCE,))
    assert tools.health().status is Status.DOWN


def test_evidence_from_the_future_is_as_old_as_the_answer() -> None:
    tools = Applying()
    tools.answer(tools.job(), evidence=(SYSTEM_FAILS.with_changes(at=datetime(9999, 1, 1, tzinfo=UTC)),))
    tools.succeed(after(seconds=11))
    assert tools.health().status is Status.OK


# --- switches ---


def test_where_diagnosis_was_switched_off_meanwhile_nothing_is_written() -> None:
    tools = Applying()
    job = tools.job()
    tools.policy = Policy(never_diagnosed=ALL_NAMES)
    applied = tools.answer(job, evidence=OUTAGE, cooldown_adjustments=(adjustment(),))
    assert (applied.applied, applied.guards) == (False, (Guard.NEVER_DIAGNOSED,))
    assert (tools.health().status, tools.health().last_diagnosis, paused(tools)) == (Status.OK, None, set())
    assert tools.entry().jobs == ()


def test_a_tool_that_is_kept_up_gets_no_status_instead_of_down_and_its_user_is_told_all_the_same() -> None:
    tools = Applying(policy=Policy(never_down=ALL_NAMES))
    applied = tools.answer(tools.job(), evidence=OUTAGE)
    assert (applied.verdict, applied.applied, applied.guards) == (
        C.TECHNICALLY_BROKEN,
        False,
        (Guard.NEVER_DOWN,),
    )
    assert (tools.health().status, tools.health().history) == (Status.OK, ())
    tools.answer(tools.job(http_status=404), **OWN)
    assert tools.health(**ALICE).status is Status.OK
    assert len(tools.inbox()) == 1


# --- which verdict stands ---


@pytest.mark.parametrize(
    ("classification", "probes"),
    [
        (C.TECHNICALLY_BROKEN, (SYSTEM_WORKS, USER_FAILS)),
        (C.TECHNICALLY_BROKEN, (SYSTEM_FAILS, USER_WORKS)),
        (C.WORKING, (SYSTEM_WORKS, USER_FAILS)),
        (C.WORKING, (SYSTEM_FAILS,)),
        (C.USER_SPECIFIC_TECHNICAL, (USER_WORKS, SYSTEM_FAILS)),
        (C.USER_SPECIFIC_TECHNICAL, (USER_FAILS, SYSTEM_FAILS)),
        (C.USER_PERMISSION, (USER_FAILS, SYSTEM_FAILS)),
        (C.USER_INPUT, (SYSTEM_FAILS,)),
    ],
)
def test_a_verdict_that_contradicts_a_probe_is_unclear(
    classification: Classification, probes: tuple[Evidence, ...]
) -> None:
    tools = Applying()
    tools.job(user_id="bob")
    job = tools.job(http_status=404)
    applied = tools.answer(
        job, classification=classification, evidence=probes, cooldown_adjustments=(adjustment(hours=20),)
    )
    assert applied.verdict is C.UNCLEAR
    assert Guard.CONTRADICTED in applied.guards
    statuses = {entry.health.status for entry in tools.table.values() if entry.health}
    assert Status.DOWN not in statuses
    assert tools.inbox() == ()
    assert Guard.UNTRUSTED_ADJUSTMENTS in applied.guards
    assert not paused(tools, 60)


@pytest.mark.parametrize(
    ("classification", "probes"),
    [
        (C.TECHNICALLY_BROKEN, OUTAGE),
        (C.TECHNICALLY_BROKEN, (USER_BREAKS.with_changes(had_credentials=False), USER_BREAKS)),
        (C.USER_SPECIFIC_TECHNICAL, (USER_FAILS, SYSTEM_WORKS)),
        (C.USER_SPECIFIC_TECHNICAL, (USER_FAILS,)),
        (C.USER_SPECIFIC_TECHNICAL, (USER_FAILS.with_changes(status_code=None),)),
        (C.USER_SPECIFIC_TECHNICAL, (USER_BREAKS, USER_BREAKS, SYSTEM_WORKS)),
        (C.USER_SPECIFIC_TECHNICAL, (USER_BREAKS.with_changes(status_code=400), SYSTEM_WORKS)),
        (C.USER_SPECIFIC_TECHNICAL, (USER_FAILS, BARE)),
        (C.WORKING, (USER_WORKS, SYSTEM_WORKS)),
        (C.WORKING, (USER_WORKS, BARE)),
        (C.USER_INPUT, (USER_WORKS, SYSTEM_WORKS)),
        (C.USER_PERMISSION, (USER_FAILS, SYSTEM_WORKS)),
        (C.USER_PERMISSION, (USER_FAILS, SYSTEM_FAILS.with_changes(status_code=403))),
        (C.INTERMITTENT, (USER_WORKS, SYSTEM_FAILS)),
    ],
)
def test_a_verdict_that_fits_its_probes_stands(
    classification: Classification, probes: tuple[Evidence, ...]
) -> None:
    tools = Applying()
    applied = tools.answer(tools.job(), classification=classification, evidence=probes)
    assert (applied.verdict, applied.applied) == (classification, True)


@pytest.mark.parametrize(
    ("classification", "probes"),
    [
        (C.TECHNICALLY_BROKEN, ()),
        (C.TECHNICALLY_BROKEN, (BARE,)),
        (C.TECHNICALLY_BROKEN, (SYSTEM_FAILS,)),
        (C.TECHNICALLY_BROKEN, (USER_BREAKS, USER_BREAKS)),
        (C.TECHNICALLY_BROKEN, tuple(one.with_changes(status_code=429) for one in OUTAGE)),
        (C.TECHNICALLY_BROKEN, tuple(one.with_changes(status_code=403) for one in OUTAGE)),
        (C.USER_SPECIFIC_TECHNICAL, ()),
        (C.USER_SPECIFIC_TECHNICAL, (USER_BREAKS,)),
        (C.USER_SPECIFIC_TECHNICAL, (USER_BREAKS, SYSTEM_WORKS)),
        (C.USER_SPECIFIC_TECHNICAL, (USER_FAILS.with_changes(had_credentials=False),)),
        (C.USER_SPECIFIC_TECHNICAL, (USER_FAILS.with_changes(had_credentials=False, status_code=None),)),
        (C.USER_SPECIFIC_TECHNICAL, (USER_BREAKS, USER_BREAKS)),
        (C.USER_SPECIFIC_TECHNICAL, (USER_BREAKS.with_changes(status_code=403), SYSTEM_WORKS)),
        (C.USER_SPECIFIC_TECHNICAL, (USER_BREAKS.with_changes(status_code=429), SYSTEM_WORKS)),
        (C.USER_SPECIFIC_TECHNICAL, (SYSTEM_WORKS,)),
    ],
)
def test_a_tool_is_down_only_where_probes_have_shown_it(
    classification: Classification, probes: tuple[Evidence, ...]
) -> None:
    tools = Applying()
    applied = tools.answer(tools.job(), classification=classification, evidence=probes)
    assert applied.verdict is C.UNCLEAR
    assert Guard.UNPROVEN in applied.guards
    statuses = {entry.health.status for entry in tools.table.values() if entry.health}
    assert Status.DOWN not in statuses
    if classification is C.USER_SPECIFIC_TECHNICAL:
        assert tools.health().status is Status.OK


def test_what_several_have_reported_is_an_outage_when_it_fails_twice_for_one_of_them() -> None:
    tools = Applying()
    job = tools.job()
    tools.send(http_status=503, user_id="bob")
    tools.answer(job, evidence=(USER_BREAKS, USER_BREAKS))
    assert tools.health().status is Status.DOWN


def test_where_there_is_no_user_one_failure_as_the_system_is_an_outage() -> None:
    tools = Applying()
    tools.answer(tools.job(user_id=None), evidence=(SYSTEM_FAILS,))
    assert tools.health().status is Status.DOWN


def test_a_reported_401_is_its_users_own_where_only_the_system_can_be_probed_and_it_works() -> None:
    tools = Applying()
    job = tools.job(http_status=401)
    tools.answer(job, classification=C.USER_SPECIFIC_TECHNICAL, evidence=(SYSTEM_WORKS,))
    assert tools.health(**ALICE).status is Status.DOWN


def test_working_needs_a_probe_that_worked() -> None:
    tools = Applying()
    tools.put(a_health(status=Status.DOWN))
    applied = tools.answer(tools.job(), classification=C.WORKING)
    assert (applied.verdict, applied.guards) == (C.UNCLEAR, (Guard.UNPROVEN, Guard.DOWN_STANDS))
    assert tools.health().status is Status.DOWN


@pytest.mark.parametrize("status_code", [401, 403, 302])
def test_a_probe_without_credentials_that_was_asked_for_some_is_no_evidence(status_code: int) -> None:
    tools = Applying()
    bare = BARE.with_changes(status_code=status_code)
    applied = tools.answer(tools.recheck(), evidence=(bare,))
    assert applied.guards == (Guard.NO_CREDENTIALS, Guard.NOT_CHECKED)
    assert tools.health().status is Status.OK


BARE_FAILURES = [
    pytest.param({"status_code": 404, "error_signature": "http-404"}, id="404 that may hide the tool"),
    pytest.param({"status_code": 302, "error_signature": "unmatched"}, id="sent to sign in"),
    pytest.param({"status_code": None, "error_signature": "tool-exception"}, id="the tool says no"),
]


@pytest.mark.parametrize("failure", BARE_FAILURES)
@pytest.mark.parametrize(
    "locked",
    [
        pytest.param((), id="the user's probe had credentials"),
        pytest.param(({"had_credentials": False, "takes_credentials": True},), id="or they are declared"),
    ],
)
def test_what_a_tool_with_credentials_does_to_a_caller_without_is_no_outage(
    failure: dict[str, Any], locked: tuple[dict[str, Any], ...]
) -> None:
    tools = Applying()
    (fields,) = locked or ({},)
    as_user = evidence(USER, at=after(seconds=5), **failure, **fields)
    as_nobody = evidence(SYSTEM, at=after(seconds=6), **(failure | fields | {"had_credentials": False}))
    applied = tools.answer(tools.job(), evidence=(as_user, as_nobody, as_nobody))
    assert (applied.verdict, Guard.NO_CREDENTIALS in applied.guards) == (C.UNCLEAR, True)
    assert tools.health().status is Status.DEGRADED


@pytest.mark.parametrize("failure", [{"status_code": 503}, {"status_code": None, "unanswered": True}])
def test_what_is_plainly_the_servers_counts_from_a_caller_without_credentials(
    failure: dict[str, Any],
) -> None:
    tools = Applying()
    as_nobody = evidence(SYSTEM, at=after(seconds=6), had_credentials=False, **failure)
    applied = tools.answer(tools.job(), evidence=(USER_BREAKS, as_nobody))
    assert (applied.verdict, tools.health().status) == (C.TECHNICALLY_BROKEN, Status.DOWN)


def test_a_tool_without_credentials_fails_for_all_when_it_fails_without_any() -> None:
    tools = Applying()
    missing = evidence(SYSTEM, at=after(seconds=6), had_credentials=False, status_code=404)
    tools.answer(tools.job(http_status=404), evidence=(missing, missing))
    assert tools.health().status is Status.DOWN


@pytest.mark.parametrize("status_code", [404, None])
def test_what_may_be_an_old_sample_is_an_outage_only_where_an_error_was_reported(
    status_code: int | None,
) -> None:
    missing = [evidence(who, at=after(seconds=6), status_code=status_code) for who in (USER, SYSTEM)]
    asked, reported = Applying(), Applying()
    applied = asked.answer(asked.recheck(), evidence=tuple(missing))
    assert (applied.verdict, applied.guards) == (C.UNCLEAR, (Guard.UNPROVEN,))
    reported.answer(reported.job(http_status=404), evidence=tuple(missing))
    assert (asked.health().status, reported.health().status) == (Status.DEGRADED, Status.DOWN)


def test_a_redirect_of_callers_with_credentials_is_no_outage() -> None:
    tools = Applying()
    sent_away = [evidence(who, at=after(seconds=6), status_code=302) for who in (USER, SYSTEM)]
    applied = tools.answer(tools.job(), evidence=tuple(sent_away))
    assert (applied.verdict, applied.guards) == (C.UNCLEAR, (Guard.UNPROVEN,))


def test_the_same_refusal_of_credentials_that_were_sent_is_evidence() -> None:
    tools = Applying()
    sent = BARE.with_changes(had_credentials=True)
    applied = tools.answer(tools.recheck(), classification=C.INTERMITTENT, evidence=(sent,))
    assert applied.guards == ()
    assert tools.health().status is Status.DEGRADED


def test_what_is_one_users_own_is_unclear_where_there_is_no_user() -> None:
    tools = Applying()
    applied = tools.answer(
        tools.job(user_id=None), classification=C.USER_SPECIFIC_TECHNICAL, wanted=Scope.USER
    )
    assert (applied.verdict, applied.guards) == (C.UNCLEAR, (Guard.NO_USER,))
    assert tools.health().status is Status.DEGRADED
    assert len(tools.table) == 1


@pytest.mark.parametrize("classification", sorted(set(C) - {C.WORKING}))
def test_a_request_without_a_failing_probe_or_a_reported_error_could_not_be_checked(
    classification: Classification,
) -> None:
    tools = Applying()
    job = tools.recheck()
    applied = tools.answer(job, classification=classification, cooldown_adjustments=(adjustment(),))
    assert (applied.verdict, applied.applied, applied.reason) == (
        C.UNCLEAR,
        False,
        REASONS[Guard.NOT_CHECKED],
    )
    assert (applied.human_note or "").startswith("could not be checked")
    assert (tools.health().status, tools.health().last_diagnosis, tools.inbox()) == (Status.OK, None, ())
    assert not paused(tools)


@pytest.mark.parametrize("classification", [C.UNCLEAR, C.INTERMITTENT, C.USER_INPUT])
def test_a_request_whose_probes_all_worked_writes_nothing_but_that_it_works(
    classification: Classification,
) -> None:
    tools = Applying()
    applied = tools.answer(
        tools.recheck(), classification=classification, evidence=(USER_WORKS, SYSTEM_WORKS)
    )
    assert (applied.verdict, applied.guards) == (C.UNCLEAR, (Guard.ALL_WORKED,))
    assert (tools.health().status, tools.health().history) == (Status.OK, ())


def test_a_request_that_errors_have_joined_is_grounded_in_them() -> None:
    tools = Applying()
    tools.answer(tools.job(), diagnosis=None, failure=ServiceFailure.NO_RECIPE)
    job = tools.recheck(now=after(seconds=15))
    assert tools.send(after(seconds=20), http_status=503, user_id="bob").outcome is Outcome.COALESCED
    tools.answer(job, after(seconds=25), classification=C.UNCLEAR)
    assert tools.health().status is Status.DEGRADED


def test_unclear_writes_nothing_where_every_probe_worked() -> None:
    tools = Applying()
    applied = tools.answer(tools.job(), classification=C.UNCLEAR, evidence=(USER_WORKS, SYSTEM_WORKS))
    assert (applied.verdict, applied.applied, applied.guards) == (C.UNCLEAR, False, (Guard.ALL_WORKED,))
    assert tools.health().status is Status.OK


@pytest.mark.parametrize("classification", [C.UNCLEAR, C.INTERMITTENT, C.TECHNICALLY_BROKEN])
def test_what_fails_for_one_user_and_works_for_the_system_is_written_on_that_user(
    classification: Classification,
) -> None:
    tools = Applying()
    applied = tools.answer(tools.job(), classification=classification, evidence=(USER_FAILS, SYSTEM_WORKS))
    assert Guard.OTHERS_WORK in applied.guards
    assert (tools.health(**ALICE).status, tools.health().status) == (Status.DEGRADED, Status.OK)


def test_what_fails_for_several_users_is_written_for_all() -> None:
    tools = Applying()
    job = tools.job()
    tools.send(http_status=503, user_id="bob")
    tools.answer(job, classification=C.INTERMITTENT, evidence=(USER_FAILS, SYSTEM_WORKS))
    assert tools.health().status is Status.DEGRADED


# --- where and until when ---


@pytest.mark.parametrize("wanted", [Scope.TENANT, Scope.GLOBAL])
def test_no_verdict_is_written_wider_than_its_job(wanted: Scope) -> None:
    tools = Applying()
    applied = tools.answer(tools.job(), wanted=wanted, evidence=OUTAGE)
    assert applied.guards == (Guard.TOO_WIDE,)
    assert [entry.health.scope for entry in tools.table.values() if entry.health] == [Scope.PROJECT]
    assert tools.health().status is Status.DOWN


def test_a_narrower_verdict_lands_on_the_ids_of_the_job() -> None:
    tools = Applying()
    tools.answer(tools.job(project_id="essays"), wanted=Scope.USER, evidence=OUTAGE)
    assert (tools.health(**ALICE).status, tools.health().status) == (Status.DOWN, Status.OK)


def test_a_narrower_scope_of_which_the_job_has_no_id_is_the_next_wider_one() -> None:
    tools = Applying()
    tools.answer(tools.job(user_id=None), wanted=Scope.SESSION, evidence=OUTAGE)
    assert tools.health().status is Status.DOWN


@pytest.mark.parametrize("classification", [C.USER_SPECIFIC_TECHNICAL, C.TECHNICALLY_BROKEN])
def test_what_was_asked_about_a_session_may_be_written_on_its_user(classification: Classification) -> None:
    tools = Applying()
    job = tools.job(tool_name="client_files", session_id="s-1")
    assert job.scope is Scope.SESSION
    probes = OUTAGE if classification is C.TECHNICALLY_BROKEN else (USER_FAILS,)
    tools.answer(job, classification=classification, wanted=Scope.USER, evidence=probes)
    assert tools.health(**ALICE, tool="client_files").status is Status.DOWN


def test_what_was_asked_about_a_user_by_somebody_else_is_that_users_own() -> None:
    tools = Applying()
    job = tools.recheck(scope=Scope.USER, scope_id="bob", user_id=None)
    tools.answer(job, classification=C.USER_SPECIFIC_TECHNICAL, evidence=(USER_FAILS,))
    assert tools.health(Scope.USER, "bob").status is Status.DOWN


@pytest.mark.parametrize("classification", [C.UNCLEAR, C.INTERMITTENT, C.TECHNICALLY_BROKEN])
def test_a_recovery_time_in_the_past_is_none(classification: Classification) -> None:
    tools = Applying()
    applied = tools.answer(
        tools.job(), classification=classification, expected_recovery_at=SOON, evidence=OUTAGE
    )
    assert applied.guards == (Guard.PAST_RECOVERY,)
    expected = SOON + timedelta(minutes=15) if classification is C.UNCLEAR else None
    assert tools.health().verdict.expected_recovery_at == expected


def test_a_recovery_time_beyond_the_cap_is_cut() -> None:
    tools = Applying(policy=Policy(cooldown_max=timedelta(hours=3)))
    applied = tools.answer(
        tools.job(), expected_recovery_at=datetime(9999, 12, 31, tzinfo=UTC), evidence=OUTAGE
    )
    assert applied.guards == (Guard.LONG_RECOVERY,)
    assert tools.health().verdict.expected_recovery_at == SOON + timedelta(hours=3)


@pytest.mark.parametrize("said", [{"classification": C.UNCLEAR}, {"is_fallback": True}])
@pytest.mark.parametrize("scope", [{}, TENANT])
def test_nobody_knows_never_replaces_or_hides_a_down_that_has_not_expired(
    said: dict[str, Any], scope: dict[str, Any]
) -> None:
    tools = Applying()
    tools.put(a_health(status=Status.DOWN, **scope))
    applied = tools.answer(tools.job(), evidence=OUTAGE, **said)
    assert (applied.applied, applied.guards) == (False, (Guard.DOWN_STANDS,))
    assert tools.health(**(scope or {"scope": Scope.PROJECT})).status is Status.DOWN
    assert tools.health().status is not Status.DEGRADED


def test_nobody_knows_does_not_hide_that_a_connection_is_gone() -> None:
    tools = Applying()
    gone = Connection(link_id="l", connection_id="c", seq=1, at=NOW, is_open=False, was_open=True)
    tools.put(a_health(link=LinkFacet(connections=(gone,), down_since=NOW)))
    tools.answer(tools.job(), classification=C.UNCLEAR, wanted=Scope.USER)
    assert tools.find(**ALICE) is None or tools.health(**ALICE).status is Status.OK


def test_a_down_that_has_expired_gives_way() -> None:
    tools = Applying()
    tools.send(**REFUSED)
    at = after(minutes=6)
    tools.answer(tools.job(at=at), at, classification=C.UNCLEAR)
    assert tools.health().status is Status.DEGRADED


# --- for whom it works ---


def test_what_works_for_the_system_heals_no_document_of_one_user() -> None:
    tools = Applying()
    tools.put(a_health(status=Status.DOWN, **ALICE))
    tools.put(a_health(status=Status.DOWN))
    tools.answer(tools.job(), classification=C.WORKING, evidence=(SYSTEM_WORKS,))
    assert (tools.health(**ALICE).status, tools.health().status) == (Status.DOWN, Status.OK)


def test_what_works_for_the_system_says_nothing_about_the_user_that_was_asked_about() -> None:
    tools = Applying()
    tools.put(a_health(status=Status.DOWN, scope=Scope.USER, scope_id="bob"))
    job = tools.recheck(scope=Scope.USER, scope_id="bob", user_id=None)
    applied = tools.answer(job, classification=C.WORKING, evidence=(SYSTEM_WORKS,))
    assert (applied.applied, applied.guards) == (False, (Guard.NOT_AS_USER,))
    assert tools.health(Scope.USER, "bob").status is Status.DOWN


def test_working_heals_nothing_wider_than_the_question() -> None:
    tools = Applying()
    tools.put(a_health(status=Status.DOWN, **TENANT))
    tools.answer(tools.job(), classification=C.WORKING, evidence=(USER_WORKS,))
    assert tools.health(**TENANT).status is Status.DOWN


# --- cooldowns ---


def failed(tools: Applying, job: DiagnosisJob, *asked: CooldownAdjustment, **said: Any) -> tuple[Guard, ...]:
    """A verdict that stands, with adjustments; the guards that they met."""
    given = {"evidence": OUTAGE, "cooldown_adjustments": asked} | said
    return tools.answer(job, **given).guards


def test_adjustments_pause_signatures_of_the_job_the_document_and_the_rules_for_everybody_or_the_user() -> (
    None
):
    tools = Applying()
    tools.put(a_health(cooldowns=(a_cooldown(error_signature="seen"),)))
    asked = (adjustment(user_id=None), adjustment("seen"), adjustment("timeout", None))
    assert failed(tools, tools.job(), *asked) == ()
    assert paused(tools) == {("http-5xx", None), ("seen", "alice"), ("timeout", None)}


def test_an_adjustment_never_shortens_a_pause_and_leaves_the_claim_of_another_job() -> None:
    tools = Applying()
    job, other = tools.job(), tools.job(http_status=404)
    assert failed(tools, job, adjustment("http-404", None, seconds=5)) == ()
    (entry,) = [one for one in tools.health().cooldowns if one.error_signature == "http-404"]
    assert (entry.job_id, entry.next_spawn_allowed_at) == (other.job_id, after(seconds=30))


@pytest.mark.parametrize(
    ("asked", "said", "guard"),
    [
        ((adjustment(user_id="bob"),), {}, Guard.FOREIGN_USER),
        ((adjustment("made-up"),), {}, Guard.UNKNOWN_SIGNATURE),
        ((adjustment(user_id=None),), {"wanted": Scope.USER}, Guard.TOO_WIDE_ADJUSTMENT),
        ((adjustment("timeout", minutes=0),), {}, Guard.EMPTY_ADJUSTMENT),
    ],
)
def test_an_adjustment_beyond_its_bounds_is_refused_alone(
    asked: tuple[CooldownAdjustment, ...], said: dict[str, Any], guard: Guard
) -> None:
    tools = Applying()
    assert failed(tools, tools.job(), *asked, adjustment("tool-exception"), **said) == (guard,)
    assert paused(tools) == {("tool-exception", "alice")}


def test_only_five_adjustments_are_looked_at() -> None:
    tools = Applying()
    signatures = ("http-404", "http-403", "http-401", "timeout", "schema-violation", "tool-exception")
    guards = failed(tools, tools.job(), *map(adjustment, signatures))
    assert guards == (Guard.TOO_MANY_ADJUSTMENTS,)
    assert {signature for signature, _ in paused(tools)} == set(signatures[:5])


def test_an_adjustment_beyond_the_cap_is_cut() -> None:
    tools = Applying(policy=Policy(cooldown_max=timedelta(hours=2)))
    assert failed(tools, tools.job(), adjustment(days=366)) == (Guard.LONG_ADJUSTMENT,)
    assert max(one.next_spawn_allowed_at for one in tools.health().cooldowns) == SOON + timedelta(hours=2)


def test_an_adjustment_for_which_there_is_no_room_is_refused() -> None:
    tools = Applying()
    tools.put(
        a_health(
            cooldowns=tuple(
                a_cooldown(error_signature=f"s{n}", next_spawn_allowed_at=after(hours=1))
                for n in range(MAX_COOLDOWNS - 1)
            )
        )
    )
    assert failed(tools, tools.job(), adjustment("timeout")) == (Guard.NO_ROOM,)
    assert len(tools.health().cooldowns) == MAX_COOLDOWNS


def test_working_sets_no_cooldowns() -> None:
    tools = Applying()
    said = {"classification": C.WORKING, "evidence": (USER_WORKS,)}
    assert failed(tools, tools.job(), adjustment(), **said) == (Guard.UNTRUSTED_ADJUSTMENTS,)
    assert not paused(tools)


def test_a_stale_answer_sets_no_cooldowns() -> None:
    tools = Applying()
    job = tools.job()
    tools.succeed(after(seconds=8))
    failed(tools, job, adjustment())
    assert not paused(tools)


def test_guards_of_both_kinds_stand_in_the_reason() -> None:
    tools = Applying()
    applied = tools.answer(
        tools.job(),
        evidence=(*OUTAGE, evidence(USER, had_credentials=False, status_code=401)),
        expected_recovery_at=NOW,
        wanted=Scope.GLOBAL,
    )
    assert applied.guards == (Guard.NO_CREDENTIALS, Guard.TOO_WIDE, Guard.PAST_RECOVERY)
    assert applied.reason == "; ".join(REASONS[guard] for guard in applied.guards)
    assert len(applied.reason) <= 200

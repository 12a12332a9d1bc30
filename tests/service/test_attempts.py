"""An attempt: begun by its recipe, told step by step, repeatable, and ended with what it has used."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from agrajag.core.day_limits import DayLimits
from agrajag.documents.recipe_book import bundled_recipe
from agrajag.errors import TransientError
from agrajag.harness import ToolCall
from agrajag.metrics import RECIPES_UNUSABLE
from agrajag.model.enums import CloseReason, ProcessStatus, ServiceFailure, SessionStatus, Trigger
from agrajag.model.jobs import DiagnosisJob
from agrajag.model.processes import TRIED_AGAIN
from agrajag.service.attempts import Attempts, process_id_of
from agrajag.service.engine import Budget, ServiceRun
from tests.builders import NOW, a_job
from tests.documents.texts import a_recipe_file, recipe_at
from tests.service.attempting import Clock, Counter, Kept, Standing, a_usage, attempts_of
from tests.wire.records import counting

ENGINE = Counter()


async def _begun(attempts: Attempts, job: DiagnosisJob | None = None, attempt: int = 1) -> ServiceRun:
    run = await attempts.begin(ENGINE, job or a_job(), attempt)
    assert isinstance(run, ServiceRun)
    return run


def _steps(sender: Kept) -> list[tuple[str, ProcessStatus]]:
    return [(event.process_id, event.status) for event in sender.of_kind("process")]


async def test_an_attempt_begins_with_its_session_its_process_and_its_recipe() -> None:
    sender = Kept()
    attempts = attempts_of(sender, engine_seconds=90.0)
    before = asyncio.get_running_loop().time()
    run = await _begun(attempts, a_job(trigger=Trigger.USER_REQUEST, originating_process_id="proc-of-arthur"))
    assert [told["kind"] for told in sender.told] == ["session", "process", "process"]
    assert {output.key for output in sender.outputs} == {b"acme|essays"}
    (session,) = sender.of_kind("session")
    assert (session.session_id, session.status) == (run.session_id, SessionStatus.ACTIVE)
    init, running = sender.of_kind("process")
    assert (init.status, running.status) == (ProcessStatus.INIT, ProcessStatus.RUNNING)
    assert (running.process_id, running.session_id, running.job_id) == (
        run.process_id,
        run.session_id,
        "job-1",
    )
    assert (running.originating_user_id, running.parent_process_id) == ("alice", "proc-of-arthur")
    assert run.recipe is bundled_recipe("agrajag")
    assert (run.attempt, run.identity, run.over_budget, run.started_at) == (1, "alice", None, NOW)
    assert before + 90 <= run.deadline <= asyncio.get_running_loop().time() + 90


async def test_only_who_asked_is_the_parent_and_nobody_is_the_user_of_a_system_job() -> None:
    sender = Kept()
    run = await _begun(
        attempts_of(sender), a_job(originating_process_id="proc-that-failed", originating_user_id=None)
    )
    assert run.identity is None
    assert {event.parent_process_id for event in sender.of_kind("process")} == {None}


async def test_an_attempt_that_is_made_again_is_the_same_process_and_another_one_is_another() -> None:
    sender = Kept()
    runs = [await _begun(attempts_of(sender, worker_id=worker)) for worker in ("worker-1", "worker-2")]
    second = await _begun(attempts_of(sender), attempt=2)
    assert runs[0].process_id == runs[1].process_id == process_id_of(a_job(), 1) != second.process_id
    assert {run.session_id for run in (*runs, second)} == {runs[0].session_id}
    ids = [
        dict(output.headers)["ce_id"]
        for output in sender.outputs
        if b'"kind":"process"' in (output.value or b"")
    ]
    assert ids[:2] == ids[2:4]


async def test_a_session_serves_the_jobs_that_follow() -> None:
    sender, clock = Kept(), Clock()
    attempts = attempts_of(sender, clock=clock)
    for number in range(3):
        await _begun(attempts, a_job(job_id=f"job-{number}"))
        clock.move(minutes=1)
    await _begun(attempts, a_job(job_id="job-9", project_id="novels"))
    assert [event.project_id for event in sender.of_kind("session")] == ["essays", "novels"]


async def test_an_orderly_end_suspends_what_nothing_uses() -> None:
    sender = Kept()
    attempts = attempts_of(sender)
    run = await _begun(attempts)
    await attempts.close()
    assert [event.status for event in sender.of_kind("session")] == [SessionStatus.ACTIVE]
    await attempts.ended(ENGINE, a_job(), run, a_usage(run.process_id))
    await attempts.close()
    assert [event.status for event in sender.of_kind("session")][1:] == [SessionStatus.SUSPENDED]


@pytest.mark.parametrize(
    ("documents", "failure"),
    [
        ({recipe_at("agrajag", "acme"): "agrajag: {engine: 7}"}, ServiceFailure.RECIPE_BROKEN),
        (
            {
                recipe_at("agrajag", "acme"): a_recipe_file("agrajag"),
                recipe_at("agrajag", "acme", "essays"): "agrajag: {",
            },
            ServiceFailure.RECIPE_BROKEN,
        ),
        (
            {recipe_at("agrajag", "acme"): a_recipe_file("agrajag", engine="frankie")},
            ServiceFailure.RECIPE_BROKEN,
        ),
    ],
)
async def test_with_a_broken_recipe_there_is_no_process_and_the_reason_can_be_seen(
    documents: Any, failure: ServiceFailure
) -> None:
    sender, standing = Kept(), Standing()
    standing.put(documents)
    attempts = attempts_of(sender, standing)
    with counting(RECIPES_UNUSABLE, reason=failure) as counted, capture_logs() as logs:
        assert await attempts.begin(ENGINE, a_job(), 1) is failure
    assert sender.outputs == []
    assert counted() == 1
    (line,) = logs
    assert (line["event"], line["failure"], line["job_id"]) == ("recipe_unusable", failure, "job-1")
    assert "_vance/recipes/agrajag.yaml: " in line["reasons"][0]
    other = await attempts.begin(ENGINE, a_job(tenant_id="globex"), 1)
    assert isinstance(other, ServiceRun)


async def test_an_engine_without_any_recipe_answers_nothing() -> None:
    sender = Kept()
    failure = await attempts_of(sender).begin(Counter(name="frankie"), a_job(), 1)
    assert (failure, sender.outputs) == (ServiceFailure.NO_RECIPE, [])


async def test_what_an_attempt_has_used_is_told_at_its_end_and_counts_at_once() -> None:
    sender = Kept()
    attempts = attempts_of(sender, limits=DayLimits(tokens=100))
    run = await _begun(attempts)
    usage = a_usage(run.process_id, tokens=100)
    run.used(usage)
    assert sender.of_kind("usage") == []
    await attempts.ended(ENGINE, a_job(), run, usage)
    assert sender.of_kind("usage") == [usage]
    assert (await _begun(attempts, a_job(job_id="job-2"))).over_budget is Budget.TOKENS
    assert (await _begun(attempts, a_job(job_id="job-3", tenant_id="globex"))).over_budget is None


async def test_runs_that_begin_side_by_side_do_not_overrun_the_budget() -> None:
    attempts = attempts_of(Kept(), limits=DayLimits(runs=2))
    runs = [await _begun(attempts, a_job(job_id=f"job-{number}")) for number in range(4)]
    assert [run.over_budget for run in runs] == [None, None, Budget.RUNS, Budget.RUNS]
    assert (await _begun(attempts, a_job(job_id="job-0"))).over_budget is Budget.RUNS


async def test_an_engine_that_closes_itself_has_its_process_closed() -> None:
    sender = Kept()
    attempts = attempts_of(sender)
    run = await _begun(attempts)
    await attempts.ended(ENGINE, a_job(), run, a_usage(run.process_id))
    closed = sender.of_kind("process")[-1]
    assert (closed.process_id, closed.status) == (run.process_id, ProcessStatus.CLOSED)
    assert closed.close_reason is CloseReason.DONE


async def test_a_process_that_others_close_is_left_open() -> None:
    sender = Kept()
    attempts = attempts_of(sender)
    run = await _begun(attempts)
    await attempts.ended(Counter(closes_itself=False), a_job(), run, a_usage(run.process_id))
    assert ProcessStatus.CLOSED not in [status for _, status in _steps(sender)]


@pytest.mark.parametrize("closes_itself", [True, False])
async def test_a_process_whose_job_is_tried_again_is_closed_and_ends_no_job(closes_itself: bool) -> None:
    sender = Kept()
    attempts = attempts_of(sender)
    run = await _begun(attempts)
    run.used(a_usage(run.process_id, tokens=7))
    for _ in range(2):
        await attempts.ended(Counter(closes_itself=closes_itself), a_job(), run, None)
    closed, again = sender.of_kind("process")[-2:]
    assert closed == again
    assert (closed.status, closed.close_reason, closed.reason) == (
        ProcessStatus.CLOSED,
        CloseReason.STALE,
        TRIED_AGAIN,
    )
    assert closed.is_superseded
    assert [usage.tokens for usage in sender.of_kind("usage")] == [7]


async def test_an_attempt_that_is_cut_is_closed_unless_the_same_one_is_made_again() -> None:
    sender = Kept()
    attempts = attempts_of(sender)
    runs = [await _begun(attempts, attempt=attempt) for attempt in (1, 2)]
    for run in runs:
        await attempts.cut(a_job(), run)
    assert [step for step in _steps(sender) if step[1] is ProcessStatus.CLOSED] == [
        (runs[1].process_id, ProcessStatus.CLOSED)
    ]
    assert sender.of_kind("process")[-1].is_superseded


@pytest.mark.parametrize("closes_itself", [True, False])
async def test_what_a_killed_worker_has_left_open_at_a_job_is_closed_when_the_job_ends(
    closes_itself: bool,
) -> None:
    sender, engine = Kept(), Counter(closes_itself=closes_itself)
    attempts = attempts_of(sender)
    left = await _begun(attempts, attempt=2)
    others = await _begun(attempts, a_job(job_id="job-2"), attempt=2)
    run = await _begun(attempts)
    sender.outputs.clear()
    await attempts.ended(
        engine, a_job(), run, None
    )  # the second attempt may follow, and be this very process
    assert [process_id for process_id, _ in _steps(sender)] == [run.process_id]
    for _ in range(2):
        await attempts.ended(engine, a_job(), run, a_usage(run.process_id))
    closed = [event for event in sender.of_kind("process") if event.process_id == left.process_id]
    assert [event.status for event in closed] == [ProcessStatus.CLOSED]
    assert closed[0].is_superseded
    assert (closed[0].job_id, closed[0].session_id) == ("job-1", left.session_id)
    assert others.process_id not in {process_id for process_id, _ in _steps(sender)}


async def test_what_was_left_open_is_closed_though_the_job_ends_before_it_is_tried_again() -> None:
    sender = Kept()
    attempts = attempts_of(sender)
    left = await _begun(attempts, attempt=2)
    run = attempts.unbegun(ENGINE, a_job(), 1)
    sender.away = True
    with pytest.raises(TransientError):
        await attempts.ended(ENGINE, a_job(), run, a_usage(run.process_id))
    sender.away = False
    await attempts.ended(ENGINE, a_job(), run, a_usage(run.process_id))
    assert (left.process_id, ProcessStatus.CLOSED) in _steps(sender)


async def test_a_job_that_never_began_has_an_honest_end_all_the_same() -> None:
    sender = Kept()
    attempts = attempts_of(sender)
    run = attempts.unbegun(ENGINE, a_job(), 1)
    output = ENGINE.failed(a_job(), run, ServiceFailure.LEASE_EXPIRED)
    assert sender.outputs == []
    await attempts.ended(ENGINE, a_job(), run, output)
    await attempts.ended(ENGINE, a_job(), None, output)
    assert _steps(sender) == [(process_id_of(a_job(), 1), ProcessStatus.CLOSED)]
    assert (run.recipe.roles, run.recipe.allowed_tools) == (frozenset(), ())


async def test_what_could_not_be_written_is_written_when_it_is_tried_again() -> None:
    sender = Kept()
    attempts = attempts_of(sender)
    sender.away = True
    with pytest.raises(TransientError):
        await attempts.begin(ENGINE, a_job(), 1)
    sender.away = False
    run = await _begun(attempts)
    assert len(sender.of_kind("session")) == 1
    run.used(a_usage(run.process_id, tokens=3))
    sender.away = True
    with pytest.raises(TransientError):
        await attempts.ended(ENGINE, a_job(), run, a_usage(run.process_id))
    sender.away = False
    for _ in range(2):
        await attempts.ended(ENGINE, a_job(), run, a_usage(run.process_id))
    assert [usage.tokens for usage in sender.of_kind("usage")] == [3]


async def test_the_audit_of_a_run_writes_under_its_process() -> None:
    sender = Kept()
    run = await _begun(attempts_of(sender))
    await run.audit.started(ToolCall("s", "r", "toolu_1", "search", {}))
    (call,) = sender.of_kind("toolCall")
    assert (call.process_id, call.job_id, call.tenant_id) == (run.process_id, "job-1", "acme")


async def test_a_run_begins_with_the_documents_of_its_moment() -> None:
    standing, clock = Standing(), Clock()
    attempts = attempts_of(Kept(), standing, clock)
    standing.put({recipe_at("agrajag", "acme"): a_recipe_file("agrajag", params={"maxProbes": 1})})
    first = await _begun(attempts)
    standing.put({recipe_at("agrajag", "acme"): a_recipe_file("agrajag", params={"maxProbes": 2})})
    second = await _begun(attempts, a_job(job_id="job-2"))
    assert [run.recipe.params["maxProbes"] for run in (first, second)] == [1, 2]
    assert clock.move(seconds=5) == second.clock() == NOW + timedelta(seconds=5)

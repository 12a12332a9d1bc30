"""The engine beside the model: what it is, what it does without one, what it tells of itself, what it leaves alone."""

import asyncio
from decimal import Decimal
from typing import Any

import pytest
from structlog.testing import capture_logs

from agrajag.diagnosis.engine import AgrajagEngine, EngineBounds
from agrajag.diagnosis.probe import ProbeRefusal
from agrajag.errors import TransientError
from agrajag.harness import NoModel, Prices, ToolCall
from agrajag.model.enums import Classification, Diagnostician, ServiceFailure, Trigger
from agrajag.model.jobs import DiagnosisJob, DiagnosisResult
from agrajag.service.engine import Budget, ServiceEngine
from agrajag.wire.topics import Topic
from tests.builders import a_job
from tests.diagnosis.cases import SYSTEM, USER, fails, works
from tests.diagnosis.engine_runs import ScriptedProbes, a_recipe, a_run, an_engine, diagnosed
from tests.harness.replies import Hang, text
from tests.harness.runs import Recorded, connected
from tests.harness.scripted_model import ScriptedModel
from tests.waiting import eventually


def test_it_is_a_service_engine() -> None:
    engine: ServiceEngine[DiagnosisJob, DiagnosisResult] = an_engine(ScriptedProbes())
    assert (engine.name, engine.closes_itself, engine.output_topic) == (
        "agrajag",
        False,
        Topic.DIAGNOSIS_RESULTS,
    )
    assert (engine.input_model, engine.output_model) == (DiagnosisJob, DiagnosisResult)


async def test_an_answer_is_keyed_by_its_tool_and_named_by_its_process() -> None:
    engine = an_engine(ScriptedProbes())
    result = engine.failed(a_job(tool_name="a|b"), a_run(), ServiceFailure.CRASHED)
    assert (engine.output_key(result), engine.output_id(result)) == ("acme|a%7Cb", "proc-1")


async def test_without_a_key_the_rules_answer_and_that_is_said_once() -> None:
    engine = an_engine(ScriptedProbes(), NoModel.NO_KEY)
    with capture_logs() as logs:
        for _ in range(2):
            result = await engine.run(a_job(), a_run())
    assert result.answered_by is Diagnostician.RULES
    assert result.diagnosis is not None
    assert result.diagnosis.classification is Classification.WORKING
    told = [line for line in logs if line["event"] == "diagnosis_without_model"]
    assert [line["reason"] for line in told] == ["no_key"]


async def test_the_probes_of_the_rules_are_on_record_too() -> None:
    ran = await diagnosed()
    assert ran.audit.lines == [
        ("started", "rules-1"),
        ("evidence", "rules-1"),
        ("started", "rules-2"),
        ("evidence", "rules-2"),
    ]
    assert [one.identity for one in ran.result.evidence] == [USER, SYSTEM]


async def test_a_tool_that_nobody_has_declared_is_unclear_after_one_question() -> None:
    refused = ScriptedProbes({USER: [ProbeRefusal.NO_TARGET], SYSTEM: [ProbeRefusal.NO_TARGET]})
    ran = await diagnosed(refused)
    assert ran.classification is Classification.UNCLEAR
    assert ran.probes.identities == [USER]
    assert ran.audit.lines == [("started", "rules-1"), ("NO_TARGET", "rules-1")]
    assert ran.result.evidence == ()


async def test_a_flapping_tool_is_asked_once_more() -> None:
    ran = await diagnosed(ScriptedProbes({USER: [fails(USER), works(USER)], SYSTEM: [works(SYSTEM)]}))
    assert ran.probes.identities == [USER, SYSTEM, USER]
    assert ran.classification is Classification.INTERMITTENT


async def test_the_rules_keep_to_the_number_of_probes() -> None:
    ran = await diagnosed(
        ScriptedProbes({USER: [fails(USER)], SYSTEM: [works(SYSTEM)]}), recipe=a_recipe(maxProbes=1)
    )
    assert ran.probes.identities == [USER]


async def test_without_time_nothing_is_probed() -> None:
    ran = await diagnosed(seconds=0.5)
    assert (ran.probes.requests, ran.classification) == ([], Classification.UNCLEAR)


@pytest.mark.parametrize("over", list(Budget))
async def test_over_budget_the_rules_answer_and_no_model_is_asked(over: Budget) -> None:
    async with ScriptedModel([text("{}")]) as server:
        ran = await diagnosed(server=server, over_budget=over)
    assert server.requests == []
    assert ran.result.answered_by is Diagnostician.RULES
    assert ran.result.diagnosis is not None
    assert ran.result.diagnosis.human_note.endswith("No model has answered: over_budget.")


@pytest.mark.parametrize(
    "trigger", [Trigger.TOOL_CALL_ERROR, Trigger.USER_REQUEST, Trigger.SCHEDULED_RECHECK]
)
async def test_every_way_of_asking_is_answered(trigger: Trigger) -> None:
    ran = await diagnosed(job=a_job(trigger=trigger))
    assert (ran.result.trigger, ran.classification) == (trigger, Classification.WORKING)


async def test_a_system_event_is_for_the_record_and_is_not_looked_into() -> None:
    async with ScriptedModel([]) as server:
        ran = await diagnosed(server=server, job=a_job(trigger=Trigger.SYSTEM_EVENT))
    assert (ran.result.diagnosis, ran.result.failure) == (None, ServiceFailure.NOT_POSSIBLE)
    assert (server.requests, ran.probes.requests) == ([], [])
    assert len(ran.used) == 1


async def test_a_failed_job_says_why_and_nothing_else() -> None:
    engine = an_engine(ScriptedProbes())
    result = engine.failed(a_job(locale="de"), a_run(), ServiceFailure.LEASE_EXPIRED)
    assert (result.failure, result.diagnosis, result.evidence) == (ServiceFailure.LEASE_EXPIRED, None, ())
    assert (result.locale, result.by) == ("de", "agrajag-engine/proc-1")


async def test_what_a_run_has_used_is_told_once() -> None:
    prices = Prices(Decimal(1), Decimal(5), Decimal(1), Decimal(1))
    async with ScriptedModel([text('{"classification": "UNCLEAR"}')]) as server:
        ran = await diagnosed(server=server, prices=prices)
    [used] = ran.used
    assert (used.model, used.model_calls, used.tokens, used.tool_calls) == ("scripted", 1, 120, 0)
    assert (used.cost_micro_usd, used.usage_complete) == (200, True)
    assert (used.process_id, used.job_id, used.service_name) == ("proc-1", "job-1", "agrajag")


async def test_a_usage_beyond_all_numbers_is_told_as_the_largest() -> None:
    prices = Prices(Decimal(1_000_000), Decimal(5), Decimal(1), Decimal(1))
    huge = {"input_tokens": 2**60, "output_tokens": 2**60, "cache_read_input_tokens": 2**60}
    async with ScriptedModel([text('{"classification": "WORKING"}', usage=huge)]) as server:
        ran = await diagnosed(server=server, prices=prices)
    assert (ran.used[0].tokens, ran.used[0].cost_micro_usd) == (2**53, 2**53)


async def test_without_a_model_only_probes_were_used() -> None:
    [used] = (await diagnosed()).used
    assert (used.model, used.model_calls, used.tokens, used.tool_calls) == (None, 0, 0, 2)
    assert used.cost_micro_usd is None


async def test_a_run_that_is_cut_still_tells_what_it_has_used() -> None:
    used: list[Any] = []
    async with ScriptedModel([Hang()]) as server, connected(server.url) as model:
        engine = an_engine(ScriptedProbes(), model)
        task = asyncio.create_task(engine.run(a_job(), a_run(used=used.append)))
        await eventually(lambda: server.reached.is_set())
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert [(one.model, one.model_calls) for one in used] == [("scripted", 1)]


class NoPaper(Recorded):
    """An audit that cannot write."""

    async def started(self, call: ToolCall) -> None:
        raise TransientError("the brokers are away")


async def test_a_probe_that_cannot_be_put_on_record_is_not_made() -> None:
    probes = ScriptedProbes()
    with pytest.raises(TransientError):
        await an_engine(probes).run(a_job(), a_run(audit=NoPaper()))
    assert probes.requests == []


async def test_a_prober_that_does_not_keep_to_the_time_has_shown_nothing_and_no_model_is_asked_again() -> (
    None
):
    stuck = ScriptedProbes({USER: [None], SYSTEM: [None]})
    bounds = EngineBounds(probe_seconds=0.05)
    async with ScriptedModel([text('{"classification": "TECHNICALLY_BROKEN"}')]) as server:
        ran = await diagnosed(stuck, server=server, bounds=bounds)
    assert ran.classification is Classification.UNCLEAR
    assert ran.result.answered_by is Diagnostician.MODEL
    assert ran.audit.lines == [("started", "rules-1"), ("PROBER_STUCK", "rules-1")]
    assert ran.result.evidence == ()
    assert [one.model_calls for one in ran.used] == [1]


async def test_the_document_is_looked_up_with_user_project_and_session() -> None:
    engine: AgrajagEngine = an_engine(ScriptedProbes())
    await engine.run(a_job(originating_session_id="s-1"), a_run())
    reading: Any = engine._health
    assert reading.asked == [
        {
            "tenant_id": "acme",
            "tool_name": "search",
            "project_id": "essays",
            "user_id": "alice",
            "session_id": "s-1",
        }
    ]

"""Requirement: Insufficient evidence SHALL terminate without a fabricated conclusion.

What the prompt demands stands in the request; that it is not left to the model's good will is shown by the drafts that
are refused.
"""

from typing import Any

import pytest

from agrajag.harness import Failed
from agrajag.investigation.failures import DiagnosisAgentOutputError, DraftFault
from agrajag.investigation.limits import Limits
from agrajag.investigation.prompt import FINAL_TEXT, SYSTEM_PROMPT
from agrajag.investigation.result import DiagnosisExecutionResult, ExecutionStop
from tests.harness.replies import calls
from tests.investigation.scenarios.scene import (
    CHECKED,
    EMPTY,
    NOTHING,
    Scene,
    Source,
    answer,
    draft,
    lookup,
    not_found,
    observed,
    played,
)
from tests.investigation.scenarios.titles import clause, scenario

CONCLUSION = {"summary": "连接池耗尽。", "root_cause": None}


async def drafted(written: dict[str, Any], source: Source | None = None) -> DiagnosisExecutionResult:
    """The end of a run that looked once, as `call-1`, and then wrote this."""
    scene = Scene([calls(lookup("call-1")), answer(written)], knowledge=source or Source())
    result = await played(scene)
    assert scene.requests[0].body["system"] == SYSTEM_PROMPT
    return result


async def refused(written: dict[str, Any], source: Source | None = None) -> DraftFault:
    with pytest.raises(DiagnosisAgentOutputError) as raised:
        await drafted(written, source)
    return raised.value.code


@clause("every analysis item has to cite tool call ids of the current run")
async def test_every_analysis_item_has_to_cite_tool_call_ids_of_the_current_run() -> None:
    assert "analysis 的每一项都必须在 tool_call_ids 中引用本轮工具结果的 tool_call_id" in SYSTEM_PROMPT
    assert await refused(draft(observed())) is DraftFault.SCHEMA
    assert await refused(draft(observed("call-1", "call-2"))) is DraftFault.UNKNOWN_CALL
    assert await refused(draft(observed("CALL-1"))) is DraftFault.UNKNOWN_CALL
    failed = draft(observed("call-1"), limitations=NOTHING)
    assert await refused(failed, Source(Failed("X"))) is DraftFault.UNKNOWN_CALL
    assert (await drafted(draft(observed("call-1")))).draft is not None


@clause("every analysis item has to cite tool call ids of the current run")
async def test_every_analysis_item_has_to_cite_tool_call_ids_of_the_current_run_not_of_another() -> None:
    script = [calls(lookup("call-1")), answer(draft(observed("call-1"))), answer(draft(observed("call-1")))]
    async with Scene(script) as scene:
        assert (await scene.ask()).draft is not None
        other = scene.investigator.run_context("session-1", "run-2")
        with pytest.raises(DiagnosisAgentOutputError) as raised:
            await scene.investigator.investigate("还在发生吗？", None, other)
    assert (raised.value.code, raised.value.snapshot) == (DraftFault.UNKNOWN_CALL, None)


@clause("NO_EVIDENCE is restricted to scoped negative observations")
async def test_no_evidence_is_restricted_to_scoped_negative_observations() -> None:
    assert "NO_EVIDENCE 结果只能用于 NEGATIVE_OBSERVATION，并且必须填写 scope" in SYSTEM_PROMPT
    claimed = draft(observed("call-1"), conclusion=None)
    assert await refused(claimed, Source(EMPTY)) is DraftFault.NO_EVIDENCE_AS_OBSERVATION
    unscoped = draft(not_found("call-1", scope=None))
    assert await refused(unscoped, Source(EMPTY)) is DraftFault.NEGATIVE_WITHOUT_SCOPE
    assert (await drafted(draft(not_found("call-1")), Source(EMPTY))).draft is not None


@clause("a root cause is not required")
async def test_a_root_cause_is_not_required() -> None:
    assert "并不要求你一定找到根因" in SYSTEM_PROMPT
    without = (await drafted(draft(observed("call-1"), conclusion=CONCLUSION))).draft
    assert without is not None
    assert without.conclusion is not None
    assert without.conclusion.root_cause is None
    inconclusive = await drafted(draft(observed("call-1"), conclusion=None))
    assert inconclusive.stop_reason is ExecutionStop.COMPLETED


@clause("without support the agent stops with conclusion null and says what was checked and what is missing")
async def test_without_support_the_agent_stops_with_conclusion_null_and_says_what_was_checked_and_what_is_missing() -> (
    None
):
    assert "conclusion 填 null" in SYSTEM_PROMPT
    quiet = draft(not_found("call-1"), limitations={**CHECKED, "missing_info": []})
    assert await refused(quiet, Source(EMPTY)) is DraftFault.MISSING_INFO_NOT_SAID
    unchecked = draft(not_found("call-1"), limitations={**CHECKED, "checked_scope": []})
    assert await refused(unchecked, Source(EMPTY)) is DraftFault.CHECKED_SCOPE_NOT_SAID
    invented = draft(limitations=CHECKED)
    assert await refused(invented, Source(Failed("X"))) is DraftFault.CHECKED_SCOPE_INVENTED
    result = await drafted(draft(not_found("call-1")), Source(EMPTY))
    assert result.draft is not None
    assert result.draft.conclusion is None
    assert result.draft.limitations.missing_info
    assert result.draft.limitations.checked_scope


@clause("the absence of a problem is not inferred")
async def test_the_absence_of_a_problem_is_not_inferred() -> None:
    assert "不要由没有查到推断问题不存在，不要编造根因" in SYSTEM_PROMPT
    fine = draft(not_found("call-1"), conclusion={"summary": "没有问题。", "root_cause": None})
    assert await refused(fine, Source(EMPTY)) is DraftFault.CONCLUSION_WITHOUT_EVIDENCE
    made_up = draft(conclusion={"summary": "网络抖动。", "root_cause": "交换机故障。"})
    assert await refused(made_up) is DraftFault.CONCLUSION_WITHOUT_EVIDENCE


@clause("the absence of a problem is not inferred")
async def test_the_absence_of_a_problem_is_not_inferred_nor_a_cause_from_what_brought_nothing() -> None:
    script = [
        calls(lookup("call-1")),
        calls(lookup("call-2", "b", previous="call-1", worth="NO_GAIN")),
        answer(draft(observed("call-1"))),
    ]
    scene = Scene(script)
    scene.knowledge.finds = Source().finds
    with pytest.raises(DiagnosisAgentOutputError) as raised:
        await played(scene)
    assert raised.value.code is DraftFault.CONCLUSION_WITHOUT_EVIDENCE


@clause("equivalent tool calls are not made")
async def test_equivalent_tool_calls_are_not_made() -> None:
    assert "不要发出等价的调用" in SYSTEM_PROMPT
    script = [
        calls(lookup("call-1", "503")),
        calls(lookup("call-2", "503", limit=5)),  # the default, spelled out
        calls(lookup("call-3", "503", limit=6)),
        answer(draft(not_found("call-1", "call-3"))),
    ]
    scene = Scene(script, knowledge=Source(EMPTY))
    await played(scene)
    assert scene.knowledge.ids == ["call-1", "call-3"]
    repair = scene.observation(2)
    assert (repair["evidence_status"], repair["code"]) == ("REPAIR", "EQUIVALENT_CALL")
    assert [record.tool_call_id for record in await scene.records()] == ["call-1", "call-3"]


@clause("equivalent tool calls are not made")
async def test_equivalent_tool_calls_are_not_made_and_end_the_collecting() -> None:
    script = [
        calls(lookup("call-1")),
        calls(lookup("call-2")),
        calls(lookup("call-3", "another")),
        answer(draft(not_found("call-1"))),
    ]
    scene = Scene(script, Limits(no_gains=2), knowledge=Source(EMPTY))
    await played(scene)
    assert scene.knowledge.ids == ["call-1"]
    assert scene.observation(3)["evidence_status"] == "STOP_REQUIRED"


@scenario("Tool finds no evidence")
async def test_tool_finds_no_evidence() -> None:
    script = [
        calls(lookup("call-1", "503")),
        calls(lookup("call-2", "连接池")),
        answer(draft(not_found("call-1"), not_found("call-2"))),
    ]
    scene = Scene(script, knowledge=Source(EMPTY))
    result = await played(scene)
    assert result.draft is not None
    assert result.draft.conclusion is None
    assert result.draft.limitations.checked_scope == ("runbooks",)
    assert result.draft.limitations.missing_info == ("更早的日志",)
    assert scene.knowledge.ids == ["call-1", "call-2"]
    assert len({asked.model_dump_json() for _, asked in scene.knowledge.seen}) == 2
    assert len(scene.requests) == 3


@scenario("No bounded Tool query is possible")
async def test_no_bounded_tool_query_is_possible() -> None:
    scene = Scene([answer(draft())])
    result = await played(scene, "为什么又慢了？")
    assert result.draft is not None
    assert (result.draft.conclusion, result.draft.analysis) == (None, ())
    assert result.draft.limitations.missing_info == ("故障的起止时间",)
    assert result.stop_reason is ExecutionStop.COMPLETED
    assert not result.snapshot.is_publishable
    assert scene.ledger.writes == []
    assert len(scene.requests) == 1


@scenario("Harness requires stop")
async def test_harness_requires_stop() -> None:
    script = [calls(lookup("call-1")), calls(lookup("call-2", "b")), answer(draft(not_found("call-1")))]
    scene = Scene(script, Limits(no_gains=1), knowledge=Source(EMPTY))
    result = await played(scene)
    assert scene.observation(2)["evidence_status"] == "STOP_REQUIRED"
    last = scene.requests[2].body
    assert last["tool_choice"] == {"type": "none"}
    assert last["messages"][-1]["content"][-1] == {"type": "text", "text": FINAL_TEXT}
    assert not any(sign.isdigit() for sign in FINAL_TEXT)
    assert (result.stop_reason, result.draft is None) == (ExecutionStop.COMPLETED, False)
    assert scene.knowledge.ids == ["call-1"]
    assert len(scene.requests) == 3

"""Requirement: Diagnosis execution SHALL preserve controlled stop outcomes."""

import json
from dataclasses import replace

import pytest
from pydantic import ValidationError

from agrajag.harness import Failed, RunContext
from agrajag.investigation.failures import DiagnosisAgentError, DiagnosisAgentOutputError, DraftFault
from agrajag.investigation.limits import Limits
from agrajag.investigation.records import ProgressSnapshot
from agrajag.investigation.result import DiagnosisExecutionResult, ExecutionStop
from tests.harness.replies import Message, Reply, Status, calls, text
from tests.harness.scripted_model import Request
from tests.investigation.scenarios.scene import (
    EMPTY,
    Scene,
    Source,
    answer,
    draft,
    lookup,
    observed,
    played,
)
from tests.investigation.scenarios.titles import clause, scenario

CALL = calls(lookup("call-1"))
NO_GAIN = [CALL, calls(lookup("call-2", "b"))]


def never_ending(request: Request) -> Reply:
    """A model that asks for one tool call after the other, whatever it is told."""
    number = len(request.body["messages"])
    return calls(lookup(f"call-{number}", f"b {number}"))


@clause("draft, saturation, exhausted budget and failure are distinguished")
async def test_draft_saturation_exhausted_budget_and_failure_are_distinguished() -> None:
    saturated, few = Limits(no_gains=1), Limits(tool_attempts=2, model_calls=4, no_gains=10)
    ends = {
        ExecutionStop.COMPLETED: Scene([answer(draft())]),
        ExecutionStop.INFORMATION_SATURATION: Scene(never_ending, saturated, knowledge=Source(EMPTY)),
        ExecutionStop.TOOL_CALLS_EXHAUSTED: Scene(never_ending, few, knowledge=Source(EMPTY)),
        ExecutionStop.TOKENS_EXHAUSTED: Scene(never_ending, Limits(tokens=100)),
    }
    for end, scene in ends.items():
        assert (await played(scene)).stop_reason is end
    with pytest.raises(DiagnosisAgentError, match="OVERLOADED"):
        await played(Scene([Status(529)]))
    with pytest.raises(DiagnosisAgentOutputError, match="NOT_ONE_OBJECT"):
        await played(Scene([text("不清楚")]))


@clause("the result is bounded and holds a draft or none, the progress and the stop reason")
async def test_the_result_is_bounded_and_holds_a_draft_or_none_the_progress_and_the_stop_reason() -> None:
    assert set(DiagnosisExecutionResult.model_fields) == {"draft", "snapshot", "stop_reason"}
    completed = await played(Scene([CALL, answer(draft(observed("call-1")))]))
    stopped = await played(Scene(never_ending, Limits(no_gains=1), knowledge=Source(EMPTY)))
    assert completed.draft is not None
    assert stopped.draft is None
    for result, status in ((completed, "EVIDENCE"), (stopped, "NO_EVIDENCE")):
        [check] = json.loads(result.snapshot.model_dump_json())["checks"]
        assert set(check) == {"tool_call_id", "tool_name", "evidence_status", "evaluation", "scope"}
        assert (check["evidence_status"], check["scope"]["source"]) == (status, "runbooks")
    with pytest.raises(ValidationError):
        DiagnosisExecutionResult(
            draft=completed.draft, snapshot=stopped.snapshot, stop_reason=ExecutionStop.CANCELLED
        )
    with pytest.raises(ValidationError):
        DiagnosisExecutionResult(draft=None, snapshot=stopped.snapshot, stop_reason=ExecutionStop.COMPLETED)


@pytest.mark.parametrize(
    ("limits", "budgets"),
    [
        (Limits(no_gains=1), {}),
        (Limits(tool_attempts=1, model_calls=3), {}),
        (Limits(), {"model_calls": 1}),
        (Limits(tokens=100), {}),
    ],
    ids=["saturation", "tool calls", "model calls", "tokens"],
)
@clause("a controlled stop is not made an output error")
async def test_a_controlled_stop_is_not_made_an_output_error(limits: Limits, budgets: dict[str, int]) -> None:
    async with Scene(never_ending, limits, knowledge=Source(EMPTY)) as scene:
        old = scene.context
        scene.context = RunContext(old.run_id, old.session_id, replace(old.budgets, **budgets), old.deadline)
        result = await scene.ask()
    assert result.draft is None
    assert result.stop_reason is not ExecutionStop.COMPLETED


@clause("a controlled stop is not made an output error")
async def test_a_controlled_stop_is_not_made_an_output_error_where_tokens_cut_the_last_text() -> None:
    scene = Scene([text('{"conclusion":', stop_reason="max_tokens")], Limits(tokens=100))
    assert (await played(scene)).stop_reason is ExecutionStop.TOKENS_EXHAUSTED


@scenario("Model ignores STOP_REQUIRED")
async def test_model_ignores_stop_required() -> None:
    scene = Scene(never_ending, Limits(no_gains=1), knowledge=Source(EMPTY))
    result = await played(scene)
    assert scene.observation(2)["evidence_status"] == "STOP_REQUIRED"
    assert scene.requests[2].body["tool_choice"] == {"type": "none"}
    assert len(scene.requests) == 3
    assert (result.draft, result.stop_reason) == (None, ExecutionStop.INFORMATION_SATURATION)
    assert [check.tool_call_id for check in result.snapshot.checks] == scene.knowledge.ids
    assert len(scene.knowledge.ids) == 1


@pytest.mark.parametrize("reply", [Status(500), Message("no list")], ids=["500", "malformed"])
@scenario("Unclassified framework failure")
async def test_unclassified_framework_failure(reply: Reply) -> None:
    scene = Scene([CALL, reply])
    with pytest.raises(DiagnosisAgentError) as raised:
        await played(scene)
    assert not hasattr(raised.value, "snapshot")
    assert raised.value.args == (raised.value.code,)
    assert len(scene.requests) == 2


@pytest.mark.parametrize("reply", [Message([]), text("```json\n{}\n```"), text('{"conclusion": "SECRET"}')])
@scenario("Invalid final Draft after verified checks")
async def test_invalid_final_draft_after_verified_checks(reply: Message) -> None:
    scene = Scene([CALL, reply, answer(draft(observed("call-1")))])
    with pytest.raises(DiagnosisAgentOutputError) as raised:
        await played(scene)
    snapshot = raised.value.snapshot
    assert isinstance(snapshot, ProgressSnapshot)
    assert [(check.tool_call_id, check.evidence_status) for check in snapshot.checks] == [
        ("call-1", "EVIDENCE")
    ]
    assert vars(raised.value) == {"code": raised.value.code, "snapshot": snapshot}
    assert raised.value.args == (raised.value.code.value,)
    assert len(scene.requests) == 2


@pytest.mark.parametrize("finds", [None, Failed("SOURCE_UNAVAILABLE")], ids=["no call", "failed call"])
@scenario("Invalid final Draft without verified checks")
async def test_invalid_final_draft_without_verified_checks(finds: Failed | None) -> None:
    script = [text("没有更多信息"), answer(draft())]
    scene = Scene(script) if finds is None else Scene([CALL, *script], knowledge=Source(finds))
    with pytest.raises(DiagnosisAgentOutputError) as raised:
        await played(scene)
    assert (raised.value.code, raised.value.snapshot) == (DraftFault.NOT_ONE_OBJECT, None)
    assert len(scene.requests) == (1 if finds is None else 2)

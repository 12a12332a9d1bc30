"""Requirement: Every model round SHALL be controlled by RunContext."""

import asyncio
from dataclasses import replace

import pytest

from agrajag.harness import ModelStep, RunContext, StopReason, Usage
from agrajag.harness.budgets import Round
from agrajag.investigation.limits import Limits
from agrajag.investigation.result import ExecutionStop
from tests.harness.replies import Hang, Reply, calls, use
from tests.harness.scripted_model import Request
from tests.investigation.scenarios.scene import (
    Hanging,
    Scene,
    Seen,
    answer,
    draft,
    lookup,
    observed,
    played,
)
from tests.investigation.scenarios.titles import clause, scenario

ONE_CALL = [calls(lookup("call-1")), answer(draft(observed("call-1")))]


class Counted(RunContext):
    """A context that counts how often it was asked."""

    asked = 0

    def before_model_call(self, max_tokens: int) -> Round:
        self.asked += 1
        return super().before_model_call(max_tokens)


def bounded(scene: Scene, **budgets: int) -> RunContext:
    """The context of the scene with other budgets."""
    old = scene.context
    scene.context = RunContext(old.run_id, old.session_id, replace(old.budgets, **budgets), old.deadline)
    return scene.context


@clause("the run context is received explicitly")
async def test_the_run_context_is_received_explicitly() -> None:
    async with Scene(ONE_CALL) as scene:
        scene.context = RunContext("run-x", "session-x", scene.context.budgets, scene.context.deadline)
        result = await scene.ask()
    assert result.snapshot.run_id == "run-x"
    assert {(record.session_id, record.run_id) for record in scene.ledger.writes} == {("session-x", "run-x")}
    assert scene.context.begun
    assert scene.context.spent.model_calls == 2


@clause("a model interceptor asks the run context before every round")
async def test_a_model_interceptor_asks_the_run_context_before_every_round() -> None:
    second = calls(lookup("call-2", "池", previous="call-1"))
    async with Scene([ONE_CALL[0], second, ONE_CALL[1]]) as scene:
        counted = Counted("run-1", "session-1", scene.context.budgets, scene.context.deadline)
        scene.context = counted
        await scene.ask()
    assert counted.asked == counted.spent.model_calls == len(scene.requests) == 3


@clause("usage is recorded into the same run budget when available")
async def test_usage_is_recorded_into_the_same_run_budget_when_available() -> None:
    async with Scene(ONE_CALL) as scene:
        await scene.ask()
    assert scene.context.usage == Usage(200, 40, 0, 0, complete=True)
    assert scene.context.spent.tokens == 240


@clause("usage is recorded into the same run budget when available")
async def test_usage_is_recorded_into_the_same_run_budget_when_available_and_else_said_to_be_missing() -> (
    None
):
    async with Scene([calls(lookup("call-1"), usage=None), answer(draft(observed("call-1")))]) as scene:
        result = await scene.ask()
    assert result.stop_reason is ExecutionStop.COMPLETED
    assert scene.context.usage == Usage(100, 20, 0, 0, complete=False)
    assert scene.context.spent.tokens == 120


@clause("cancellation prevents subsequent work")
async def test_cancellation_prevents_subsequent_work_before_it_has_begun() -> None:
    async with Scene(ONE_CALL) as scene:
        scene.context.cancel()
        result = await scene.ask()
    assert result.stop_reason is ExecutionStop.CANCELLED
    assert scene.requests == []


@clause("cancellation prevents subsequent work")
async def test_cancellation_prevents_subsequent_work_and_cuts_a_request() -> None:
    async with Scene([calls(lookup("call-1")), Hang()]) as scene:
        asking = asyncio.create_task(scene.ask())
        await scene.server.reached.wait()
        scene.context.cancel()
        result = await asking
        await scene.server.abandoned.wait()
    assert result.stop_reason is ExecutionStop.CANCELLED
    assert [check.tool_call_id for check in result.snapshot.checks] == ["call-1"]
    assert len(scene.requests) == 2


@clause("cancellation prevents subsequent work")
async def test_cancellation_prevents_subsequent_work_and_cuts_a_tool() -> None:
    hanging = Hanging()
    async with Scene(
        [calls(lookup("call-1"), lookup("call-2")), answer(draft())], knowledge=hanging
    ) as scene:
        asking = asyncio.create_task(scene.ask())
        await hanging.reached.wait()
        scene.context.cancel()
        result = await asking
    assert result.stop_reason is ExecutionStop.CANCELLED
    assert hanging.ids == ["call-1"]
    assert len(scene.requests) == 1
    [record] = await scene.records()
    assert (record.state, record.error_code) == ("FAILED", "TOOL_CUT")


@clause("the deadline prevents subsequent work")
async def test_the_deadline_prevents_subsequent_work_before_it_has_begun() -> None:
    async with Scene(ONE_CALL) as scene:
        scene.context.deadline = asyncio.get_running_loop().time() - 1
        result = await scene.ask()
    assert result.stop_reason is ExecutionStop.DEADLINE_EXCEEDED
    assert scene.requests == []


@pytest.mark.parametrize("where", ["request", "tool"])
@clause("the deadline prevents subsequent work")
async def test_the_deadline_prevents_subsequent_work_and_cuts_what_is_under_way(where: str) -> None:
    knowledge = Hanging() if where == "tool" else None
    script = [Hang()] if knowledge is None else [calls(lookup("call-1")), answer(draft())]
    scene = Scene(script, Limits(run_seconds=0.3))
    scene.knowledge = knowledge or scene.knowledge
    result = await played(scene)
    assert result.stop_reason is ExecutionStop.DEADLINE_EXCEEDED
    assert len(scene.requests) == 1
    assert scene.adapters_asked == (["call-1"] if where == "tool" else [])


@clause("model-call exhaustion prevents subsequent work")
async def test_model_call_exhaustion_prevents_subsequent_work() -> None:
    async with Scene(ONE_CALL, lenient=True) as scene:
        bounded(scene, model_calls=1)
        result = await scene.ask()
    assert result.stop_reason is ExecutionStop.MODEL_CALLS_EXHAUSTED
    assert scene.adapters_asked == []
    assert len(scene.requests) == 1


@clause("token exhaustion prevents subsequent work")
async def test_token_exhaustion_prevents_subsequent_work() -> None:
    usage = {"input_tokens": 900, "output_tokens": 100}
    script = [calls(lookup("call-1")), calls(lookup("call-2", "池", previous="call-1"), usage=usage)]
    scene = Scene([*script, answer(draft())], Limits(tokens=1_000))
    result = await played(scene)
    assert result.stop_reason is ExecutionStop.TOKENS_EXHAUSTED
    assert scene.knowledge.ids == ["call-1"]
    assert len(scene.requests) == 2
    assert scene.context.spent.tokens == 1_120  # the round that went beyond was the last
    assert scene.requests[1].body["max_tokens"] == 1_000 - 120


@clause("token exhaustion prevents subsequent work")
async def test_token_exhaustion_prevents_subsequent_work_of_the_model_where_no_tool_was_asked() -> None:
    scene = Scene([calls(use("call-1", "shell")), answer(draft())], Limits(tokens=100))
    assert (await played(scene)).stop_reason is ExecutionStop.TOKENS_EXHAUSTED
    assert len(scene.requests) == 1


@scenario("ReAct performs two model rounds")
async def test_react_performs_two_model_rounds() -> None:
    seen = Seen()
    scene = Scene(ONE_CALL, hook=seen)
    await played(scene)
    assert scene.context.spent.model_calls == len(scene.requests) == 2
    assert [step.number for step in seen.steps if isinstance(step, ModelStep)] == [1, 2]
    assert {request.headers.get("x-stainless-retry-count", "0") for request in scene.requests} == {"0"}


@scenario("Model-call budget is exhausted")
async def test_model_call_budget_is_exhausted() -> None:
    def unknown_tool(request: Request) -> Reply:
        return calls(use(f"call-{len(request.body['messages'])}", "read_file", path="/etc/passwd"))

    scene = Scene(unknown_tool, Limits(tool_attempts=2, model_calls=4))
    result = await played(scene)
    # The framework answers the call of the last round itself, and then attempts a round too many.
    assert len(scene.requests) == 4
    assert scene.context.spent.model_calls == 4
    assert scene.context.spent.final is StopReason.MODEL_CALLS_EXHAUSTED
    assert (result.draft, result.stop_reason) == (None, ExecutionStop.MODEL_CALLS_EXHAUSTED)

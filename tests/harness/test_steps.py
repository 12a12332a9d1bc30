"""A hook sees every step of a run, in order and without the model's words, and cannot change the run."""

import asyncio
from dataclasses import dataclass, field

import pytest

from agrajag.harness import AgentStep, AskedTool, EvidenceStatus, ModelStep, StopReason, ToolStep, run_agent
from agrajag.metrics import MODEL_HOOK_FAILURES, MODEL_TOOL_CALLS, ToolCallEnd
from tests.harness.replies import calls, text, use
from tests.harness.runs import TASK, Looking, Recorded, connected, context
from tests.harness.scripted_model import ScriptedModel


@dataclass
class Seen:
    """A hook that keeps what it sees."""

    steps: list[AgentStep] = field(default_factory=list)

    async def step(self, step: AgentStep) -> None:
        self.steps.append(step)


class Raising:
    async def step(self, step: AgentStep) -> None:
        raise OSError("SECRET")


class Hanging:
    async def step(self, step: AgentStep) -> None:
        await asyncio.Event().wait()


async def test_every_round_and_every_call_is_a_step_with_the_ids_of_the_run() -> None:
    seen = Seen()
    async with (
        ScriptedModel([calls(use("a"), use("b", "peek")), text("done")]) as server,
        connected(server.url) as model,
    ):
        await run_agent(model, context(model_calls=2), TASK, [Looking().tool()], Recorded(), seen)
    first, tool, last = seen.steps
    assert isinstance(first, ModelStep)
    assert (first.number, first.final, first.usage.total) == (1, None, 120)
    assert first.asked == (AskedTool("a", "look"), AskedTool("b", None))
    assert tool == ToolStep("session-1", "run-1", "a", "look", EvidenceStatus.EVIDENCE)
    assert isinstance(last, ModelStep)
    assert (last.number, last.final, last.asked) == (2, StopReason.MODEL_CALLS_EXHAUSTED, ())
    assert {(step.session_id, step.run_id) for step in seen.steps} == {("session-1", "run-1")}


async def test_a_call_of_a_tool_that_does_not_exist_is_counted() -> None:
    counter = MODEL_TOOL_CALLS.labels(ToolCallEnd.UNKNOWN)
    before = counter._value.get()
    async with (
        ScriptedModel([calls(use("a", "peek")), text("done")]) as server,
        connected(server.url) as model,
    ):
        await run_agent(model, context(), TASK, [Looking().tool()], Recorded())
    assert counter._value.get() == before + 1


@pytest.mark.parametrize("hook", [Raising(), Hanging()], ids=["raises", "hangs"])
async def test_a_hook_that_fails_is_counted_and_changes_nothing(
    hook: Raising | Hanging, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agrajag.harness.steps.HOOK_SECONDS", 0.05)
    before = MODEL_HOOK_FAILURES._value.get()
    looking = Looking()
    async with ScriptedModel([calls(use("a")), text("done")]) as server, connected(server.url) as model:
        result = await run_agent(model, context(), TASK, [looking.tool()], Recorded(), hook)
    assert (result.stop, result.texts, looking.ids) == (StopReason.COMPLETED, ("done",), ["a"])
    assert MODEL_HOOK_FAILURES._value.get() == before + 3

"""Cancelling and deadlines cut what is under way at once, and nothing begins after them."""

import asyncio
from dataclasses import replace

import pytest

from agrajag.harness import Outcome, Ready, RunContext, RunResult, StopReason, ToolCall, run_agent
from tests.harness.replies import Hang, Trickle, calls, text, use
from tests.harness.runs import TASK, Looking, Recorded, connected, context, run
from tests.harness.scripted_model import ScriptedModel
from tests.waiting import eventually


class Waiting:
    """A tool that waits until it is cut; `deaf`: goes on and answers after it was."""

    def __init__(self, deaf: bool = False) -> None:
        self.reached = asyncio.Event()
        self.was_cut = False
        self._deaf = deaf

    async def run(self, call: ToolCall) -> Outcome:
        self.reached.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.was_cut = True
            if not self._deaf:
                raise
        return Ready({"seen": "too late"})


def run_in_background(
    server: ScriptedModel, waiting: Waiting, bounds: RunContext
) -> "asyncio.Task[RunResult]":
    return asyncio.create_task(run(server, replace(Looking().tool(), run=waiting.run), bounds=bounds))


async def test_a_cancel_cuts_the_request_that_is_under_way() -> None:
    bounds = context()
    async with ScriptedModel([Hang()]) as server:
        running = asyncio.create_task(run(server, bounds=bounds))
        await server.reached.wait()
        bounds.cancel()
        bounds.cancel()
        result = await asyncio.wait_for(running, 10)
        await server.abandoned.wait()
    assert (result.stop, len(server.requests), result.model_calls) == (StopReason.CANCELLED, 1, 1)


async def test_a_cancel_cuts_the_tool_that_is_running_and_its_record_says_so() -> None:
    bounds, waiting, audit = context(), Waiting(), Recorded()
    async with ScriptedModel([calls(use("a"), use("b")), text("done")]) as server:
        tool = replace(Looking().tool(), run=waiting.run)
        running = asyncio.create_task(run(server, tool, bounds=bounds, audit=audit))
        await waiting.reached.wait()
        bounds.cancel()
        result = await asyncio.wait_for(running, 10)
    assert (result.stop, len(server.requests), waiting.was_cut) == (StopReason.CANCELLED, 1, True)
    assert audit.lines == [("started", "a"), ("TOOL_CUT", "a")]


async def test_a_tool_that_is_deaf_to_the_cut_does_not_make_the_run_go_well() -> None:
    bounds, waiting = context(), Waiting(deaf=True)
    async with ScriptedModel([calls(use("a")), text("done")]) as server:
        running = run_in_background(server, waiting, bounds)
        await waiting.reached.wait()
        bounds.cancel()
        result = await asyncio.wait_for(running, 10)
    assert (result.stop, len(server.requests), result.texts) == (StopReason.CANCELLED, 1, ())


async def test_a_run_that_was_cancelled_before_it_began_sends_nothing() -> None:
    bounds = context()
    bounds.cancel()
    async with ScriptedModel([text("done")]) as server:
        result = await run(server, bounds=bounds)
    assert (result.stop, server.requests) == (StopReason.CANCELLED, [])


async def test_a_cancel_after_the_end_changes_nothing() -> None:
    bounds = context()
    async with ScriptedModel([text("done")]) as server:
        result = await run(server, bounds=bounds)
    bounds.cancel()
    assert result.stop is StopReason.COMPLETED


async def test_a_deadline_that_has_passed_sends_nothing() -> None:
    async with ScriptedModel([text("done")]) as server:
        result = await run(server, bounds=context(seconds=-1.0))
    assert (result.stop, server.requests) == (StopReason.DEADLINE_EXCEEDED, [])


async def test_the_deadline_cuts_a_request() -> None:
    async with ScriptedModel([Hang()]) as server:
        result = await asyncio.wait_for(run(server, bounds=context(seconds=0.5)), 15)
        await server.abandoned.wait()
    assert (result.stop, len(server.requests)) == (StopReason.DEADLINE_EXCEEDED, 1)


async def test_the_deadline_cuts_a_tool() -> None:
    waiting = Waiting()
    tool = replace(Looking().tool(), run=waiting.run)
    async with ScriptedModel([text("warm"), calls(use("a"))]) as server, connected(server.url) as model:
        await run_agent(model, context(), TASK, [tool], Recorded())  # so that the second is quick
        running = run_agent(model, context(seconds=1.0), TASK, [tool], Recorded())
        result = await asyncio.wait_for(running, 15)
    assert (result.stop, waiting.was_cut, len(server.requests)) == (StopReason.DEADLINE_EXCEEDED, True, 2)


@pytest.mark.parametrize("reply", [Hang(), Trickle()], ids=["silent", "trickling"])
async def test_one_request_may_not_take_longer_than_a_request_may(reply: Hang | Trickle) -> None:
    async with ScriptedModel([reply]) as server:
        result = await asyncio.wait_for(run(server, request_seconds=0.3), 15)
        await server.abandoned.wait()
    assert (result.stop, len(server.requests)) == (StopReason.MODEL_TIMEOUT, 1)


async def test_a_tool_that_takes_too_long_is_cut_and_the_run_goes_on() -> None:
    waiting = Waiting()
    async with ScriptedModel([calls(use("a")), text("done")]) as server:
        result = await run(server, replace(Looking().tool(seconds=0.05), run=waiting.run))
    assert waiting.was_cut
    assert server.requests[1].results == [
        {"evidence_status": "ERROR", "tool_call_id": "a", "code": "TOOL_TIMEOUT"}
    ]
    assert result.stop is StopReason.COMPLETED


async def test_a_caller_that_is_cancelled_itself_takes_the_run_with_it() -> None:
    waiting = Waiting()
    async with ScriptedModel([calls(use("a"))]) as server:
        running = run_in_background(server, waiting, context())
        await waiting.reached.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert waiting.was_cut


async def test_many_runs_on_one_client_stay_apart() -> None:
    async with ScriptedModel([Hang()] * 20) as server, connected(server.url) as model:
        bounds = [context() for _ in range(20)]
        running = [
            asyncio.create_task(run_agent(model, each, TASK, [Looking().tool()], Recorded()))
            for each in bounds
        ]
        await eventually(lambda: len(server.requests) == 20)
        bounds[7].cancel()
        assert (await running[7]).stop is StopReason.CANCELLED
        assert sum(task.done() for task in running) == 1
        for each in bounds:
            each.cancel()
        assert {result.stop for result in await asyncio.gather(*running)} == {StopReason.CANCELLED}

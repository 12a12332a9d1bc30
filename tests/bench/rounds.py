"""What a round of a model costs through the harness, beside the same round on the SDK's own tool runner."""

import asyncio
import gc
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from statistics import median

import anthropic
from anthropic.lib.tools import BetaAsyncBuiltinFunctionTool
from anthropic.types.beta import BetaToolParam

from agrajag.harness import Model, ModelAccess, connect, run_agent
from tests.harness.replies import Message, calls, text, use
from tests.harness.runs import SCHEMA, TASK, Looking, Recorded, context
from tests.harness.scripted_model import KEY, Request, ScriptedModel

RUNS = 5
TURNS = 60
_LOOKUPS = ({"query": "503"}, {"query": "连接池"}, {"query": "order-service"})
_DRAFT = {
    "conclusion": {"summary": "连接池耗尽。", "root_cause": None},
    "analysis": [
        {
            "type": "OBSERVATION",
            "statement": "手册说明连接池耗尽时返回 503。",
            "tool_call_ids": ["call-1", "call-2", "call-3"],
            "scope": None,
        }
    ],
    "action_plan": ["扩大连接池。"],
    "recommendations": [],
    "limitations": {"missing_info": [], "checked_scope": ["运行手册"]},
}
_LOOKS, ANSWERS, INVESTIGATES = "looks", "answers", "investigates"


async def measure() -> dict[str, float]:
    """`diagnosis.round_over_sdk`: the CPU of a run of two rounds and a tool call through the harness, over the SDK's.

    The model answers at once and is another process, so that only the client's side is measured.
    """
    async with model_process(_LOOKS) as url:
        model = connect(ModelAccess("scripted", url, KEY))
        assert isinstance(model, Model)
        bare = anthropic.AsyncAnthropic(api_key=KEY, base_url=url, max_retries=0)
        async with model, bare:
            harness_us, sdk_us = await median_of(
                2, lambda: _through_harness(model), lambda: _through_sdk(bare)
            )
    return {"diagnosis.round_us": harness_us, "diagnosis.round_over_sdk": harness_us / sdk_us}


async def _through_harness(model: Model) -> None:
    result = await run_agent(model, context(), TASK, [Looking().tool()], Recorded())
    assert (result.texts, result.tool_calls) == (("done",), 1)


class _BareTool(BetaAsyncBuiltinFunctionTool):
    def to_dict(self) -> BetaToolParam:
        return {"type": "custom", "name": "look", "description": "Look at a place.", "input_schema": SCHEMA}

    async def call(self, input: object) -> str:  # noqa: A002 - the SDK's name
        return json.dumps({"seen": "nothing unusual"})


async def _through_sdk(client: anthropic.AsyncAnthropic) -> None:
    runner = client.beta.messages.tool_runner(
        model="scripted",
        max_tokens=TASK.max_tokens,
        system=TASK.system,
        messages=[{"role": "user", "content": TASK.user}],
        tools=[_BareTool()],
        thread=False,
    )
    assert (await runner.until_done()).stop_reason == "end_turn"


async def median_of(rounds: int, *works: Callable[[], Awaitable[None]]) -> list[float]:
    """The median of many short turns of each, one after the other, in µs of this process's CPU for one of its rounds.

    On a shared machine the same work costs a third more or less from one second to the next, for both sides alike.
    """
    taken: list[list[float]] = [[] for _ in works]
    gc.collect()
    for turn in range(TURNS + 1):
        for work, seconds in zip(works, taken, strict=True):
            started = time.process_time()
            for _ in range(RUNS):
                await work()
            if turn:  # the first one is for the caches
                seconds.append(time.process_time() - started)
    return [median(seconds) / RUNS / rounds * 1e6 for seconds in taken]


@asynccontextmanager
async def model_process(script: str) -> AsyncIterator[str]:
    """The address of a scripted model that answers at once, as a process of its own.

    It LOOKS once and is done, ANSWERS at once with a verdict that needs no probe, or INVESTIGATES by three tool calls.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.bench.rounds", script),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.stdin.close()
        await process.wait()


def _looks(request: Request) -> Message:
    return calls(use("call-1", place="x")) if len(request.body["messages"]) == 1 else text("done")


def _answers(_: Request) -> Message:
    return text(
        json.dumps({"classification": "UNCLEAR", "scope": "PROJECT", "humanNote": "Nothing is known."})
    )


def _investigates(request: Request) -> Message:
    number = len(request.body["messages"]) // 2 + 1
    if number > len(_LOOKUPS):
        return text(json.dumps(_DRAFT))
    seen = {"tool_call_id": f"call-{number - 1}", "evaluation": "GAINED"}
    envelope = {"input": _LOOKUPS[number - 1], **({"previous_observation": seen} if number > 1 else {})}
    return calls(use(f"call-{number}", "lookup_knowledge", **envelope))


async def _serve(answer: Callable[[Request], Message]) -> None:
    async with ScriptedModel(answer) as server:
        print(server.url, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__" and len(sys.argv) > 1:
    scripts = {_LOOKS: _looks, ANSWERS: _answers, INVESTIGATES: _investigates}
    asyncio.run(_serve(scripts[sys.argv[1]]))

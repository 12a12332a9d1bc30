"""Runs of the harness against a scripted model, with bounds that a test changes one at a time."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from agrajag.harness import (
    Budgets,
    Model,
    ModelAccess,
    Outcome,
    Ready,
    RunContext,
    RunResult,
    Task,
    Tool,
    ToolCall,
    connect,
    run_agent,
)
from tests.harness.scripted_model import KEY, ScriptedModel

BUDGETS = Budgets(model_calls=6, tokens=100_000, tool_calls=4, text_bytes=50_000, observation_bytes=50_000)
TASK = Task(system="You look.", user="What is wrong?", final_text="Answer now.", max_tokens=1_000)
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"place": {"type": "string"}}}


@dataclass
class Recorded:
    """An audit in memory, and what the adapters saw of it."""

    lines: list[tuple[str, str]] = field(default_factory=list)

    async def started(self, call: ToolCall) -> None:
        self.lines.append(("started", call.call_id))

    async def ended(self, call: ToolCall, outcome: Outcome) -> None:
        self.lines.append(
            (outcome.status.lower() if isinstance(outcome, Ready) else outcome.code, call.call_id)
        )


@dataclass
class Looking:
    """A tool that notes its calls and finds what it was told to."""

    finds: Outcome = field(default_factory=lambda: Ready({"seen": "nothing unusual"}))
    calls: list[ToolCall] = field(default_factory=list)

    async def run(self, call: ToolCall) -> Outcome:
        self.calls.append(call)
        return self.finds

    @property
    def ids(self) -> list[str]:
        return [call.call_id for call in self.calls]

    def tool(self, **changes: Any) -> Tool:
        return replace(Tool("look", "Look at a place.", SCHEMA, self.run), **changes)


def access(url: str, **changes: Any) -> ModelAccess:
    """A model at this address."""
    return replace(ModelAccess("scripted", url, KEY, request_seconds=20.0), **changes)


@asynccontextmanager
async def connected(url: str, **changes: Any) -> AsyncIterator[Model]:
    """The model at this address."""
    model = connect(access(url, **changes))
    assert isinstance(model, Model)
    async with model:
        yield model


def context(seconds: float = 60.0, **budgets: int) -> RunContext:
    """A context whose deadline is so many seconds away."""
    deadline = asyncio.get_running_loop().time() + seconds
    return RunContext("run-1", "session-1", replace(BUDGETS, **budgets), deadline)


async def run(
    server: ScriptedModel,
    *tools: Tool,
    bounds: RunContext | None = None,
    audit: Any = None,
    task: Task = TASK,
    **changes: Any,
) -> RunResult:
    """One run against the server, with one tool `look` unless the test brings its own."""
    given: Sequence[Tool] = tools or (Looking().tool(),)
    async with connected(server.url, **changes) as model:
        return await run_agent(model, bounds or context(), task, given, audit or Recorded())

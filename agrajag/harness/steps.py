"""Tells a hook of the caller's what an agent does, step by step, as ids and closed words.

A step holds no text of the model: of a tool that does not exist not even the name. A hook that fails or takes too long
is counted, and the run goes on as if there were none.
"""

import asyncio
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import structlog

from agrajag.harness.calls import EvidenceStatus
from agrajag.harness.stops import StopReason
from agrajag.harness.usage import Usage
from agrajag.metrics import MODEL_HOOK_FAILURES

log = structlog.get_logger(__name__)

HOOK_SECONDS = 1.0
"""How long a hook may take over one step."""


class AskedTool(NamedTuple):
    """A tool call that a reply asks for; `tool_name` is None where there is no such tool."""

    call_id: str
    tool_name: str | None


@dataclass(frozen=True, slots=True)
class ModelStep:
    """The model has replied in round `number`, counted from 1. `final`: why the round was made the final one."""

    session_id: str
    run_id: str
    number: int
    final: StopReason | None
    asked: tuple[AskedTool, ...]
    usage: Usage


@dataclass(frozen=True, slots=True)
class ToolStep:
    """The model is told `status` about a call, whether or not the tool was run for it."""

    session_id: str
    run_id: str
    call_id: str
    tool_name: str
    status: EvidenceStatus


AgentStep = ModelStep | ToolStep


class StepHook(Protocol):
    """Sees every step of a run, in order, before the next one begins."""

    async def step(self, step: AgentStep) -> None:
        """One step. What it raises changes nothing."""


async def tell(hook: StepHook | None, step: AgentStep) -> None:
    """Tell the hook, if there is one."""
    if hook is None:
        return
    try:
        async with asyncio.timeout(HOOK_SECONDS):
            await hook.step(step)
    except Exception as error:  # whatever the hook does with a step: the run does not depend on it
        MODEL_HOOK_FAILURES.inc()
        log.error(
            "agent_step_not_seen",
            error=type(error).__name__,
            step=type(step).__name__,
            run_id=step.run_id,
            session_id=step.session_id,
        )

"""Decides, for each tool call of the model, whether the tool runs, and what the model is told.

In this order: which call is it exactly, and did its id come before? Is anything left of the budgets? Was a stop
required? Does the tool's own rule admit it? Can it be written down? Only then does the adapter run, once. What it
raises never reaches the model, nor does anything of how this order went: a status, the call's id, a closed code.
"""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import orjson
import structlog

from agrajag.harness.audit import AUDIT_SECONDS, Audit
from agrajag.harness.calls import (
    EvidenceStatus,
    Failed,
    NotAdmitted,
    Outcome,
    Tool,
    ToolCall,
    ToolCode,
)
from agrajag.harness.run_context import RunContext
from agrajag.harness.steps import AskedTool, StepHook, ToolStep, tell
from agrajag.metrics import MODEL_AUDIT_FAILURES, MODEL_TOOL_CALLS, ToolCallEnd

log = structlog.get_logger(__name__)


class AskedCall(NamedTuple):
    """A tool call of a reply: its arguments as they came, and the very object that the SDK hands to the tool."""

    call_id: str
    tool_name: str
    arguments: object
    handed: object


class HarnessBug(BaseException):
    """What went wrong is ours, or that of a rule of admission; it must not become a text for the model."""


class ToolBoundary:
    """The tool calls of one run."""

    def __init__(
        self, context: RunContext, tool_names: Sequence[str], audit: Audit, hook: StepHook | None
    ) -> None:
        self._context = context
        self._tool_names = frozenset(tool_names)
        self._audit = audit
        self._hook = hook
        self._asked: list[AskedCall] = []

    def expect(self, asked: Sequence[AskedCall]) -> tuple[AskedTool, ...]:
        """The calls of the latest reply; they come one after the other, in their order. Gives them as a step has them.

        A call of a tool that does not exist never comes: the framework answers it, and it is counted here.
        """
        known = self._tool_names
        self._asked = [call for call in asked if call.tool_name in known]
        if len(self._asked) < len(asked):
            MODEL_TOOL_CALLS.labels(ToolCallEnd.UNKNOWN).inc(len(asked) - len(self._asked))
        return tuple(
            AskedTool(call.call_id, call.tool_name if call.tool_name in known else None) for call in asked
        )

    async def called(self, tool: Tool, handed: object) -> str:
        """The observation for the model, as JSON. Raises Stopped where the run ends here."""
        asked = self._identified(tool.name, handed)
        try:
            status, content, end = await self._answered(tool, asked)
        except Exception as error:
            raise HarnessBug(f"call {asked.call_id} of {tool.name}") from error
        MODEL_TOOL_CALLS.labels(end).inc()
        context = self._context
        await tell(self._hook, ToolStep(context.session_id, context.run_id, asked.call_id, tool.name, status))
        return _rendered(status, asked.call_id, content)

    def _identified(self, name: str, handed: object) -> AskedCall:
        # The SDK gives a tool its input without the id. Two calls may be equal, but never the same object.
        for asked in self._asked:
            if asked.tool_name == name and asked.handed is handed:
                self._asked.remove(asked)
                return asked
        raise HarnessBug(f"no call of the latest reply is this one of {name}")

    async def _answered(self, tool: Tool, asked: AskedCall) -> tuple[EvidenceStatus, Any, ToolCallEnd]:
        context = self._context
        if not context.claim(asked.call_id):
            return EvidenceStatus.ERROR, {"code": ToolCode.DUPLICATE_CALL_ID}, ToolCallEnd.DUPLICATE
        if not context.before_tool():
            return EvidenceStatus.STOP_REQUIRED, {}, ToolCallEnd.STOP_REQUIRED
        call = ToolCall(context.session_id, context.run_id, *asked[:3])
        admission = await tool.admit(call)
        if isinstance(admission, NotAdmitted):
            return admission.status, admission.content, ToolCallEnd.NOT_ADMITTED
        outcome = await self._run(tool, replace(call, arguments=admission.arguments))
        if isinstance(outcome, Failed):
            return EvidenceStatus.ERROR, {"code": outcome.code}, ToolCallEnd.FAILED
        return outcome.status, outcome.content, ToolCallEnd.READY

    async def _run(self, tool: Tool, call: ToolCall) -> Outcome:
        self._context.count_tool_call()
        try:
            if not await self._recorded(self._audit.started(call), call):
                return Failed(ToolCode.AUDIT_UNAVAILABLE)
            outcome = self._bounded(await _outcome(tool, call))
            if not await self._recorded(self._audit.ended(call, outcome), call):
                return Failed(ToolCode.AUDIT_UNAVAILABLE)
        except asyncio.CancelledError:  # of a write as well, of which nobody knows whether it was made
            await self._recorded(self._audit.ended(call, Failed(ToolCode.TOOL_CUT)), call)
            raise
        return outcome

    def _bounded(self, outcome: Outcome) -> Outcome:
        if isinstance(outcome, Failed):
            return outcome
        try:
            size_bytes = len(orjson.dumps(outcome.content))
        except TypeError:  # no JSON, or text that is no Unicode
            return Failed(ToolCode.TOOL_FAILED)
        return (
            outcome if self._context.count_observation(size_bytes) else Failed(ToolCode.OBSERVATION_TOO_LARGE)
        )

    async def _recorded(self, writing: Awaitable[None], call: ToolCall) -> bool:
        try:
            async with asyncio.timeout(AUDIT_SECONDS):
                await writing
        except Exception as error:  # whatever the store of the audit raises: nothing is on record
            MODEL_AUDIT_FAILURES.inc()
            log.error("tool_call_not_recorded", error=type(error).__name__, **_ids(call))
            return False
        return True


async def _outcome(tool: Tool, call: ToolCall) -> Outcome:
    """Run the adapter once. Its exceptions are told by their type alone: their texts may hold anything."""
    try:
        async with asyncio.timeout(tool.seconds):
            return await tool.run(call)
    except TimeoutError:
        return Failed(ToolCode.TOOL_TIMEOUT)
    except asyncio.CancelledError:
        if _being_cancelled():
            raise
        error = "CancelledError"  # of something that the adapter waited for
    except Exception as raised:  # an adapter's fault is an observation, never the end of the run
        error = type(raised).__name__
    log.warning("tool_failed", error=error, **_ids(call))
    return Failed(ToolCode.TOOL_FAILED)


def _being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _ids(call: ToolCall) -> dict[str, str]:
    return {"run_id": call.run_id, "call_id": call.call_id, "tool_name": call.tool_name}


def _rendered(status: EvidenceStatus, call_id: str, content: Mapping[str, Any]) -> str:
    ours = {"evidence_status": status, "tool_call_id": call_id}
    return orjson.dumps({**ours, **content, **ours}).decode()  # ours first, and not to be replaced

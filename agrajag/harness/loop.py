"""Carries out a run on the SDK's own loop: the only place that starts it."""

from collections.abc import Sequence
from typing import cast

import structlog
from anthropic import AnthropicError, Omit, omit
from anthropic.lib.tools import BetaAsyncBuiltinFunctionTool
from anthropic.types.beta import BetaMessage, BetaOutputConfigParam, BetaToolChoiceAutoParam, BetaToolParam

from agrajag.errors import ConfigError, InputError
from agrajag.harness.audit import Audit
from agrajag.harness.boundary import HarnessBug, ToolBoundary
from agrajag.harness.calls import Tool
from agrajag.harness.failures import Failure, failure_of
from agrajag.harness.interceptor import ModelInterceptor
from agrajag.harness.model import Model
from agrajag.harness.replies import Answer, answer_of
from agrajag.harness.run import RunResult, Task
from agrajag.harness.run_context import RunContext
from agrajag.harness.steps import StepHook
from agrajag.harness.stops import Stopped, StopReason
from agrajag.metrics import MODEL_RUNS

log = structlog.get_logger(__name__)


async def run_on_the_sdk(
    model: Model,
    context: RunContext,
    task: Task,
    tools: Sequence[Tool],
    audit: Audit,
    hook: StepHook | None = None,
) -> RunResult:
    """As `run.run_agent`."""
    names = [tool.name for tool in tools]
    if len(set(names)) < len(names):
        raise ConfigError(f"tools: two of one name in {', '.join(names)}")
    size_bytes = _input_bytes(task)
    failure: Failure | None = None
    try:
        async with context.running():
            context.count_text(size_bytes)
            answer = _accepted(
                context, answer_of(await _last_reply(model, context, task, tools, audit, hook))
            )
    except Stopped as stopped:
        answer = Answer(stopped.reason)
    except AnthropicError as error:
        failure = failure_of(error)
        answer = Answer(failure.stop)
    except HarnessBug as bug:
        raise RuntimeError(f"run {context.run_id}: {bug}") from bug
    return _ended(context, answer, failure)


async def _last_reply(
    model: Model,
    context: RunContext,
    task: Task,
    tools: Sequence[Tool],
    audit: Audit,
    hook: StepHook | None,
) -> BetaMessage:
    """Start the loop and wait for its end."""
    boundary = ToolBoundary(context, [tool.name for tool in tools], audit, hook)
    interceptor = ModelInterceptor(context, boundary, model.access, task.final_text, hook)
    choice: BetaToolChoiceAutoParam | Omit = omit
    if tools:
        choice = {"type": "auto", "disable_parallel_tool_use": task.one_tool_at_a_time}
    config = omit if task.output_config is None else cast(BetaOutputConfigParam, task.output_config)
    runner = model.sdk.with_middleware(interceptor).beta.messages.tool_runner(
        model=model.access.name,
        max_tokens=task.max_tokens,
        system=task.system,
        messages=[{"role": "user", "content": task.user}],
        tools=[_SdkTool(tool, boundary) for tool in tools],
        tool_choice=choice,
        output_config=config,
        thread=False,
        max_iterations=context.budgets.model_calls
        + 1,  # one more than the interceptor allows: it is what stops
    )
    try:
        return await runner.until_done()
    finally:
        await runner.close()


class _SdkTool(BetaAsyncBuiltinFunctionTool):
    """A tool as the SDK's loop wants it: its definition, always the same, and the way to the boundary."""

    def __init__(self, tool: Tool, boundary: ToolBoundary) -> None:
        self._tool = tool
        self._boundary = boundary
        self._definition: BetaToolParam = {
            "type": "custom",
            "name": tool.name,
            "description": tool.description,
            "input_schema": dict(tool.input_schema),
        }

    def to_dict(self) -> BetaToolParam:
        return self._definition

    async def call(self, input: object) -> str:  # noqa: A002 - the SDK's name
        return await self._boundary.called(self._tool, input)


def _accepted(context: RunContext, answer: Answer) -> Answer:
    if answer.stop is StopReason.TRUNCATED and context.answer_clamped:
        return Answer(StopReason.TOKENS_EXHAUSTED)  # it was cut for want of tokens, not by its own length
    context.count_text(sum(len(text.encode()) for text in answer.texts))
    return answer


def _input_bytes(task: Task) -> int:
    try:
        return len(task.user.encode())
    except UnicodeEncodeError:
        raise InputError("invalid_field", "the text for the model: holds half a surrogate pair") from None


def _ended(context: RunContext, answer: Answer, failure: Failure | None) -> RunResult:
    MODEL_RUNS.labels(answer.stop).inc()
    spent = context.spent
    log.info(
        "model_run_ended",
        run_id=context.run_id,
        session_id=context.session_id,
        stop=answer.stop.value,
        model_calls=spent.model_calls,
        tool_calls=spent.tool_calls,
        tokens_used=spent.tokens,
    )
    return RunResult(
        stop=answer.stop,
        texts=answer.texts,
        final=spent.final,
        model_calls=spent.model_calls,
        tool_calls=spent.tool_calls,
        usage=context.usage,
        cost_usd=context.cost_usd,
        http_status=failure.http_status if failure else None,
        request_id=failure.request_id if failure else None,
        retry_after_seconds=failure.retry_after_seconds if failure else None,
    )

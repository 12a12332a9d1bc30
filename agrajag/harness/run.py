"""Runs a model with tools once, on the SDK's own loop, and says how that ended.

This is the only place that starts the loop. One call is one run: no second try, no second agent, and every end that
is not a bug is a value. The bounds are the context's, the tools and the audit the caller's; nothing is kept
afterwards.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

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
from agrajag.harness.run_context import RunContext
from agrajag.harness.stops import Stopped, StopReason
from agrajag.harness.usage import Usage
from agrajag.metrics import MODEL_RUNS

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Task:
    """What the model is asked. `final_text` is added in the final round; it holds no counts and no limits."""

    system: str
    user: str
    final_text: str
    max_tokens: int
    output_config: Mapping[str, Any] | None = None
    one_tool_at_a_time: bool = False

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise ConfigError(f"max_tokens of a reply: {self.max_tokens} is less than 1")


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended, with exactly one reason. `texts`: the answer's text blocks, empty unless COMPLETED.

    `final`: why the last round was made the final one, also where the model then answered. `cost_usd`: None without
    prices or without a reply.
    """

    stop: StopReason
    texts: tuple[str, ...]
    final: StopReason | None
    model_calls: int
    tool_calls: int
    usage: Usage
    cost_usd: Decimal | None
    http_status: int | None = None
    request_id: str | None = None
    retry_after_seconds: float | None = None

    @property
    def usage_complete(self) -> bool:
        """Whether every reply said what it used."""
        return self.usage.complete


async def run_agent(
    model: Model, context: RunContext, task: Task, tools: Sequence[Tool], audit: Audit
) -> RunResult:
    """One bounded run. Raises InputError for text that is no Unicode, RuntimeError for a used context or a bug."""
    names = [tool.name for tool in tools]
    if len(set(names)) < len(names):
        raise ConfigError(f"tools: two of one name in {', '.join(names)}")
    size_bytes = _input_bytes(task)
    failure: Failure | None = None
    try:
        async with context.running():
            context.count_text(size_bytes)
            answer = _accepted(context, answer_of(await _last_reply(model, context, task, tools, audit)))
    except Stopped as stopped:
        answer = Answer(stopped.reason)
    except AnthropicError as error:
        failure = failure_of(error)
        answer = Answer(failure.stop)
    except HarnessBug as bug:
        raise RuntimeError(f"run {context.run_id}: {bug}") from bug
    return _ended(context, answer, failure)


async def _last_reply(
    model: Model, context: RunContext, task: Task, tools: Sequence[Tool], audit: Audit
) -> BetaMessage:
    """Start the loop and wait for its end."""
    boundary = ToolBoundary(context, audit)
    interceptor = ModelInterceptor(context, boundary, model.access, task.final_text)
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

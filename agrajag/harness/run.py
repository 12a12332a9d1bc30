"""Runs a model with tools once, and says how that ended.

One call is one run: no second try, no second agent, and every end that is not a bug is a value. The bounds are the
context's, the tools and the audit the caller's; nothing is kept afterwards.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from agrajag.errors import ConfigError
from agrajag.harness.audit import Audit
from agrajag.harness.calls import Tool
from agrajag.harness.model import Model
from agrajag.harness.run_context import RunContext
from agrajag.harness.steps import StepHook
from agrajag.harness.stops import StopReason
from agrajag.harness.usage import Usage


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
    model: Model,
    context: RunContext,
    task: Task,
    tools: Sequence[Tool],
    audit: Audit,
    hook: StepHook | None = None,
) -> RunResult:
    """One bounded run, each step of it told to `hook`.

    Raises InputError for text that is no Unicode, RuntimeError for a used context or a bug.
    """
    from agrajag.harness.loop import run_on_the_sdk  # `model` has imported the SDK, which takes seconds

    return await run_on_the_sdk(model, context, task, tools, audit, hook)

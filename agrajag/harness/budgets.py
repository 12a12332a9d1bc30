"""Decides whether a run may go on: the next round of the model, the next call of a tool, the next text.

Pure functions over what a run was given and what it has used; RunContext holds the two. A bound on rounds, tool calls
or observations does not end a run by itself: it makes the next round the final one, in which the model may only
answer. A model that uses a final round for anything else is stopped with the reason that made the round final. Tokens
are known only after a round, so at most one round goes beyond them.
"""

from dataclasses import dataclass, fields
from typing import NamedTuple

from agrajag.errors import ConfigError
from agrajag.harness.stops import StopReason


@dataclass(frozen=True, slots=True)
class Budgets:
    """What one run may use. `text_bytes`: the input and the answer; `observation_bytes`: what tools give back."""

    model_calls: int
    tokens: int
    tool_calls: int
    text_bytes: int
    observation_bytes: int

    def __post_init__(self) -> None:
        smallest = {"tool_calls": 0}
        problems = [
            f"budget {field.name}: {getattr(self, field.name)} is less than {smallest.get(field.name, 1)}"
            for field in fields(self)
            if getattr(self, field.name) < smallest.get(field.name, 1)
        ]
        if problems:
            raise ConfigError(*problems)


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run has used. `stop_required`: somebody has seen enough; `final`: why the latest round was the last."""

    model_calls: int = 0
    tokens: int = 0
    tool_calls: int = 0
    text_bytes: int = 0
    observation_bytes: int = 0
    stop_required: StopReason | None = None
    final: StopReason | None = None


class Round(NamedTuple):
    """A round that may be asked for. `clamped`: its answer has less room than wished, for want of tokens."""

    final: StopReason | None
    max_tokens: int
    clamped: bool


def interruption(cancelled: bool, now: float, deadline: float) -> StopReason | None:
    """Why nothing more may begin at all."""
    if cancelled:
        return StopReason.CANCELLED
    return StopReason.DEADLINE_EXCEEDED if now >= deadline else None


def enough(budgets: Budgets, spent: Spent) -> StopReason | None:
    """Why no tool may be called any more, and the model has to answer with what it knows."""
    if spent.stop_required is not None:
        return spent.stop_required
    if spent.tool_calls >= budgets.tool_calls:
        return StopReason.TOOL_CALLS_EXHAUSTED
    if spent.observation_bytes >= budgets.observation_bytes:
        return StopReason.BYTES_EXHAUSTED
    return None


def next_round(budgets: Budgets, spent: Spent, max_tokens: int) -> Round | StopReason:
    """The next round of the model, or why there is none."""
    if spent.final is not None:
        return spent.final
    left = budgets.tokens - spent.tokens
    if left <= 0:
        return StopReason.TOKENS_EXHAUSTED
    final = enough(budgets, spent)
    if final is None and spent.model_calls + 1 >= budgets.model_calls:
        final = StopReason.MODEL_CALLS_EXHAUSTED
    return Round(final, min(max_tokens, left), clamped=left < max_tokens)


def before_tool(budgets: Budgets, spent: Spent) -> StopReason | None:
    """Why a tool call ends the run: no further round could read what the tool says."""
    if spent.final is not None:
        return spent.final
    return StopReason.TOKENS_EXHAUSTED if spent.tokens >= budgets.tokens else None

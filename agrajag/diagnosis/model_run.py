"""Asks a model about one job, and says what came of it: a diagnosis, or why there is none (spec agrajag §5.2).

What a model leaves unanswered, because it refuses, is away or used up its bounds, is for others to answer. What it
answers unusably is answered: with the fallback. Nothing is asked twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agrajag.diagnosis.answer import diagnosis_in, fallback
from agrajag.diagnosis.prompt import FINAL_TEXT, MAX_USER_BYTES, SYSTEM_PROMPT, user_message
from agrajag.diagnosis.snapshot import Snapshot
from agrajag.harness import (
    Budgets,
    Model,
    RunContext,
    StopReason,
    Task,
    Tool,
    run_agent,
)
from agrajag.model.jobs import Diagnosis
from agrajag.service.engine import ServiceRun

_MAX_ANSWER_BYTES = 64 * 1024
_WITHOUT_OBJECT = "the model's answer holds no object"
_TOO_LONG = "the model's answer is too long"
_UNUSABLE = {StopReason.TRUNCATED: _TOO_LONG, StopReason.BYTES_EXHAUSTED: _TOO_LONG}


@dataclass(frozen=True, slots=True)
class ModelBounds:
    """What one run of a model may use, beside the rounds and probes that its recipe allows.

    `reply_tokens` bounds one reply, with what the model thinks; `tokens` the whole run. `health_reads` are tool calls
    that are no probes.
    """

    tokens: int = 60_000
    reply_tokens: int = 4_000
    observation_bytes: int = 64 * 1024
    health_reads: int = 4


class Said(NamedTuple):
    """What came of asking. Without a diagnosis `stop` is the reason why the model has not answered."""

    diagnosis: Diagnosis | None
    is_fallback: bool
    stop: StopReason


def model_budgets(bounds: ModelBounds, iterations: int, probes: int) -> Budgets:
    """The budgets of a run: so many rounds that may call tools, and one more to answer; probes are counted apart."""
    return Budgets(
        model_calls=iterations + 1,
        tokens=bounds.tokens,
        tool_calls=2 * probes + bounds.health_reads,  # a refused probe is a call, too
        text_bytes=MAX_USER_BYTES + _MAX_ANSWER_BYTES,
        observation_bytes=bounds.observation_bytes,
    )


async def ask(
    model: Model,
    context: RunContext,
    snapshot: Snapshot,
    tools: Sequence[Tool],
    run: ServiceRun,
    reply_tokens: int,
) -> Said:
    """Ask once. Raises nothing for what a model does."""
    task = Task(SYSTEM_PROMPT, user_message(snapshot), FINAL_TEXT, reply_tokens)
    result = await run_agent(model, context, task, tools, run.audit)
    now = run.clock()
    if result.stop is StopReason.COMPLETED:
        found = diagnosis_in(result.texts, snapshot.job, now)
        if found is not None:
            return Said(found, False, result.stop)
        return Said(fallback(snapshot.job, now, _WITHOUT_OBJECT), True, result.stop)
    why = _UNUSABLE.get(result.stop)
    return Said(None if why is None else fallback(snapshot.job, now, why), why is not None, result.stop)

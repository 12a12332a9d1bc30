"""Budgets as pure decisions: whatever a model does, no bound is passed by more than one round."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.errors import ConfigError
from agrajag.harness.budgets import Budgets, Round, Spent, before_tool, enough, interruption, next_round
from agrajag.harness.stops import StopKind, StopReason
from agrajag.harness.usage import Usage, usage_of

AMPLE = Budgets(model_calls=5, tokens=1_000, tool_calls=3, text_bytes=100, observation_bytes=100)

budgets = st.builds(
    Budgets,
    model_calls=st.integers(1, 6),
    tokens=st.integers(1, 1_000),
    tool_calls=st.integers(0, 5),
    text_bytes=st.just(1),
    observation_bytes=st.integers(1, 100),
)
rounds = st.lists(st.tuples(st.integers(0, 600), st.lists(st.integers(0, 60), max_size=6)), max_size=12)


@given(budgets, rounds)
def test_a_budget_is_never_exceeded_by_more_than_one_round(
    allowed: Budgets, asked: list[tuple[int, list[int]]]
) -> None:
    spent, tokens_before = Spent(), 0
    for tokens, observations in asked:
        decision = next_round(allowed, spent, 500)
        if isinstance(decision, StopReason):
            assert decision.kind is StopKind.LIMITED
            break
        assert 1 <= decision.max_tokens <= min(500, allowed.tokens - spent.tokens)
        tokens_before = spent.tokens
        spent = replace(
            spent, model_calls=spent.model_calls + 1, tokens=spent.tokens + tokens, final=decision.final
        )
        for size in observations:
            if before_tool(allowed, spent) is None and enough(allowed, spent) is None:
                seen = spent.observation_bytes + size
                spent = replace(
                    spent,
                    tool_calls=spent.tool_calls + 1,
                    observation_bytes=min(seen, allowed.observation_bytes),
                )
    assert spent.model_calls <= allowed.model_calls
    assert spent.tool_calls <= allowed.tool_calls
    assert spent.observation_bytes <= allowed.observation_bytes
    assert tokens_before < allowed.tokens or spent.model_calls == 0


@given(budgets, st.integers(0, 600))
def test_there_is_a_final_round_after_which_there_is_none(allowed: Budgets, tokens: int) -> None:
    spent = Spent()
    for _ in range(allowed.model_calls):
        decision = next_round(allowed, spent, 500)
        if isinstance(decision, StopReason):
            assert decision is StopReason.TOKENS_EXHAUSTED
            return
        spent = replace(
            spent, model_calls=spent.model_calls + 1, tokens=spent.tokens + tokens, final=decision.final
        )
        if decision.final is not None:
            break
    assert spent.final is not None
    assert next_round(allowed, spent, 500) is spent.final
    assert before_tool(allowed, spent) is spent.final


def test_what_was_required_first_makes_the_round_final() -> None:
    spent = Spent(tool_calls=3, model_calls=4, stop_required=StopReason.INFORMATION_SATURATION)
    assert next_round(AMPLE, spent, 10) == Round(StopReason.INFORMATION_SATURATION, 10, clamped=False)
    assert next_round(AMPLE, replace(spent, stop_required=None), 10) == Round(
        StopReason.TOOL_CALLS_EXHAUSTED, 10, clamped=False
    )
    assert next_round(AMPLE, Spent(model_calls=4), 10) == Round(
        StopReason.MODEL_CALLS_EXHAUSTED, 10, clamped=False
    )
    assert next_round(AMPLE, Spent(observation_bytes=100), 10) == Round(
        StopReason.BYTES_EXHAUSTED, 10, clamped=False
    )


def test_a_cancel_goes_before_the_deadline() -> None:
    assert interruption(True, 5.0, 1.0) is StopReason.CANCELLED
    assert interruption(False, 5.0, 5.0) is StopReason.DEADLINE_EXCEEDED
    assert interruption(False, 4.9, 5.0) is None


@pytest.mark.parametrize("name", ["model_calls", "tokens", "text_bytes", "observation_bytes"])
def test_a_budget_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"budget {name}: 0 is less than 1"):
        replace(AMPLE, **{name: 0})
    with pytest.raises(ConfigError, match="budget tool_calls: -1 is less than 0"):
        replace(AMPLE, tool_calls=-1)


class Reported:
    """A usage as the SDK may have built it."""

    def __init__(self, **counts: object) -> None:
        self.__dict__.update(counts)


anything = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3))


@given(anything, anything, anything, anything)
def test_a_usage_is_counted_or_said_to_be_incomplete_and_never_negative(
    given_input: object, output: object, written: object, read: object
) -> None:
    usage = usage_of(
        Reported(
            input_tokens=given_input,
            output_tokens=output,
            cache_creation_input_tokens=written,
            cache_read_input_tokens=read,
        )
    )
    assert all(0 <= count <= 2**53 for count in usage[:4])
    counts = [type(value) is int and value >= 0 for value in (given_input, output)]
    cached = [value is None or (type(value) is int and value >= 0) for value in (written, read)]
    assert usage.complete == all(counts + cached)


def test_a_usage_of_none_is_incomplete() -> None:
    assert usage_of(None) == Usage(complete=False)

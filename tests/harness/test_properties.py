"""Whatever a model does, a run ends with one stop reason, calls each id once at most, and keeps its bounds."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrajag.harness import Model, StopKind, StopReason, connect, run_agent
from agrajag.metrics import MODEL_RUNS
from tests.harness.replies import Body, Cut, Message, Reply, Status, use
from tests.harness.runs import BUDGETS, TASK, Looking, Recorded, access, context
from tests.harness.scripted_model import Request, ScriptedModel

BOUNDS = replace(BUDGETS, model_calls=4, tokens=1_000, tool_calls=3)
usages = st.one_of(
    st.none(), st.integers(0, 900).map(lambda tokens: {"input_tokens": tokens, "output_tokens": 1})
)
blocks = st.one_of(
    st.sampled_from([{"type": "text", "text": "hm"}, {"type": "text", "text": ""}]),
    st.builds(use, st.sampled_from("abcd"), st.sampled_from(["look", "listen"])),
)
replies: st.SearchStrategy[Reply] = st.one_of(
    st.builds(
        Message,
        st.lists(blocks, max_size=5),
        st.sampled_from(
            ["tool_use", "tool_use", "tool_use", "end_turn", "pause_turn", "refusal", "max_tokens", None]
        ),
        usages,
    ),
    st.sampled_from([Status(529), Status(401), Cut(0), Cut(200), Body(b"{}"), Body(b"<html>")]),
)


@dataclass
class Setting:
    """One event loop, server and client for all examples: a client takes longer to make than a run takes."""

    runner: asyncio.Runner
    server: ScriptedModel
    model: Model


@pytest.fixture(scope="module")
def setting() -> Iterator[Setting]:
    with asyncio.Runner() as runner:
        server = ScriptedModel([], checks=False)
        runner.run(server.__aenter__())
        model = connect(access(server.url))
        assert isinstance(model, Model)
        try:
            yield Setting(runner, server, model)
        finally:
            runner.run(model.sdk.close())
            runner.run(server.__aexit__(None, None, None))


def ends() -> Counter[str]:
    """How many runs have ended with which reason, as counted."""
    return Counter(
        {
            sample.labels["reason"]: int(sample.value)
            for family in MODEL_RUNS.collect()
            for sample in family.samples
            if sample.name.endswith("_total")
        }
    )


@settings(max_examples=60)
@given(script=st.lists(replies, min_size=1, max_size=6), checks=st.booleans())
def test_a_run_always_ends_with_one_reason_within_its_bounds(
    setting: Setting, script: list[Reply], checks: bool
) -> None:
    server, looking, audit = setting.server, Looking(), Recorded()
    server.script, server.checks = script, checks
    server.requests.clear()

    async def once() -> None:
        before = ends()
        bounds = context()
        bounds.budgets = BOUNDS
        result = await run_agent(setting.model, bounds, TASK, [looking.tool()], audit)
        assert ends() - before == Counter({result.stop.value: 1})
        assert result.stop is not StopReason.CANCELLED
        assert bool(result.texts) <= (result.stop.kind is StopKind.ANSWERED)
        assert len(server.requests) == result.model_calls <= BOUNDS.model_calls
        assert len(looking.calls) == result.tool_calls <= BOUNDS.tool_calls
        assert len(set(looking.ids)) == len(looking.ids)
        assert audit.lines == [(line, call_id) for call_id in looking.ids for line in ("started", "evidence")]
        assert len({request.tools for request in server.requests}) == 1
        assert _tokens_before_the_last(server.requests, script) < BOUNDS.tokens

    setting.runner.run(once())


def _tokens_before_the_last(requests: list[Request], script: list[Reply]) -> int:
    """What the replies before the last one are known to have used."""
    return sum(
        sum(reply.usage.values())
        for reply in script[: len(requests) - 1]
        if isinstance(reply, Message) and reply.usage is not None
    )

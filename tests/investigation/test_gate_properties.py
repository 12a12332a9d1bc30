"""Whatever a model asks of the gate and whatever its sources do, the record is true, and the collecting ends."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrajag.harness import Failed, Model, RunContext, StopReason, connect, run_agent
from agrajag.investigation.evidence import Found
from agrajag.investigation.gate import InvestigationGate, Sources
from agrajag.investigation.limits import Limits
from agrajag.investigation.records import InvocationState
from tests.harness.replies import Block, Reply, calls, use
from tests.harness.runs import TASK, access
from tests.harness.scripted_model import ScriptedModel
from tests.investigation.gate_runs import (
    DESCRIPTIONS,
    DONE,
    NOTHING,
    SOMETHING,
    Answer,
    FailingLedger,
    Source,
    look,
)
from tests.investigation.records import NOW

LIMITS = Limits(tool_attempts=4, no_gains=2, model_calls=8)
IDS = "abcdefgh"
LOOKED = ("EVIDENCE", "NO_EVIDENCE")
ENDS = {StopReason.COMPLETED, StopReason.INFORMATION_SATURATION, StopReason.TOOL_CALLS_EXHAUSTED}

ids = st.sampled_from(IDS)
previous = st.one_of(
    st.none(),
    st.tuples(ids, st.sampled_from(["GAINED", "NO_GAIN"])),
    st.sampled_from([7, {}, {"tool_call_id": "a"}, {"tool_call_id": "a", "evaluation": "MAYBE"}]),
)
queries: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.sampled_from(["x", "y"]), st.sampled_from([7, "", "x" * 201, None, {"query": "x"}])
)
blocks: st.SearchStrategy[Block] = st.one_of(
    st.builds(look, ids, queries, previous),
    st.builds(use, ids, st.sampled_from(["lookup_knowledge", "query_mysql"])),
)
replies: st.SearchStrategy[Reply] = st.lists(blocks, min_size=1, max_size=4).map(lambda some: calls(*some))
answers: st.SearchStrategy[Answer] = st.sampled_from(
    [SOMETHING, SOMETHING, NOTHING, Failed("SOURCE_BUSY"), ValueError("SECRET"), Found([{}], SOMETHING.scope)]
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


@settings(max_examples=40)
@given(
    script=st.lists(replies, min_size=1, max_size=7),
    by_id=st.dictionaries(ids, answers, max_size=8),
    unwritten=st.sets(st.tuples(ids, st.sampled_from(InvocationState)), max_size=2),
)
def test_the_record_is_true_and_the_collecting_ends(
    setting: Setting,
    script: list[Reply],
    by_id: dict[str, Answer],
    unwritten: set[tuple[str, InvocationState]],
) -> None:
    source = Source(by_id=by_id)
    ledger = FailingLedger(lambda record: (record.tool_call_id, record.state) in unwritten)
    setting.server.script = [*script, DONE]
    setting.server.requests.clear()

    async def once() -> None:
        deadline = asyncio.get_running_loop().time() + 60
        context = RunContext("run-1", "session-1", LIMITS.budgets, deadline)
        sources = Sources(source, source, source)
        gate = InvestigationGate(context, LIMITS, ledger, sources, lambda: NOW, DESCRIPTIONS)
        result = await run_agent(setting.model, context, TASK, gate.tools, gate)
        assert result.stop in ENDS
        _holds(gate, setting.server, source, answered=result.stop is StopReason.COMPLETED)
        kept = await ledger.of_run("run-1")
        assert [(each.tool_call_id, each.state) for each in kept] == [
            (each.tool_call_id, each.state) for each in gate.records
        ]

    setting.runner.run(once())


def _holds(gate: InvestigationGate, server: ScriptedModel, source: Source, *, answered: bool) -> None:
    told = [found for request in server.requests[1:] for found in request.results]
    statuses = [found["evidence_status"] for found in told]
    ready = [found["tool_call_id"] for found in told if found["evidence_status"] in LOOKED]
    checks = [check.tool_call_id for check in gate.snapshot.checks]
    assert len(server.requests) <= LIMITS.model_calls
    assert len({request.tools for request in server.requests}) == 1
    assert len(set(source.ids)) == len(source.ids) <= LIMITS.tool_attempts
    assert set(source.ids) <= {record.tool_call_id for record in gate.records}
    assert ready == checks[: len(ready)]
    assert len(ready) == len(checks) or not answered  # a run that is stopped tells nobody of its last calls
    if "STOP_REQUIRED" in statuses:
        assert not {*LOOKED, "REPAIR"} & set(statuses[statuses.index("STOP_REQUIRED") :])
    assert "SECRET" not in repr(told) + repr(gate.records)

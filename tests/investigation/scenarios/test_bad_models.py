"""Whatever a model answers: every run ends, nothing of the answer is raised or logged, and runs stay apart."""

import asyncio
import io
import json
import traceback
from contextlib import redirect_stdout
from typing import Any

import pytest
from structlog.testing import capture_logs

from agrajag.harness import Usage
from agrajag.investigation.failures import DiagnosisAgentError, DiagnosisAgentOutputError
from agrajag.investigation.limits import Limits
from agrajag.investigation.result import ExecutionStop
from tests.harness.replies import Message, Reply, Status, calls, text, use
from tests.harness.scripted_model import Request
from tests.investigation.scenarios.scene import (
    ENDED,
    Scene,
    Seen,
    answer,
    draft,
    lookup,
    observed,
    played,
)

MARKER = "qX7marker"


def right(number: int) -> Reply:
    return calls(
        lookup(f"call-{number}", f"b {number}", previous=f"call-{number - 2}" if number > 1 else None)
    )


def wrong(number: int) -> Reply:
    return calls(use(f"call-{number}", "lookup_knowledge", input="text"))


def unknown(number: int) -> Reply:
    return calls(use(f"call-{number}", "shell", command="id"))


def always_the_same(_number: int) -> Reply:
    return calls(lookup("call-1"))


def many_at_once(number: int) -> Reply:
    return calls(*[lookup(f"call-{number}-{each}", f"b {each}") for each in range(40)])


@pytest.mark.parametrize("reply", [right, wrong, unknown, always_the_same, many_at_once])
async def test_a_model_that_never_stops_is_stopped_within_its_rounds(reply: Any) -> None:
    def script(request: Request) -> Reply:
        answered: Reply = reply(len(request.body["messages"]))
        return answered

    limits = Limits(tool_attempts=4, model_calls=6)
    scene = Scene(script, limits, lenient=True)
    result = await played(scene)
    assert result.draft is None
    assert result.stop_reason in (
        ExecutionStop.TOOL_CALLS_EXHAUSTED,
        ExecutionStop.MODEL_CALLS_EXHAUSTED,
        ExecutionStop.INFORMATION_SATURATION,
    )
    assert len(scene.requests) <= limits.model_calls
    assert len(scene.adapters_asked) <= limits.tool_attempts
    assert len(set(scene.adapters_asked)) == len(scene.adapters_asked)
    assert [check.tool_call_id for check in result.snapshot.checks] == scene.adapters_asked


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": -1, "output_tokens": "many"}], ids=str)
async def test_usage_that_is_missing_counts_nothing_and_the_run_says_so(usage: Any) -> None:
    async with Scene([text(json.dumps(draft()), usage=usage)]) as scene:
        assert (await scene.ask()).stop_reason is ExecutionStop.COMPLETED
    assert scene.context.usage == Usage(complete=False)
    assert scene.context.spent.tokens == 0


LEAKING: dict[str, list[Reply]] = {
    "prose": [text(f"根因是 {MARKER}")],
    "no draft": [text(json.dumps(draft(conclusion={MARKER: 1})))],
    "deep": [text('{"' + MARKER + '":' + "[" * 7_000)],
    "invented id": [text(json.dumps(draft(observed(MARKER))))],
    "refusal": [text(MARKER, stop_reason="refusal")],
    "max_tokens": [text(MARKER, stop_reason="max_tokens")],
    "unknown tool": [calls(use(MARKER, MARKER, input={MARKER: MARKER})), text(MARKER)],
    "bad call": [calls(use("call-1", "lookup_knowledge", **{MARKER: MARKER})), Status(500, MARKER)],
    "no reply": [Message(MARKER)],
    "odd block": [Message([{"type": MARKER}])],
    "status": [Status(529, MARKER)],
}


@pytest.mark.parametrize("script", LEAKING.values(), ids=LEAKING)
async def test_what_is_raised_and_logged_holds_no_word_of_the_model_nor_does_anything_behind_it(
    script: list[Reply],
) -> None:
    scene = Scene([*script, ENDED])
    printed = io.StringIO()
    with (
        redirect_stdout(printed),
        capture_logs() as logged,
        pytest.raises((DiagnosisAgentError, DiagnosisAgentOutputError)) as raised,
    ):
        await played(scene)
    error = raised.value
    assert (error.__cause__, error.__context__) == (None, None)
    frames = traceback.TracebackException.from_exception(error, capture_locals=True).stack
    ours = [f"{frame.line} {frame.locals}" for frame in frames if "/tests/" not in frame.filename]
    assert "investigator.py" in frames[-1].filename
    for place in (repr(error), str(error), repr(vars(error)), *ours, repr(logged), printed.getvalue()):
        assert MARKER not in place
    assert len(scene.requests) == len(script)


async def test_a_bug_of_ours_is_told_by_its_code_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_judged: object) -> None:
        raise KeyError(MARKER)

    monkeypatch.setattr("agrajag.investigation.gate.decide", broken)
    scene = Scene([calls(lookup("call-1")), ENDED])
    with capture_logs() as logged, pytest.raises(DiagnosisAgentError) as raised:
        await played(scene)
    error = raised.value
    assert (error.code, error.__cause__, error.__context__) == ("BUG", None, None)
    assert MARKER not in repr(logged) + "".join(traceback.format_exception(error))
    assert len(scene.requests) == 1


async def test_runs_side_by_side_on_one_client_stay_apart() -> None:
    def by_query(request: Request) -> Reply:
        asked = json.loads(request.body["messages"][0]["content"])["query"]
        if len(request.body["messages"]) == 1:
            return calls(lookup("call-1", asked))
        return answer(draft(observed("call-1")))

    async with Scene(by_query, hook=(seen := Seen())) as scene:
        names = [f"run-{number}" for number in range(30)]
        contexts = [scene.investigator.run_context(f"session of {name}", name) for name in names]
        asked = [scene.investigator.investigate(f"query of {each.run_id}", None, each) for each in contexts]
        results = await asyncio.gather(*asked)
    assert [result.snapshot.run_id for result in results] == names
    assert len(scene.requests) == 60
    for context, result in zip(contexts, results, strict=True):
        assert result.stop_reason is ExecutionStop.COMPLETED
        [record] = await scene.records(context.run_id)
        assert record.input["query"] == f"query of {context.run_id}"
        assert record.session_id == f"session of {context.run_id}"
        assert context.spent.model_calls == 2
    assert len(seen.steps) == 90
    assert {(step.session_id, step.run_id) for step in seen.steps} == {
        (f"session of {name}", name) for name in names
    }
    assert {(ids.session_id, asked.model_dump()["query"]) for ids, asked in scene.knowledge.seen} == {
        (f"session of {name}", f"query of {name}") for name in names
    }

"""The boundary in its order, driven by a model over a socket: what runs, what the model is told, what is on record."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import orjson
import pytest
from prometheus_client import Counter
from pydantic import BaseModel

from agrajag.harness import Failed, StopReason
from agrajag.investigation.asked import input_hash
from agrajag.investigation.evidence import CallIds, Found, Scope
from agrajag.investigation.gate import Sources
from agrajag.investigation.ledger import MemoryLedger
from agrajag.investigation.limits import Limits
from agrajag.investigation.records import InvocationRecord, InvocationState
from agrajag.investigation.requests import KnowledgeRequest, LogLevel, LogRequest, ToolName
from agrajag.metrics import (
    INVESTIGATION_REPAIRS,
    INVESTIGATION_STOPS,
    INVESTIGATION_TRUNCATED,
    MODEL_AUDIT_FAILURES,
)
from tests.harness.replies import Block, Reply, calls, use
from tests.investigation.gate_runs import (
    DONE,
    NOTHING,
    SOMETHING,
    FailingLedger,
    Source,
    a_context,
    a_line,
    gated,
    look,
)
from tests.investigation.records import NOW

EVIDENCE = ("EVIDENCE", None)
NO_EVIDENCE = ("NO_EVIDENCE", None)
STOP = ("STOP_REQUIRED", None)
MISSING = ("REPAIR", "PREVIOUS_OBSERVATION_MISSING")
WRONG = ("REPAIR", "PREVIOUS_OBSERVATION_WRONG")
INVALID = ("REPAIR", "INVALID_ENVELOPE")
EQUIVALENT = ("REPAIR", "EQUIVALENT_CALL")
DUPLICATE = ("ERROR", "DUPLICATE_CALL_ID")
GAINED = "GAINED"
NO_GAIN = "NO_GAIN"
A_LEDGER_THAT_IS_AWAY = FailingLedger(lambda _: True)


@dataclass(frozen=True)
class Case:
    """Calls one after the other, what the model is told of each, and which of them run."""

    name: str
    calls: Sequence[Block]
    told: Sequence[tuple[str, str | None]]
    ran: Sequence[str]
    limits: dict[str, int] = field(default_factory=dict)
    nothing: Sequence[str] = ()
    failing: Sequence[str] = ()
    ledger: MemoryLedger | None = None


# Each case breaks one rule and, where it can, the next one as well: which of them is told shows their order.
ORDER = (
    Case(
        "an id that came before is told before the stop that was required",
        [look("a"), look("b", previous=("a", NO_GAIN)), look("a")],
        [EVIDENCE, STOP, DUPLICATE],
        ["a"],
        limits={"no_gains": 1},
    ),
    Case(
        "a stop that was required is told before an envelope that is wrong",
        [look("a"), look("b", previous=("a", NO_GAIN)), look("c", query=7)],
        [EVIDENCE, STOP, STOP],
        ["a"],
        limits={"no_gains": 1},
    ),
    Case(
        "an envelope that is wrong is told before what it does not say of the last observation",
        [look("a"), look("b", query=7)],
        [EVIDENCE, INVALID],
        ["a"],
    ),
    Case(
        "an envelope that is wrong takes no evaluation",
        [look("a"), look("b", query=7, previous=("a", GAINED)), look("c", previous=("a", GAINED))],
        [EVIDENCE, INVALID, EVIDENCE],
        ["a", "c"],
    ),
    Case(
        "an evaluation that is missing is told before that the call was answered",
        [look("a", "x"), look("b", "x"), look("c", previous=("a", GAINED))],
        [EVIDENCE, MISSING, EVIDENCE],
        ["a", "c"],
    ),
    Case(
        "an evaluation of another call is told before that enough brought nothing",
        [look("a"), look("b", previous=("a", GAINED))],
        [NO_EVIDENCE, WRONG],
        ["a"],
        limits={"no_gains": 1},
        nothing=["a"],
    ),
    Case(
        "an evaluation is taken once",
        [look("a"), look("b", previous=("a", GAINED)), look("c", previous=("a", GAINED))],
        [EVIDENCE, NO_EVIDENCE, WRONG],
        ["a", "b"],
        nothing=["b"],
    ),
    Case(
        "an evaluation that names another run's call, or one in another spelling, is wrong",
        [look("a"), look("b", previous=("run-2|a", GAINED)), look("c", previous=("A", GAINED))],
        [EVIDENCE, WRONG, WRONG],
        ["a"],
    ),
    Case(
        "that enough brought nothing is told before that the call was answered",
        [look("a", "x"), look("b", "x", previous=("a", NO_GAIN))],
        [EVIDENCE, STOP],
        ["a"],
        limits={"no_gains": 1},
    ),
    Case(
        "that the call was answered is told before that there are no attempts left",
        [look("a", "x"), look("b", "x", previous=("a", GAINED)), look("c")],
        [EVIDENCE, EQUIVALENT, STOP],
        ["a"],
        limits={"tool_attempts": 1},
    ),
    Case(
        "a call that was answered with nothing is not asked again",
        [look("a", "x"), look("b", "x")],
        [NO_EVIDENCE, EQUIVALENT],
        ["a"],
        nothing=["a"],
    ),
    Case(
        "a call that was answered before counts as one more that brought nothing",
        [look("a", "x"), look("b", "x", previous=("a", GAINED)), look("c", "x"), look("d")],
        [EVIDENCE, EQUIVALENT, EQUIVALENT, STOP],
        ["a"],
        limits={"no_gains": 2},
    ),
    Case(
        "a call that failed may be asked again",
        [look("a", "x"), look("b", "x")],
        [("ERROR", "SOURCE_TIMEOUT"), EVIDENCE],
        ["a", "b"],
        failing=["a"],
    ),
    Case(
        "errors and repairs say nothing of worth, and are attempts",
        [look("a"), look("b", query=7), look("c", previous=("a", GAINED)), look("d")],
        [("ERROR", "SOURCE_TIMEOUT"), INVALID, WRONG, STOP],
        ["a"],
        limits={"tool_attempts": 3, "no_gains": 1},
        failing=["a"],
    ),
    Case(
        "a gain begins to count anew",
        [
            look("a"),
            look("b", previous=("a", NO_GAIN)),
            look("c", previous=("b", GAINED)),
            look("d", previous=("c", NO_GAIN)),
            look("e", previous=("d", NO_GAIN)),
        ],
        [EVIDENCE, EVIDENCE, EVIDENCE, EVIDENCE, STOP],
        ["a", "b", "c", "d"],
        limits={"no_gains": 2},
    ),
    Case(
        "that there are no attempts left is told before anything is written down",
        [look("a"), look("b"), look("c")],
        [("ERROR", "AUDIT_UNAVAILABLE"), ("ERROR", "AUDIT_UNAVAILABLE"), STOP],
        [],
        limits={"tool_attempts": 2},
        ledger=A_LEDGER_THAT_IS_AWAY,
    ),
)


def _scripts() -> Iterator[Any]:
    """Each case with its calls in one reply, and one in each reply unless a stop leaves no round for that."""
    for case in ORDER:
        yield pytest.param(case, [calls(*case.calls), DONE], id=f"{case.name}, in one reply")
        if STOP not in case.told[:-1]:
            yield pytest.param(case, [*map(calls, case.calls), DONE], id=f"{case.name}, one by one")


@pytest.mark.parametrize(("case", "script"), list(_scripts()))
async def test_the_rules_of_the_boundary_hold_in_their_order(case: Case, script: list[Reply]) -> None:
    source = Source(by_id=dict.fromkeys(case.nothing, NOTHING))
    source.by_id |= {name: Failed("SOURCE_TIMEOUT") for name in case.failing}
    limits = Limits(**{"model_calls": 20, **case.limits})
    run = await gated(script, source, limits=limits, ledger=case.ledger)
    assert run.told == list(case.told)
    assert source.ids == list(case.ran)
    assert [record.tool_call_id for record in run.gate.records] == list(case.ran)
    assert run.result.stop is StopReason.COMPLETED
    assert len(run.server.requests) == len(script)


async def test_a_run_that_has_no_tokens_left_ends_there_even_where_a_stop_was_required() -> None:
    source = Source()
    limits = Limits(tokens=1_000, no_gains=1)
    used = {"input_tokens": 990, "output_tokens": 20}
    script = [calls(look("a"), usage=None), calls(look("b", previous=("a", NO_GAIN)), look("c"), usage=used)]
    run = await gated([*script, DONE], source, limits=limits)
    assert (run.result.stop, source.ids, len(run.server.requests)) == (StopReason.TOKENS_EXHAUSTED, ["a"], 2)
    assert run.gate.records[0].evaluation is None


async def test_after_a_stop_the_model_has_one_round_and_it_holds_no_tools_in_reach() -> None:
    script = [calls(look("a")), calls(look("b", previous=("a", NO_GAIN))), calls(look("c"))]
    before = _count(INVESTIGATION_STOPS, StopReason.INFORMATION_SATURATION)
    run = await gated(script, limits=Limits(no_gains=1))
    assert run.result.stop is StopReason.INFORMATION_SATURATION
    assert [request.body["tool_choice"]["type"] for request in run.server.requests] == [
        "auto",
        "auto",
        "none",
    ]
    assert _count(INVESTIGATION_STOPS, StopReason.INFORMATION_SATURATION) == before + 1


async def test_the_last_attempt_leaves_rounds_for_the_stop_and_for_the_answer() -> None:
    limits = Limits(tool_attempts=2, model_calls=4)
    script = [
        calls(look("a")),
        calls(look("b", previous=("a", GAINED))),
        calls(look("c", previous=("b", GAINED))),
    ]
    run = await gated([*script, DONE], limits=limits)
    assert run.told == [EVIDENCE, EVIDENCE, STOP]
    assert (run.result.stop, run.result.final) == (StopReason.COMPLETED, StopReason.TOOL_CALLS_EXHAUSTED)


async def test_a_repair_says_what_is_wrong_by_our_names_and_which_call_is_expected() -> None:
    before = _count(INVESTIGATION_REPAIRS, "PREVIOUS_OBSERVATION_MISSING")
    script = [calls(look("a")), calls(look("b")), calls(look("c", query="", secret="hunter2")), DONE]
    run = await gated(script)
    missing, invalid = run.observations[1:]
    assert missing == {
        "evidence_status": "REPAIR",
        "tool_call_id": "b",
        "code": "PREVIOUS_OBSERVATION_MISSING",
        "fields": ["previous_observation"],
        "expected_tool_call_id": "a",
    }
    assert invalid["fields"] == ["input", "input.query"]
    assert invalid["expected_tool_call_id"] == "a"
    assert _count(INVESTIGATION_REPAIRS, "PREVIOUS_OBSERVATION_MISSING") == before + 1


async def test_a_window_that_is_too_long_is_told_by_the_field_that_is_wrong() -> None:
    window: dict[str, Any] = {"since": "2026-05-01T00:00:00Z", "until": "2026-05-23T00:00:00Z"}
    both: dict[str, Any] = {
        "since": "2026-05-22T00:00:00Z",
        "until": "2026-05-23T00:00:00Z",
        "contains": "a",
        "pattern": "b",
    }
    far = {**both, "since": "0001-01-01T00:00:00+14:00"}
    script = [calls(_logs(name, **asked)) for name, asked in (("a", window), ("b", both), ("c", far))]
    run = await gated([*script, DONE])
    assert [found["fields"] for found in run.observations] == [
        ["input.until"],
        ["input.pattern"],
        ["input.pattern", "input.since"],
    ]


async def test_an_observation_that_was_not_found_holds_nothing_but_a_status_an_id_and_a_code() -> None:
    source = Source(by_id={"a": ValueError("SECRET"), "b": Failed("SOURCE_BUSY"), "c": NOTHING})
    run = await gated([calls(look("a"), look("b"), look("c")), DONE], source)
    assert run.observations == [
        {"evidence_status": "ERROR", "tool_call_id": "a", "code": "TOOL_FAILED"},
        {"evidence_status": "ERROR", "tool_call_id": "b", "code": "SOURCE_BUSY"},
        {
            "evidence_status": "NO_EVIDENCE",
            "tool_call_id": "c",
            "scope": {"source": "nowhere", "subjects": []},
        },
    ]


class _Strict(BaseModel):
    count: int


def _validation_error() -> Exception:
    try:
        _Strict.model_validate({"count": "SECRET"})
    except ValueError as error:
        return error
    raise AssertionError


@pytest.mark.parametrize(
    "broken",
    [
        _validation_error(),
        RecursionError("SECRET"),
        Found([{"secret": "SECRET"}], Scope(source="runbooks")),
        Found([], Scope(source="runbooks"), truncated=True),
        None,
        Found(["SECRET"], Scope(source="runbooks")),  # type: ignore[list-item]
    ],
    ids=["its own validation", "depth", "no listed field", "nothing and not all", "no answer", "no item"],
)
async def test_a_source_that_breaks_is_a_failed_tool_and_never_the_models_fault(broken: Any) -> None:
    run = await gated([calls(look("a")), DONE], Source(usually=broken))
    assert run.observations == [{"evidence_status": "ERROR", "tool_call_id": "a", "code": "TOOL_FAILED"}]
    (record,) = run.gate.records
    assert (record.state, record.error_code, record.scope) == (InvocationState.FAILED, "TOOL_FAILED", None)
    assert "SECRET" not in record.model_dump_json()


async def test_a_source_is_asked_the_business_request_alone_under_the_exact_id() -> None:
    knowledge, logs, mysql = (
        Source(),
        Source(usually=a_line()),
        Source(usually=Found([{"n": 1}], Scope(source="db"))),
    )
    script = [
        calls(look("call-1", "pool")),
        calls(_logs("call-2", previous=("call-1", GAINED), level="WARN")),
        calls(_sql("call-3", "SELECT 1", previous=("call-2", GAINED))),
        DONE,
    ]
    await gated(script, sources=Sources(knowledge, logs, mysql))
    assert knowledge.asked == [(CallIds("session-1", "run-1", "call-1"), KnowledgeRequest(query="pool"))]
    (_, asked), (_, sql) = logs.asked[0], mysql.asked[0]
    assert asked == LogRequest(since=NOW, until=NOW + timedelta(hours=1), level=LogLevel.WARN)
    assert sql.sql == "SELECT 1"


async def test_equal_requests_are_equal_however_they_are_spelled() -> None:
    spelled: dict[str, Any] = {
        "since": "2026-05-23T20:00:00+08:00",
        "until": "2026-05-23T13:00:00Z",
        "limit": 20,
    }
    script = [calls(_logs("a")), calls(_logs("b", previous=("a", GAINED), **spelled)), DONE]
    run = await gated(script, Source(usually=a_line()))
    assert run.told == [EVIDENCE, EQUIVALENT]


async def test_the_same_words_to_another_tool_are_another_call() -> None:
    asked = {"query": "SELECT 1"}
    script = [calls(look("a", **asked)), calls(_sql("b", "SELECT 1", previous=("a", GAINED))), DONE]
    run = await gated(
        script, sources=Sources(Source(), Source(), Source(Found([{"n": 1}], Scope(source="db"))))
    )
    assert run.told == [EVIDENCE, EVIDENCE]


async def test_a_call_is_on_record_before_its_source_is_asked_and_ready_before_the_model_is_told() -> None:
    ledger = MemoryLedger()
    source = Source(before=lambda ids: ledger.of_run(ids.run_id))
    await gated([calls(look("a")), DONE], source, ledger=ledger)
    assert [record.state for record in source.seen] == [InvocationState.STARTED]
    assert [record.state for record in await ledger.of_run("run-1")] == [InvocationState.READY]


async def test_what_is_on_record_is_the_request_without_secrets_and_the_hash_of_what_was_asked() -> None:
    ledger = MemoryLedger()
    words = "login failed password=hunter2"
    await gated([calls(look("a", words)), DONE], ledger=ledger)
    (record,) = await ledger.of_run("run-1")
    assert record.input == {"query": "login failed password=[redacted]", "limit": 5}
    assert record.input_hash == input_hash(KnowledgeRequest(query=words))
    assert record.input_hash != input_hash(KnowledgeRequest(query=str(record.input["query"])))
    assert (record.session_id, record.scope) == ("session-1", SOMETHING.scope)
    assert record.started_at == record.ended_at == NOW


async def test_what_cannot_be_put_on_record_as_ready_is_not_shown_and_leaves_nothing_pending() -> None:
    ledger = FailingLedger(lambda record: (record.tool_call_id, record.state) == ("a", InvocationState.READY))
    source = Source()
    run = await gated([calls(look("a", "x")), calls(look("b", "x")), DONE], source, ledger=ledger)
    assert run.told == [("ERROR", "AUDIT_UNAVAILABLE"), EVIDENCE]
    assert [record.state for record in run.gate.records] == [InvocationState.STARTED, InvocationState.READY]
    assert [check.tool_call_id for check in run.gate.snapshot.checks] == ["b"]


async def test_a_call_that_is_cut_stands_on_record_as_failed_and_is_no_check() -> None:
    context, ledger = a_context(), MemoryLedger()

    async def cancelled(_: CallIds) -> list[InvocationRecord]:
        context.cancel()
        await asyncio.Event().wait()
        return []

    run = await gated([calls(look("a")), DONE], Source(before=cancelled), ledger=ledger, context=context)
    assert run.result.stop is StopReason.CANCELLED
    (record,) = await ledger.of_run("run-1")
    assert (record.state, record.error_code) == (InvocationState.FAILED, "TOOL_CUT")
    assert not run.gate.snapshot.is_publishable


@pytest.mark.parametrize("state", [InvocationState.STARTED, InvocationState.READY])
async def test_a_call_that_is_cut_while_its_record_is_written_does_not_stay_started(
    state: InvocationState,
) -> None:
    context = a_context()

    class Cutting(MemoryLedger):
        async def write(self, record: InvocationRecord) -> None:
            if record.state is state:
                context.cancel()
                await asyncio.Event().wait()
            await super().write(record)

    ledger = Cutting()
    run = await gated([calls(look("a")), DONE], ledger=ledger, context=context)
    assert run.result.stop is StopReason.CANCELLED
    (record,) = await ledger.of_run("run-1")
    assert (record.state, record.error_code) == (InvocationState.FAILED, "TOOL_CUT")
    assert (record.input, run.gate.records) == ({"query": "about a", "limit": 5}, (record,))


async def test_a_source_that_takes_too_long_is_a_failed_call_and_the_run_goes_on() -> None:
    async def hangs(_: CallIds) -> list[InvocationRecord]:
        await asyncio.Event().wait()
        return []

    run = await gated([calls(look("a")), DONE], Source(before=hangs), limits=Limits(tool_seconds=0.05))
    assert (run.told, run.result.stop) == ([("ERROR", "TOOL_TIMEOUT")], StopReason.COMPLETED)
    assert [record.error_code for record in run.gate.records] == ["TOOL_TIMEOUT"]


async def test_what_an_observation_was_worth_is_put_on_its_record() -> None:
    ledger = MemoryLedger()
    script = [calls(look("a")), calls(look("b", previous=("a", NO_GAIN))), DONE]
    run = await gated(script, ledger=ledger)
    assert [record.evaluation for record in run.gate.records] == ["NO_GAIN", None]
    assert await ledger.of_run("run-1") == list(run.gate.records)
    assert [check.evaluation for check in run.gate.snapshot.checks] == ["NO_GAIN", None]


@pytest.mark.parametrize("hangs", [False, True])
async def test_where_that_is_not_written_it_is_counted_and_the_run_goes_on(hangs: bool) -> None:
    before = MODEL_AUDIT_FAILURES._value.get()
    ledger = FailingLedger(lambda record: record.evaluation is not None, hangs=hangs)
    script = [calls(look("a")), calls(look("b", previous=("a", NO_GAIN))), DONE]
    run = await gated(script, ledger=ledger)
    assert run.told == [EVIDENCE, EVIDENCE]
    assert [record.evaluation for record in run.gate.records] == ["NO_GAIN", None]
    assert [record.evaluation for record in await ledger.of_run("run-1")] == [None, None]
    assert MODEL_AUDIT_FAILURES._value.get() == before + 1


async def test_the_tools_are_the_same_byte_for_byte_in_every_round_of_every_run() -> None:
    first = await gated([calls(look("a")), calls(look("b", previous=("a", GAINED))), DONE])
    second = await gated([DONE])
    (tools,) = {request.tools for run in (first, second) for request in run.server.requests}
    assert [tool["name"] for tool in orjson.loads(tools)] == ["lookup_knowledge", "query_logs", "query_mysql"]


async def test_the_schemas_are_objects_that_hold_no_field_more_and_none_of_our_notes() -> None:
    run = await gated([DONE])
    for tool in run.server.requests[0].body["tools"]:
        schema = tool["input_schema"]
        assert (schema["type"], schema["additionalProperties"], schema["required"]) == (
            "object",
            False,
            ["input"],
        )
        assert set(schema["properties"]) == {"previous_observation", "input"}
        written = orjson.dumps(schema)
        assert b'"title"' not in written
        assert b'"description"' not in written


async def test_an_observation_that_shows_less_than_was_found_says_so_and_is_counted() -> None:
    before = INVESTIGATION_TRUNCATED._value.get()
    run = await gated(
        [calls(look("a")), DONE], Source(usually=Found([{"text": "x" * 9_000}], Scope(source="r")))
    )
    assert run.observations[0]["truncated"] is True
    assert INVESTIGATION_TRUNCATED._value.get() == before + 1


async def test_a_tool_that_does_not_exist_is_not_emulated_and_is_on_no_record() -> None:
    source, ledger = Source(), MemoryLedger()
    run = await gated([calls(use("a", "drop_table", input={"query": "x"})), DONE], source, ledger=ledger)
    assert run.result.stop is StopReason.COMPLETED
    assert (source.ids, run.gate.records, await ledger.of_run("run-1")) == ([], (), [])


def _logs(call_id: str, previous: tuple[str, str] | None = None, **asked: Any) -> Block:
    window = {"since": "2026-05-23T12:00:00Z", "until": "2026-05-23T13:00:00Z"}
    return _use(ToolName.QUERY_LOGS, call_id, {**window, **asked}, previous)


def _sql(call_id: str, sql: str, previous: tuple[str, str] | None = None) -> Block:
    return _use(ToolName.QUERY_MYSQL, call_id, {"sql": sql}, previous)


def _use(tool: ToolName, call_id: str, asked: Any, previous: tuple[str, str] | None) -> Block:
    block = look(call_id, previous=previous)
    return {**block, "name": tool.value, "input": {**block["input"], "input": asked}}


def _count(counter: Counter, label: str) -> float:
    return float(counter.labels(label)._value.get())

"""Requirement: Stage-four execution SHALL remain internal and auditable."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command
from typer.testing import CliRunner

from agrajag.cli.app import app
from agrajag.cli.investigation import program
from agrajag.harness import AgentStep, ModelStep, ToolStep
from agrajag.investigation.ledger import MemoryLedger
from agrajag.investigation.records import InvocationRecord, InvocationState
from agrajag.investigation.result import DiagnosisExecutionResult, ExecutionStop
from agrajag.metrics import MODEL_HOOK_FAILURES
from agrajag.wire.cloudevents import EventType
from agrajag.wire.topics import Topic
from tests.harness.replies import calls
from tests.investigation.scenarios.scene import (
    Ledger,
    Scene,
    Seen,
    Source,
    answer,
    draft,
    lookup,
    observed,
    played,
)
from tests.investigation.scenarios.titles import clause, scenario

ONE_CALL = [calls(lookup("call-1")), answer(draft(observed("call-1")))]
TWO_CALLS = [ONE_CALL[0], calls(lookup("call-2", "b", previous="call-1")), ONE_CALL[1]]
PUBLIC = yaml.safe_load(Path(__file__).with_name("public_surface.yaml").read_text("utf-8"))
IMPORTING = """
import sys
import agrajag.cli.app, agrajag.bootstrap, agrajag.stream.worker, agrajag.service.worker, agrajag.diagnosis.engine
assert "agrajag.diagnosis.engine" in sys.modules
print(*sorted(name for name in sys.modules if name.startswith("agrajag.investigation")))
"""


class Refusing(Ledger):
    """A ledger that takes no record of this state."""

    def __init__(self, state: InvocationState) -> None:
        super().__init__()
        self.state = state

    async def write(self, record: InvocationRecord) -> None:
        if record.state is self.state:
            raise OSError("mongodb://root:hunter2@store is away")
        await super().write(record)


@dataclass
class Raising:
    """A hook that fails."""

    async def step(self, step: AgentStep) -> None:
        raise OSError("SECRET")


@clause("the use case is callable as an internal entry")
async def test_the_use_case_is_callable_as_an_internal_entry() -> None:
    result = await played(Scene([answer(draft())]))
    assert isinstance(result, DiagnosisExecutionResult)
    assert CliRunner().invoke(program, ["--help"]).exit_code == 0


@clause("the use case is not wired into anything public")
def test_the_use_case_is_not_wired_into_anything_public() -> None:
    assert sorted(PUBLIC["topics"]) == sorted(Topic)
    assert sorted(PUBLIC["events"]) == sorted(EventType)
    assert sorted(PUBLIC["commands"]) == sorted(get_command(app).commands)  # type: ignore[attr-defined]
    assert "investigat" not in CliRunner().invoke(app, ["--help"]).output.lower()


@clause("the use case is not wired into anything public")
def test_the_use_case_is_not_wired_into_anything_public_by_an_import() -> None:
    ended = subprocess.run([sys.executable, "-c", IMPORTING], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == []


@clause("the same session id and run id are propagated")
async def test_the_same_session_id_and_run_id_are_propagated() -> None:
    seen = Seen()
    scene = Scene(TWO_CALLS, hook=seen)
    result = await played(scene)
    ids = [(step.session_id, step.run_id) for step in seen.steps]
    ids += [(record.session_id, record.run_id) for record in scene.ledger.writes]
    ids += [(call.session_id, call.run_id) for call, _ in scene.knowledge.seen]
    assert len(ids) == 5 + 5 + 2
    assert set(ids) == {("session-1", "run-1")}
    assert result.snapshot.run_id == "run-1"


@clause("an agent step hook can be injected")
async def test_an_agent_step_hook_can_be_injected() -> None:
    seen = Seen()
    await played(Scene(TWO_CALLS, hook=seen))
    assert [type(step) for step in seen.steps] == [ModelStep, ToolStep, ModelStep, ToolStep, ModelStep]
    assert [step.call_id for step in seen.steps if isinstance(step, ToolStep)] == ["call-1", "call-2"]


@clause("an agent step hook can be injected")
async def test_an_agent_step_hook_can_be_injected_and_its_failure_is_counted_and_changes_nothing() -> None:
    plain, hooked = Scene(ONE_CALL), Scene(ONE_CALL, hook=Raising())
    before = MODEL_HOOK_FAILURES._value.get()
    assert await played(hooked) == await played(plain)
    assert MODEL_HOOK_FAILURES._value.get() == before + 3
    assert [each.body for each in hooked.requests] == [each.body for each in plain.requests]
    assert hooked.ledger.writes == plain.ledger.writes


@clause("every canonical invocation is audited")
async def test_every_canonical_invocation_is_audited() -> None:
    scene = Scene(TWO_CALLS)
    await played(scene)
    assert [(each.tool_call_id, each.state, each.evaluation) for each in scene.ledger.writes] == [
        ("call-1", "STARTED", None),
        ("call-1", "READY", None),
        ("call-1", "READY", "GAINED"),
        ("call-2", "STARTED", None),
        ("call-2", "READY", None),
    ]
    first, second = await scene.records()
    assert (first.input, first.evidence_status) == ({"query": "503", "limit": 5}, "EVIDENCE")
    assert len({first.input_hash, second.input_hash}) == 2


@pytest.mark.parametrize(
    ("state", "asked", "kept"),
    [(InvocationState.STARTED, [], []), (InvocationState.READY, ["call-1"], [InvocationState.STARTED])],
)
@clause("every canonical invocation is audited")
async def test_every_canonical_invocation_is_audited_or_no_evidence(
    state: InvocationState, asked: list[str], kept: list[InvocationState]
) -> None:
    scene = Scene([ONE_CALL[0], answer(draft())], ledger=Refusing(state))
    result = await played(scene)
    assert scene.observation(1) == {
        "evidence_status": "ERROR",
        "tool_call_id": "call-1",
        "code": "AUDIT_UNAVAILABLE",
    }
    assert scene.adapters_asked == asked
    assert [record.state for record in await scene.records()] == kept
    assert not result.snapshot.is_publishable


@clause("final run success and persistence are left to later stages")
async def test_final_run_success_and_persistence_are_left_to_later_stages() -> None:
    scene = Scene(ONE_CALL)
    result = await played(scene)
    assert result.stop_reason is ExecutionStop.COMPLETED
    assert {type(record) for record in scene.ledger.writes} == {InvocationRecord}
    assert {record.tool_call_id for record in scene.ledger.writes} == {"call-1"}
    named: set[str] = {*InvocationRecord.model_fields, *DiagnosisExecutionResult.model_fields}
    assert not {name for name in named if "run_status" in name or "success" in name}
    assert {name for name in vars(MemoryLedger) if not name.startswith("_")} == {"write", "of_run"}


@scenario("Internal audited execution completes")
async def test_internal_audited_execution_completes() -> None:
    seen = Seen()
    scene = Scene(ONE_CALL, hook=seen, knowledge=Source())
    await played(scene)
    steps: list[Any] = [*seen.steps]
    assert {(step.session_id, step.run_id) for step in steps} == {("session-1", "run-1")}
    [record] = await scene.records()
    assert (record.session_id, record.run_id) == ("session-1", "run-1")
    assert [step.call_id for step in steps if isinstance(step, ToolStep)] == [record.tool_call_id]
    assert [step.number for step in steps if isinstance(step, ModelStep)] == [1, 2]


@scenario("Stage four is archived")
def test_stage_four_is_archived() -> None:
    """What was there before is there as it was: each public command still says what it does."""
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).output
    assert all(command in shown for command in PUBLIC["commands"])
    for command in ("diagnosis", "worker", "demo", "eval"):
        assert CliRunner().invoke(app, [command, "--help"]).exit_code == 0

"""What is on record of a run's tool calls, and what of that may be shown when a run ends without an answer."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import AwareDatetime

from agrajag.harness import EvidenceStatus
from agrajag.investigation.envelope import Evaluation
from agrajag.investigation.evidence import Scope
from agrajag.investigation.frozen_model import FrozenModel
from agrajag.investigation.requests import ToolName


class InvocationState(StrEnum):
    """STARTED is written before the source is asked; the others when it was."""

    STARTED = "STARTED"
    READY = "READY"
    FAILED = "FAILED"


class InvocationRecord(FrozenModel):
    """One tool call that was run, keyed by run and call id; the canonical record of what was looked at.

    `input` is the business request, redacted and bounded; `input_hash` is the SHA-256 of its canonical JSON as it was
    asked. `evaluation` is the model's, taken once with the next call.
    """

    session_id: str
    run_id: str
    tool_call_id: str
    tool_name: ToolName
    input: dict[str, Any]
    input_hash: str
    state: InvocationState
    evidence_status: EvidenceStatus | None = None
    evaluation: Evaluation | None = None
    error_code: str | None = None
    scope: Scope | None = None
    started_at: AwareDatetime
    ended_at: AwareDatetime | None = None

    def ended(self, at: datetime, **changes: Any) -> "InvocationRecord":
        """The record of the same call once it has ended."""
        return self.model_copy(update={"ended_at": at, **changes})


class Check(FrozenModel):
    """A check that was carried out and answered."""

    tool_call_id: str
    tool_name: ToolName
    evidence_status: EvidenceStatus
    evaluation: Evaluation | None
    scope: Scope


class ProgressSnapshot(FrozenModel):
    """What a run has checked, by the records alone: no word of the model, no counter, nothing that is left."""

    run_id: str
    checks: tuple[Check, ...]

    @property
    def is_publishable(self) -> bool:
        """Whether it holds anything."""
        return bool(self.checks)


def snapshot_of(run_id: str, records: Iterable[InvocationRecord]) -> ProgressSnapshot:
    """The checks of a run, in the order in which they were asked for."""
    return ProgressSnapshot(
        run_id=run_id,
        checks=tuple(
            Check(
                tool_call_id=record.tool_call_id,
                tool_name=record.tool_name,
                evidence_status=record.evidence_status,
                evaluation=record.evaluation,
                scope=record.scope,
            )
            for record in records
            if record.run_id == run_id
            and record.state is InvocationState.READY
            and record.evidence_status is not None
            and record.scope is not None
        ),
    )

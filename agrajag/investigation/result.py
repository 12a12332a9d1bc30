"""How an investigation ends where it ends as it may: with a draft, or stopped by what it was given."""

from enum import StrEnum
from typing import Self

from pydantic import model_validator

from agrajag.investigation.draft import DiagnosisDraft
from agrajag.investigation.frozen_model import FrozenModel
from agrajag.investigation.records import ProgressSnapshot


class ExecutionStop(StrEnum):
    """Why an execution has ended (spec single-react: controlled stop outcomes)."""

    COMPLETED = "COMPLETED"
    INFORMATION_SATURATION = "INFORMATION_SATURATION"
    TOOL_CALLS_EXHAUSTED = "TOOL_CALLS_EXHAUSTED"
    MODEL_CALLS_EXHAUSTED = "MODEL_CALLS_EXHAUSTED"
    TOKENS_EXHAUSTED = "TOKENS_EXHAUSTED"
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"
    CANCELLED = "CANCELLED"


class DiagnosisExecutionResult(FrozenModel):
    """A draft exactly if it is COMPLETED. Whether the run as a whole was a success is for later stages to say."""

    draft: DiagnosisDraft | None
    snapshot: ProgressSnapshot
    stop_reason: ExecutionStop

    @model_validator(mode="after")
    def _drafted_if_completed(self) -> Self:
        if (self.draft is not None) is not (self.stop_reason is ExecutionStop.COMPLETED):
            raise ValueError("draft: there is one exactly if the execution is COMPLETED")
        return self

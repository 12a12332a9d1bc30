"""Decides whether a tool call may run, by how the run has gone so far (spec single-react: Evidence Tools).

A state machine of values. In this order: does the call say what the last non-empty observation was worth, where it has
to, and only there? Was enough of no worth? Is it a call that was answered before? Are there attempts left? What a call
says of an observation is taken once; a call that is sent back for its form takes nothing.

ERROR and REPAIR are attempts and say nothing about worth; NO_EVIDENCE is no gain by itself, as is a call that was
answered before; GAINED begins to count anew.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from agrajag.errors import ConfigError
from agrajag.harness import EvidenceStatus, StopReason
from agrajag.investigation.envelope import Evaluation, PreviousObservation


class RepairCode(StrEnum):
    """Why a call is sent back to the model."""

    INVALID_ENVELOPE = "INVALID_ENVELOPE"
    PREVIOUS_OBSERVATION_MISSING = "PREVIOUS_OBSERVATION_MISSING"
    PREVIOUS_OBSERVATION_WRONG = "PREVIOUS_OBSERVATION_WRONG"
    EQUIVALENT_CALL = "EQUIVALENT_CALL"


@dataclass(frozen=True, slots=True)
class ProgressLimits:
    """`no_gains`: so many observations in a row that brought nothing end the collecting. `attempts`: calls in all."""

    attempts: int
    no_gains: int

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.no_gains < 1:
            raise ConfigError(
                f"tool attempts {self.attempts} and no-gain limit {self.no_gains}: both must be 1 or more"
            )


@dataclass(frozen=True, slots=True)
class Progress:
    """How a run has gone. `pending`: the id of the observation that the next call has to say something about."""

    pending: str | None = None
    attempts: int = 0
    no_gains: int = 0
    answered: frozenset[str] = frozenset()


class Call(NamedTuple):
    """A call whose envelope is right. `canonical` is equal for calls that ask the same of the same tool."""

    canonical: str
    previous: PreviousObservation | None


class Proceed(NamedTuple):
    """The call may run."""


class Repair(NamedTuple):
    """The call is sent back, with the fields that are wrong and the id that `previous_observation` has to name."""

    code: RepairCode
    fields: tuple[str, ...] = ()
    expected: str | None = None


class StopCollecting(NamedTuple):
    """No call may run any more."""

    reason: StopReason


class Decided(NamedTuple):
    """What becomes of a call, how the run stands then, and the worth that was taken of the pending observation."""

    verdict: Proceed | Repair | StopCollecting
    progress: Progress
    taken: Evaluation | None = None


_PREVIOUS = ("previous_observation",)


def invalid(progress: Progress, fields: tuple[str, ...]) -> Decided:
    """A call whose envelope is wrong."""
    repair = Repair(RepairCode.INVALID_ENVELOPE, fields, progress.pending)
    return Decided(repair, _attempted(progress))


def decide(progress: Progress, call: Call, limits: ProgressLimits) -> Decided:
    """What becomes of a call whose envelope is right."""
    said, pending = call.previous, progress.pending
    if pending is not None and said is None:
        repair = Repair(RepairCode.PREVIOUS_OBSERVATION_MISSING, _PREVIOUS, pending)
        return Decided(repair, _attempted(progress))
    if said is not None and said.tool_call_id != pending:
        repair = Repair(RepairCode.PREVIOUS_OBSERVATION_WRONG, _PREVIOUS, pending)
        return Decided(repair, _attempted(progress))
    taken = None if said is None else said.evaluation
    progress = _evaluated(progress, taken)
    if progress.no_gains >= limits.no_gains:
        return Decided(StopCollecting(StopReason.INFORMATION_SATURATION), progress, taken)
    if call.canonical in progress.answered:
        again = replace(_attempted(progress), no_gains=progress.no_gains + 1)
        return Decided(Repair(RepairCode.EQUIVALENT_CALL), again, taken)
    if progress.attempts >= limits.attempts:
        return Decided(StopCollecting(StopReason.TOOL_CALLS_EXHAUSTED), progress, taken)
    return Decided(Proceed(), _attempted(progress), taken)


def ready(progress: Progress, call_id: str, canonical: str, status: EvidenceStatus) -> Progress:
    """How the run stands after a call was answered and that is on record. A failed call changes nothing."""
    answered = progress.answered | {canonical}
    if status is EvidenceStatus.EVIDENCE:
        return replace(progress, pending=call_id, answered=answered)
    return replace(progress, no_gains=progress.no_gains + 1, answered=answered)


def _attempted(progress: Progress) -> Progress:
    return replace(progress, attempts=progress.attempts + 1)


def _evaluated(progress: Progress, taken: Evaluation | None) -> Progress:
    match taken:
        case None:
            return progress
        case Evaluation.GAINED:
            return replace(progress, pending=None, no_gains=0)
        case Evaluation.NO_GAIN:
            return replace(progress, pending=None, no_gains=progress.no_gains + 1)

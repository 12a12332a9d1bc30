"""What passes between the model's tool calls and those who answer them, as values.

A tool is a name, a schema that the model sees, a rule of admission, and an adapter. The rule and the adapter are
the caller's; when they run, and whether, is for the boundary to decide.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from agrajag.errors import ConfigError

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}", re.ASCII)
_CODE = re.compile(r"[A-Z][A-Z0-9_]{0,63}", re.ASCII)


class EvidenceStatus(StrEnum):
    """What an observation is. (spec single-react: evidence_status)"""

    EVIDENCE = "EVIDENCE"
    NO_EVIDENCE = "NO_EVIDENCE"
    ERROR = "ERROR"
    REPAIR = "REPAIR"
    STOP_REQUIRED = "STOP_REQUIRED"


class ToolCode(StrEnum):
    """The codes of the harness's own errors; adapters add codes of theirs."""

    DUPLICATE_CALL_ID = "DUPLICATE_CALL_ID"
    AUDIT_UNAVAILABLE = "AUDIT_UNAVAILABLE"
    TOOL_FAILED = "TOOL_FAILED"
    TOOL_TIMEOUT = "TOOL_TIMEOUT"
    TOOL_CUT = "TOOL_CUT"
    OBSERVATION_TOO_LARGE = "OBSERVATION_TOO_LARGE"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call by the model. `arguments` is what the model wrote, and nothing has checked it yet.

    Once a call is admitted its arguments are those that the rule of admission has made of them.
    """

    session_id: str
    run_id: str
    call_id: str
    tool_name: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class Admitted:
    """The call may run, with these arguments."""

    arguments: Any


@dataclass(frozen=True, slots=True)
class NotAdmitted:
    """The call does not run; the model is told this instead."""

    status: EvidenceStatus
    content: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ready:
    """The tool has answered; `content` is already what the model may see of it."""

    content: Mapping[str, Any]
    empty: bool = False

    @property
    def status(self) -> EvidenceStatus:
        """Whether there is anything in it."""
        return EvidenceStatus.NO_EVIDENCE if self.empty else EvidenceStatus.EVIDENCE


@dataclass(frozen=True, slots=True)
class Failed:
    """The tool has not answered; `code` is upper case, from a closed set of the adapter or of ToolCode."""

    code: str

    def __post_init__(self) -> None:
        if not _CODE.fullmatch(self.code):
            raise ValueError("the code of a failed tool call: must be upper case letters, digits and _")


Admission = Admitted | NotAdmitted
Outcome = Ready | Failed


async def admit_as_it_is(call: ToolCall) -> Admission:
    """The rule of a tool whose adapter checks the arguments itself."""
    return Admitted(call.arguments)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as the model sees it and as it is run. `run` may be cut at any await, at the latest after `seconds`."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    run: Callable[[ToolCall], Awaitable[Outcome]]
    admit: Callable[[ToolCall], Awaitable[Admission]] = admit_as_it_is
    seconds: float | None = None

    def __post_init__(self) -> None:
        if not _TOOL_NAME.fullmatch(self.name):
            raise ConfigError(f"tool name {self.name!r}: must be 1 to 64 of a-z, A-Z, 0-9, _ and -")

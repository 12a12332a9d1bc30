"""The closed list of how a run of a model can end, and what each end means for whoever asked for the run.

Every run ends with exactly one of these. None of them is an exception: a run that was stopped has used up
what it was given, or met a model that is away, and both are ordinary. `kind` says what errors.py says with
TransientError and PermanentError, as a value.
"""

from enum import StrEnum


class StopKind(StrEnum):
    """ANSWERED: there is an answer. LIMITED: ours, by a bound or a wish. The others are the model's side."""

    ANSWERED = "answered"
    LIMITED = "limited"
    TRANSIENT = "transient"  # the same run may succeed later
    PERMANENT = "permanent"  # the same run will end the same way


class StopReason(StrEnum):
    """Why a run ended. (spec single-react: controlled stop outcomes; the rest names failures of the API)"""

    COMPLETED = "completed"

    INFORMATION_SATURATION = "information_saturation"
    TOOL_CALLS_EXHAUSTED = "tool_calls_exhausted"
    MODEL_CALLS_EXHAUSTED = "model_calls_exhausted"
    TOKENS_EXHAUSTED = "tokens_exhausted"
    BYTES_EXHAUSTED = "bytes_exhausted"
    DEADLINE_EXCEEDED = "deadline_exceeded"
    CANCELLED = "cancelled"

    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server_error"
    CONNECTION_LOST = "connection_lost"  # refused, reset, or cut in the middle of an answer
    MODEL_TIMEOUT = "model_timeout"  # one request took longer than a request may
    MALFORMED_REPLY = "malformed_reply"

    ACCESS_DENIED = "access_denied"
    REQUEST_REJECTED = "request_rejected"
    REPLY_TOO_LARGE = "reply_too_large"
    REFUSED = "refused"  # the model's own refusal
    TRUNCATED = "truncated"  # the answer did not fit into what one reply may have

    @property
    def kind(self) -> StopKind:
        """What it means for the one who asked."""
        return _KINDS[self]


_LIMITS = (
    StopReason.INFORMATION_SATURATION,
    StopReason.TOOL_CALLS_EXHAUSTED,
    StopReason.MODEL_CALLS_EXHAUSTED,
    StopReason.TOKENS_EXHAUSTED,
    StopReason.BYTES_EXHAUSTED,
    StopReason.DEADLINE_EXCEEDED,
    StopReason.CANCELLED,
)
_PASSING = (
    StopReason.RATE_LIMITED,
    StopReason.OVERLOADED,
    StopReason.SERVER_ERROR,
    StopReason.CONNECTION_LOST,
    StopReason.MODEL_TIMEOUT,
    StopReason.MALFORMED_REPLY,
)
_LASTING = (
    StopReason.ACCESS_DENIED,
    StopReason.REQUEST_REJECTED,
    StopReason.REPLY_TOO_LARGE,
    StopReason.REFUSED,
    StopReason.TRUNCATED,
)
_KINDS = {
    StopReason.COMPLETED: StopKind.ANSWERED,
    **dict.fromkeys(_LIMITS, StopKind.LIMITED),
    **dict.fromkeys(_PASSING, StopKind.TRANSIENT),
    **dict.fromkeys(_LASTING, StopKind.PERMANENT),
}


class Stopped(BaseException):
    """Carries a stop out of the SDK's loop to `run_agent`, which turns it into a value.

    Not an Exception: the SDK would hand one that a tool raises to the model, as text.
    """

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason.value)
        self.reason = reason

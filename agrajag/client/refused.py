"""Says that a call was not made, why, and when to try again: for a program, and in words for a model."""

from datetime import UTC, datetime

from agrajag.core.admission import Admission
from agrajag.errors import TransientError


class ToolRefused(TransientError):
    """A call that was not made, by the caller's own policy; `admission` says what is known of the tool."""

    def __init__(self, tool_name: str, admission: Admission) -> None:
        super().__init__(refusal_text(tool_name, admission))
        self.admission = admission


def refusal_text(tool_name: str, admission: Admission) -> str:
    """One line that tells a model that the tool was not called, why, and until when it need not try."""
    why = admission.reason or f"it is {admission.status}"
    return f"{tool_name} was not called: {why.rstrip('.')}. {_when(admission.until)}"


def _when(until: datetime | None) -> str:
    if until is None:
        return "It is not known when it will work again: do without it."
    return f"Do not call it again before {until.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC: do without it until then."

"""Where tool calls are written down before they run and after they have ended.

The record of a call is keyed by run and call id. STARTED is written first: what cannot be written is not called. An end
that cannot be written keeps its observation from the model, for nothing may be cited that is not on record.
"""

from typing import Protocol

from agrajag.harness.calls import Outcome, ToolCall

AUDIT_SECONDS = 1.0
"""How long one write may take; longer is the same as not written."""


class Audit(Protocol):
    """The caller's audit. Either method raises, or takes too long, where nothing could be written."""

    async def started(self, call: ToolCall) -> None:
        """A call is about to run, with the arguments that it was admitted with; they are not redacted."""

    async def ended(self, call: ToolCall, outcome: Outcome) -> None:
        """A call that was started has ended.

        A call that was cut has Failed with TOOL_CUT; that comes last, even where `started` or this was cut itself.
        """

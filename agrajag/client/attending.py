"""Stands beside each call of a tool for an adapter: asks before it, reports how it ended, and knows at once what that
means for the next.

What a failure means is decided in the same turn by the rules that are known here. It is remembered until the health
documents can tell the same, so that a model which tries again at once does not call a dead tool again. With a reporter
alone everything is allowed.
"""

import sys
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol, Unpack

import structlog

from agrajag.client.call import Call
from agrajag.client.failures import facts_of, is_failure
from agrajag.client.redaction import reported
from agrajag.client.reporter import CallFields
from agrajag.client.watching import Reporter
from agrajag.clock import Clock, utc_now
from agrajag.core.admission import NOTHING_KNOWN, Admission, GuardPolicy, admission_after
from agrajag.core.lookup import Caller
from agrajag.model.answers import CheckResult
from agrajag.model.enums import Classification
from agrajag.model.events import ToolCallError

log = structlog.get_logger(__name__)

REMEMBERED_SECONDS = 30.0
"""How long a failure is remembered here at most: until then the health documents tell of it."""

_MAX_REMEMBERED = 1_000
_NOT_THE_TOOLS = frozenset({Classification.USER_INPUT, Classification.USER_PERMISSION})


class Asked(Protocol):
    """What is asked before a call, and what a failed one means; `client.guard.Guard` is one that is."""

    @property
    def own(self) -> GuardPolicy:
        """What the caller does not want to call."""
        ...

    def ask(self, call: Call, own: GuardPolicy | None = None) -> Admission:
        """Whether to make this call."""
        ...

    def annotation(self, call: Call) -> str | None:
        """What a model is told of the tool before it calls."""
        ...

    def ended(self, call: Call, *, worked: bool) -> None:
        """How a call that was allowed has ended."""
        ...

    def check(self, event: ToolCallError) -> CheckResult:
        """What this error means."""
        ...


class Calling(Reporter, Protocol):
    """A reporter that knows whose calls it reports."""

    def call(self, tool: str, **fields: Unpack[CallFields]) -> Call:
        """A call of this tool."""
        ...


class _Remembered(NamedTuple):
    admission: Admission
    until_seconds: float


class Attendant:
    """For any number of threads and event loops; it never waits and never raises.

    `own` says what the caller does not want to call, by default what the guard says; without a `guard` nothing is
    known, and everything allowed.
    """

    def __init__(
        self,
        reporter: Calling,
        guard: Asked | None = None,
        own: GuardPolicy | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self._reporter = reporter
        self._guard = guard
        self._own = own or (guard.own if guard is not None else GuardPolicy())
        self._clock = clock
        self._remembered: dict[tuple[Caller, str], _Remembered] = {}

    def call(self, tool: str, fields: CallFields) -> Call:
        """A call of this tool with what is known of it."""
        return self._reporter.call(tool, **fields)

    def ask(self, call: Call) -> Admission:
        """Whether to make this call."""
        if self._guard is None:
            return NOTHING_KNOWN
        key = (call.caller, call.tool_name)
        remembered = self._remembered.get(key)
        if remembered is not None:
            if time.monotonic() < remembered.until_seconds:
                return remembered.admission
            self._remembered.pop(key, None)
        return self._guard.ask(call, self._own)

    def annotation(self, call: Call) -> str | None:
        """What a model is told of the tool before it calls; None where nothing is wrong."""
        return None if self._guard is None else self._guard.annotation(call)

    def begin(self, call: Call) -> "Attended":
        """To be asked for right before the call, where it is made."""
        return Attended(self, call, sys.exc_info()[1])

    def failed(self, call: Call, failure: object, handled: BaseException | None) -> CheckResult | None:
        """Reports a failure; what it means, where that is known."""
        event_id = self._reporter.report(call, failure, handled=handled)
        if self._guard is None:
            return None
        try:
            event = call.failed(
                reported(facts_of(failure, handled)), event_id=event_id, occurred_at=self._clock()
            )
            check = self._guard.check(event)
            self._guard.ended(call, worked=check.classification in _NOT_THE_TOOLS)
            self._remember(call, check)
        except Exception as error:  # of whatever was found in somebody's objects; it is reported all the same
            log.warning("client_failure_unchecked", kind=type(error).__name__)
            return None
        return check

    def worked(self, call: Call) -> None:
        """Says that a call has worked."""
        self._remembered.pop((call.caller, call.tool_name), None)
        self._reporter.succeeded(call)
        if self._guard is not None:
            self._guard.ended(call, worked=True)

    def _remember(self, call: Call, check: CheckResult) -> None:
        now = self._clock()
        refusal = admission_after(check, self._own, now)
        if refusal is None:
            return
        seconds = REMEMBERED_SECONDS
        if refusal.until is not None:
            seconds = min(seconds, (refusal.until - now).total_seconds())
        if len(self._remembered) >= _MAX_REMEMBERED:
            self._remembered.clear()
        self._remembered[call.caller, call.tool_name] = _Remembered(refusal, time.monotonic() + seconds)


class Attended:
    """One call that is being made: it is told how the call ends, once."""

    def __init__(self, attendant: Attendant, call: Call, handled: BaseException | None) -> None:
        self._attendant = attendant
        self._call = call
        self._handled = handled

    def raised(self, error: BaseException) -> CheckResult | None:
        """It raised; what is none of the tool's, such as a cancellation, is not told."""
        return self.failed(error) if isinstance(error, Exception) else None

    def failed(self, failure: object) -> CheckResult | None:
        """It said that it failed."""
        return self._attendant.failed(self._call, failure, self._handled)

    def returned(self, value: object, is_failed: Callable[[object], bool] = is_failure) -> CheckResult | None:
        """It returned; a result that says that it failed is a failure."""
        try:
            failed = is_failed(value)
        except Exception:  # an object that cannot be asked is no failure of the tool
            failed = False
        if failed:
            return self.failed(value)
        self._attendant.worked(self._call)
        return None

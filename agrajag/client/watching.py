"""Watches one tool call and says how it ended: an exception, or what it returned.

It stands beside the call and never in its way: exceptions pass, results are handed back as they are.
"""

import sys
from types import TracebackType
from typing import Protocol, TypeVar

from agrajag.client.call import Call
from agrajag.client.failures import is_failure

T = TypeVar("T")


class Reporter(Protocol):
    """What is told how calls end."""

    def report(self, call: Call, failure: object, *, handled: BaseException | None = None) -> str | None:
        """It failed."""
        ...

    def succeeded(self, call: Call) -> str | None:
        """It worked."""
        ...


class Watch:
    """One call, from the entry of a `with` or `async with` to its end. `event_id` is known after it.

    An exception is reported, and one that is none of the tool's passes without a word: a cancellation, an interrupt.
    """

    def __init__(self, reporter: Reporter, call: Call) -> None:
        self.call = call
        self.event_id: str | None = None
        """The id of the event that tells how it ended; None where nobody has to hear of that."""
        self._reporter = reporter
        self._failure: object = None
        self._handled: BaseException | None = None

    def result(self, value: T) -> T:
        """Takes what the call returned, and hands it back: an MCP result that is an error, or an HTTP response from 400
        up, is a failed call."""
        try:
            self._failure = value if is_failure(value) else None
        except Exception:  # an object that cannot be asked is no failure of the tool
            self._failure = None
        return value

    def __enter__(self) -> "Watch":
        self._handled = sys.exc_info()[1]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception):
            self.event_id = self._reporter.report(self.call, error, handled=self._handled)
        elif error is None and self._failure is not None:
            self.event_id = self._reporter.report(self.call, self._failure)
        elif error is None:
            self.event_id = self._reporter.succeeded(self.call)
        self._failure = self._handled = None

    async def __aenter__(self) -> "Watch":
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

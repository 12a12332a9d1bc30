"""Holds what was reported until the brokers have it: bounded, and equal failures as one report with a count.

The first of equal failures is told at once. Those that follow within a window are told as one when it ends. Where there
is no more room the oldest report goes, for it says the least about now.
"""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import count

import structlog

from agrajag.client.call import Call
from agrajag.client.drops import Drops
from agrajag.client.failures import Facts
from agrajag.client.redaction import reported
from agrajag.metrics import CLIENT_REPEATS, DropReason, ReportKind
from agrajag.model.events import ErrorReport, ToolCallError, ToolCallSucceeded

log = structlog.get_logger(__name__)

MAX_COUNT = 1_000_000
"""An event stands for at most so many failures."""

_MAX_WINDOWS = 4_096
_MAX_UNREDACTED = 2_000
_WINDOWS_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Limits:
    """How much waits for the brokers at most, and how long equal failures are gathered."""

    reports: int = 10_000
    characters: int = 32_000_000
    window_seconds: float = 5.0


@dataclass(slots=True, eq=False)
class Report:
    """A failed call, `count` equal ones, or a success. A failure has facts until they are redacted, then an error."""

    kind: ReportKind
    call: Call
    event_id: str
    at: datetime
    facts: Facts | None = None
    error: ErrorReport | None = None
    count: int = 1
    first_at: datetime | None = None
    size: int = 0
    serial: int = 0

    def redact(self) -> None:
        """Makes the error from the facts, which are let go; where that cannot be done, there is none."""
        facts, self.facts = self.facts, None
        if facts is not None:
            try:
                self.error = reported(facts)
            except Exception as error:  # of whatever was found in somebody's objects
                log.warning("client_failure_unreadable", kind=type(error).__name__)

    def event(self) -> ToolCallError | ToolCallSucceeded | None:
        """The event, the same each time; None for a failure of which nothing can be told.

        Raises pydantic's ValidationError for ids that are none.
        """
        call = self.call
        if self.kind is ReportKind.SUCCESS:
            return ToolCallSucceeded(
                event_id=self.event_id,
                occurred_at=self.at,
                tenant_id=call.tenant_id,
                project_id=call.project_id,
                tool_name=call.tool_name,
                user_id=call.user_id,
                session_id=call.session_id,
                process_id=call.process_id,
            )
        if self.error is None:
            return None
        return call.failed(
            self.error,
            event_id=self.event_id,
            occurred_at=self.at,
            count=self.count,
            first_at=self.first_at,
        )


@dataclass(slots=True, eq=False)
class _Window:
    """Equal failures from the second on, until `ends_at` of a clock that only grows."""

    first: Report
    ends_at: float
    event_id: str = ""
    count: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None


class Outbox:
    """For any number of threads that report, and one that takes out. Nobody waits longer than for a few lines."""

    def __init__(self, limits: Limits, drops: Drops, name: str) -> None:
        """`name` begins the id of every event, and is no other outbox's."""
        self._limits = limits
        self._drops = drops
        self._next_id: Callable[[], str] = (f"{name}-{number}" for number in count(1)).__next__
        self._waiting: deque[Report] = deque()
        self._unredacted: deque[Report] = deque()
        self._taken: list[Report] = []
        self._windows: dict[int, _Window] = {}
        self._characters = 0
        self._serial = 0
        self._changing = threading.Lock()

    def failed(self, call: Call, facts: Facts, at: datetime, now_seconds: float) -> str | None:
        """Takes a failure in; the id of the event that will tell of it, None where it is dropped."""
        key = hash((call, facts.likeness))
        with self._changing:
            window = self._windows.get(key)
            if window is not None:
                if now_seconds < window.ends_at and window.count < MAX_COUNT:
                    return self._again(window, at)
                self._end(key, window)
            if len(self._unredacted) >= _MAX_UNREDACTED:
                self._drops.add(DropReason.FLOODED)
                return None
            report = Report(ReportKind.ERROR, call, self._next_id(), at, facts, size=facts.size)
            self._put(report)
            if self._limits.window_seconds > 0 and len(self._windows) < _MAX_WINDOWS:
                self._windows[key] = _Window(report, now_seconds + self._limits.window_seconds)
            return report.event_id

    def succeeded(self, call: Call, at: datetime) -> str:
        """Takes a success in; the id of its event."""
        with self._changing:
            report = Report(ReportKind.SUCCESS, call, self._next_id(), at)
            self._put(report)
            return report.event_id

    def next_unredacted(self) -> Report | None:
        """A report whose facts are to be redacted before it can be taken."""
        with self._changing:
            return self._unredacted.popleft() if self._unredacted else None

    def end_windows(self, now_seconds: float) -> float | None:
        """Ends what is due; the seconds until the next end, None where nothing is gathered."""
        while True:
            with self._changing:
                for _ in range(_WINDOWS_AT_ONCE):
                    key, window = next(iter(self._windows.items()), (0, None))
                    if window is None:
                        return None
                    if window.ends_at > now_seconds:
                        return window.ends_at - now_seconds
                    self._end(key, window)

    def take(self, most: int) -> list[Report]:
        """The oldest reports that are redacted. They are out of reach of being dropped until `done` or `close`."""
        with self._changing:
            while self._waiting and len(self._taken) < most and self._waiting[0].facts is None:
                self._taken.append(self._pop())
            return list(self._taken)

    def done(self) -> None:
        """What was taken is with the brokers, or will never be."""
        with self._changing:
            self._taken = []

    def close(self) -> int:
        """Forgets everything; how many failures and successes that were."""
        self.end_windows(float("inf"))
        with self._changing:
            left = sum(report.count for report in (*self._taken, *self._waiting))
            self._taken = []
            self._waiting.clear()
            self._unredacted.clear()
            self._characters = 0
            return left

    @property
    def newest(self) -> int:
        """The number of the report that was put in last."""
        return self._serial

    def holds_until(self, serial: int) -> bool:
        """Whether a report is left that was put in no later than that one."""
        with self._changing:
            oldest = next(iter(self._taken or self._waiting), None)
            return oldest is not None and oldest.serial <= serial

    def __len__(self) -> int:
        """How many reports wait."""
        return len(self._waiting) + len(self._taken)

    def _again(self, window: _Window, at: datetime) -> str:
        if window.first_at is None:
            window.first_at = at
            window.event_id = self._next_id()
        window.count += 1
        window.last_at = at
        CLIENT_REPEATS.inc()
        return window.event_id

    def _end(self, key: int, window: _Window) -> None:
        del self._windows[key]
        if window.last_at is None:
            return
        first = window.first
        self._put(
            Report(
                ReportKind.ERROR,
                first.call,
                window.event_id,
                window.last_at,
                first.facts,
                first.error,
                window.count,
                window.first_at,
                first.size,
            )
        )

    def _put(self, report: Report) -> None:
        self._serial += 1
        report.serial = self._serial
        self._waiting.append(report)
        self._characters += report.size
        if report.facts is not None:
            self._unredacted.append(report)
        while len(self._waiting) > self._limits.reports or self._characters > self._limits.characters:
            self._drops.add(DropReason.FULL, self._pop().count)

    def _pop(self) -> Report:
        report = self._waiting.popleft()
        self._characters -= report.size
        return report

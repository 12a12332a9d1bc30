"""Decides which lines of a log answer a request, which of them are kept, and what may be said of there being none."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, auto
from typing import Any, TypeAlias

import re2

from agrajag.investigation.logs.lines import LogLine
from agrajag.investigation.requests import LogLevel, LogRequest

_MAX_PATTERN_MEMORY = 1024 * 1024
_MAX_PATTERN_STEPS = 2_000
"""Of a compiled pattern. A text costs its length times so many at the worst, and within one nothing can be cut."""

_ORDER = {level: rank for rank, level in enumerate(LogLevel)}

Place: TypeAlias = tuple[str, int]
"""Where a line stands in its source; of two lines of the same time, the one with the greater place is newer."""


class InvalidPattern(ValueError):
    """This is no pattern of RE2, or too large a one. Says nothing of the pattern."""


class Fit(Enum):
    """What a line is to a request."""

    FITS = auto()
    UNLEVELLED = auto()  # it would, and does not say how bad it is
    NOT = auto()


class LogSearch:
    """One request, ready to be asked of lines. Raises InvalidPattern."""

    def __init__(self, asked: LogRequest) -> None:
        self.asked = asked
        self._service = None if asked.service is None else plain(asked.service)
        self._pattern = None if asked.pattern is None else _compiled(asked.pattern)

    def fit(self, line: LogLine) -> Fit:
        """Whether the line was written in the window, by the service, is bad enough, and says what is looked for.

        The service is compared without case. What is looked for may stand in the message or in any other field.
        """
        asked = self.asked
        if not asked.since <= line.at < asked.until:
            return Fit.NOT
        if self._service is not None and (line.service is None or plain(line.service) != self._service):
            return Fit.NOT
        if asked.level is not None and line.level is not None and _ORDER[line.level] < _ORDER[asked.level]:
            return Fit.NOT
        if not self._says_it(line):
            return Fit.NOT
        return Fit.UNLEVELLED if asked.level is not None and line.level is None else Fit.FITS

    def _says_it(self, line: LogLine) -> bool:
        if self.asked.contains is not None:
            return any(self.asked.contains in text for text in line.texts())
        if self._pattern is not None:
            return any(self._pattern.search(text) for text in line.texts())
        return True


def plain(service: str) -> str:
    """The name of a service as it is compared."""
    return service.strip().casefold()


@dataclass
class Newest:
    """The newest lines, `limit` of them at most, whatever the order in which they come."""

    limit: int
    is_more: bool = False
    """There were more than these."""
    _heap: list[tuple[datetime, Place, int, LogLine]] = field(default_factory=list)
    _count: int = 0

    def add(self, line: LogLine, place: Place) -> None:
        """One line more."""
        self._count += 1
        entry = (line.at, place, self._count, line)
        if len(self._heap) < self.limit:
            heapq.heappush(self._heap, entry)
        else:
            self.is_more = True
            heapq.heappushpop(self._heap, entry)

    @property
    def floor(self) -> datetime | None:
        """Lines that are older than this change nothing; None while every line does."""
        return self._heap[0][0] if self.is_more else None

    @property
    def lines(self) -> Sequence[LogLine]:
        """What was kept, the newest first."""
        return [line for *_, line in sorted(self._heap, key=lambda entry: entry[:3], reverse=True)]


def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False  # it would write the pattern to stderr
    options.max_mem = _MAX_PATTERN_MEMORY
    try:
        compiled = re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError):
        raise InvalidPattern("no pattern of RE2") from None
    if compiled.programsize > _MAX_PATTERN_STEPS:
        raise InvalidPattern("too large a pattern")
    return compiled

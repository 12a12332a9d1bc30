"""Decides by its name whether a file is a log, whose, and of which days it may be."""

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from agrajag.investigation.logs.lines import MAX_SERVICE

LONGEST_PERIOD = timedelta(days=32)
"""A file is named after the first or the last day of what it holds, or one between: a month, or less."""

_LOG = re.compile(r"\.(?:jsonl|ndjson|json|log)(?:[._-]\d[\dT._-]*)?\Z", re.ASCII)
_SUFFIX = re.compile(r"\.(?:jsonl|ndjson|json|log)\b", re.ASCII)
_DAY = re.compile(r"[._-]?(?<!\d)(20\d\d)-?([01]\d)-?([0-3]\d)(?:\d\d)?(?!\d)", re.ASCII)
_PACKED = ".gz"


class LogName(NamedTuple):
    """What a name says. `service` is whose log it is, as far as the lines do not say."""

    service: str | None
    day: datetime | None
    is_packed: bool

    def may_hold(self, since: datetime, until: datetime) -> bool:
        """Whether a file of this name can hold lines of the window."""
        if self.day is None:
            return True
        return self.day - LONGEST_PERIOD < until and since < self.day + timedelta(days=1) + LONGEST_PERIOD


def is_log(name: str) -> bool:
    """Whether a file of this name is read: `.jsonl`, `.ndjson`, `.json` or `.log`, rotated and packed ones too."""
    return _LOG.search(name.removesuffix(_PACKED)) is not None


def log_name(name: str) -> LogName:
    """What the name of a log says; folders before it say nothing."""
    last = name.rpartition("/")[2]
    service = _DAY.split(_SUFFIX.split(last)[0])[0].strip(" ._-")
    is_name = 0 < len(service) <= MAX_SERVICE and service.isprintable()
    return LogName(service if is_name else None, _day(last), last.endswith(_PACKED))


def _day(name: str) -> datetime | None:
    found = _DAY.search(name)
    if found is None:
        return None
    try:
        return datetime(int(found[1]), int(found[2]), int(found[3]), tzinfo=UTC)
    except ValueError:
        return None

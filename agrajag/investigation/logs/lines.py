"""Reads one line of a log: a JSON object of which four things are understood, and the rest is kept as it is.

A line that cannot be read, or does not say when it was written, is no line. What it says is anybody's text.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any, NamedTuple, TypeVar

import orjson

from agrajag.investigation.requests import LogLevel

MAX_SERVICE = 120
MAX_FIELDS = 50
_MAX_NAME = 4_096  # where it is shown, far less; a secret in it is recognised by less than that

T = TypeVar("T")

LEVEL_NAMES = {
    **dict.fromkeys(("trace", "debug", "fine", "finer", "finest", "verbose", "dbug", "d"), LogLevel.DEBUG),
    **dict.fromkeys(("info", "information", "informational", "notice", "config", "log", "i"), LogLevel.INFO),
    **dict.fromkeys(("warn", "warning", "w"), LogLevel.WARN),
    **dict.fromkeys(
        ("error", "err", "e", "fatal", "critical", "crit", "severe", "panic", "dpanic", "alert", "emerg", "emergency"),
        LogLevel.ERROR,
    ),
}  # fmt: skip
_SYSLOG_LEVELS = (*[LogLevel.ERROR] * 4, LogLevel.WARN, LogLevel.INFO, LogLevel.INFO, LogLevel.DEBUG)
_UNITS_PER_SECOND = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""From which size on a number counts nano-, micro- and milliseconds; one below counts seconds."""


@dataclass(frozen=True, slots=True)
class LogFields:
    """In which fields a line says what: the first of these that says it. A dot leads into an object, or is in a name.

    `zone` is that of times which do not name one.
    """

    time: Sequence[str] = ("time", "timestamp", "@timestamp", "ts", "datetime", "t")
    level: Sequence[str] = (
        "level",
        "severity",
        "log.level",
        "levelname",
        "lvl",
        "severityText",
        "severity_text",
    )
    service: Sequence[str] = (
        "service", "service.name", "service_name", "serviceName", "app", "application", "logger"
    )  # fmt: skip
    message: Sequence[str] = ("message", "msg", "log.message", "event", "body", "text", "log")
    zone: tzinfo = UTC


class Dated(NamedTuple):
    """A JSON object, when it was written, and which of its fields says so."""

    at: datetime
    values: Mapping[str, Any]
    time_field: str


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line as it was understood. `level` and `service` are None where it does not say, or nothing that is known."""

    at: datetime
    level: LogLevel | None
    service: str | None
    message: str
    fields: dict[str, Any]

    def as_item(self) -> dict[str, Any]:
        """The line as evidence: {time, level, service, message} and, where there are more, {fields}, which are flat."""
        item: dict[str, Any] = {
            "time": self.at.isoformat().replace("+00:00", "Z"),
            "level": None if self.level is None else self.level.value,
            "service": self.service,
            "message": self.message,
        }
        return {**item, "fields": _flat(self.fields)} if self.fields else item

    def texts(self) -> Iterator[str]:
        """Everything that the line says, however deep: its message first, then the values of its fields."""
        yield self.message
        waiting: list[Any] = [self.fields]
        while waiting:
            value = waiting.pop()
            if isinstance(value, str):
                yield value
            elif isinstance(value, Mapping):
                waiting += value.values()
            elif isinstance(value, list):
                waiting += value
            elif value is not None:
                yield str(value).lower()  # JSON's true, and numbers


def dated(raw: bytes, names: LogFields) -> Dated | None:
    """The object that a line is; None for one that is none, or does not say when it was written."""
    values = json_object(raw)
    found = None if values is None else _first(values, names.time, lambda value: instant(value, names.zone))
    return None if values is None or found is None else Dated(found[1], values, found[0])


def json_object(raw: bytes | str) -> dict[str, Any] | None:
    """A JSON object; None for everything else, such as what is too deep, no UTF-8, or holds NaN."""
    try:
        values = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    return values if isinstance(values, dict) else None


def read_record(record: Dated, names: LogFields, service: str | None = None) -> LogLine:
    """What the line says; it is of `service` where it does not name one itself.

    The fields that say when, how bad, whose and what are not repeated among the others.
    """
    level = _first(record.values, names.level, level_of)
    named = _first(record.values, names.service, service_of)
    message = _first(record.values, names.message, _said)
    used = {record.time_field, *(found[0] for found in (level, named, message) if found is not None)}
    return LogLine(
        record.at,
        None if level is None else level[1],
        service if named is None else named[1],
        "" if message is None else message[1],
        {name: value for name, value in record.values.items() if name not in used},
    )


def instant(value: Any, zone: tzinfo) -> datetime | None:
    """The time that a value means, in UTC: ISO 8601, or seconds, milli-, micro- or nanoseconds since 1970."""
    try:
        if isinstance(value, str):
            number = _number(value)
            if number is None:
                at = datetime.fromisoformat(value.strip())
                return (at.replace(tzinfo=zone) if at.tzinfo is None else at).astimezone(UTC)
            value = number
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        units = next((units for least, units in _UNITS_PER_SECOND if abs(value) >= least), 1)
        return datetime.fromtimestamp(value / units, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def level_of(value: Any) -> LogLevel | None:
    """The level that a value means: a name, or a number of syslog (0 to 7) or of bunyan and pino (10 to 60)."""
    if isinstance(value, str):
        known = LEVEL_NAMES.get(value.strip().lower())
        number = _number(value) if known is None else None
        return known if number is None else level_of(number)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if 0 <= value < len(_SYSLOG_LEVELS):
        return _SYSLOG_LEVELS[int(value)]
    if not 10 <= value <= 60:
        return None
    return (LogLevel.DEBUG, LogLevel.INFO, LogLevel.WARN, LogLevel.ERROR)[
        min(max(int(value // 10) - 2, 0), 3)
    ]


def service_of(value: Any) -> str | None:
    """The name of a service; None for what cannot be one."""
    if not isinstance(value, str):
        return None
    name = value.strip()
    return name if 0 < len(name) <= MAX_SERVICE and name.isprintable() else None


def _said(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if value is None:
        return None
    return orjson.dumps(_flat(value) if isinstance(value, dict | list) else value).decode()


def _flat(value: Mapping[str, Any] | list[Any]) -> dict[str, Any]:
    """The single values in it, each with the names that lead there, joined by dots; the first MAX_FIELDS of them.

    Whoever reads it has less room for depth than a line may have.
    """
    found: dict[str, Any] = {}
    waiting = _named("", value)
    while waiting and len(found) < MAX_FIELDS:
        name, inner = waiting.pop()
        if isinstance(inner, dict | list) and inner:
            waiting += _named(f"{name}.", inner)
        else:
            found[name] = inner
    return found


def _named(prefix: str, value: Mapping[str, Any] | list[Any]) -> list[tuple[str, Any]]:
    """What is in it, the first last."""
    inner = value.items() if isinstance(value, Mapping) else enumerate(value)
    return [(f"{prefix}{name}"[:_MAX_NAME], one) for name, one in inner][::-1]


def _number(text: str) -> float | None:
    bare = text.strip()
    if not bare or len(bare) > 32 or not bare.isascii() or not bare.replace(".", "", 1).isdigit():
        return None
    return float(bare)


def _first(
    record: Mapping[str, Any], names: Sequence[str], read: Callable[[Any], T | None]
) -> tuple[str, T] | None:
    """The first of these fields that can be read, with what it says."""
    for name in names:
        found = read(_at(record, name))
        if found is not None:
            return name, found
    return None


def _at(record: Mapping[str, Any], name: str) -> Any:
    if name in record:
        return record[name]
    value: Any = record
    for part in name.split("."):
        if not isinstance(value, dict) or part not in value:
            return None
        value = value[part]
    return value

"""How long a response asks to wait.

`Retry-After` holds seconds or an HTTP date (RFC 9110 §10.2.3). Rate-limit headers and bodies of the same purpose hold
seconds with fractions, a moment since 1970 in seconds or milliseconds, an ISO 8601 moment or duration, or a span such
as `1m30s`. All of these are told apart by their form unless a rule says which it is; what is none of them is None, and
the caller falls back.
"""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum

from agrajag.core.durations import parse_iso_duration

SHORTEST = timedelta(seconds=1)
_EPOCH_FROM = 1_000_000_000
_EPOCH_MS_FROM = 1_000_000_000_000
_NUMBER = re.compile(r"[+-]?\d{1,15}(?:\.\d{1,9})?", re.ASCII)
_SPAN = re.compile(
    r"(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m(?!s))?(?:(\d{1,9}(?:\.\d{1,9})?)s)?(?:(\d{1,9}(?:\.\d{1,9})?)ms)?",
    re.ASCII,
)
_WORDED_SPAN = re.compile(
    r"(?:(\d{1,6}) ?d(?:ays?)?[ ,]{0,2})?(?:(\d{1,6}) ?h(?:ours?|rs?)?[ ,]{0,2})?"
    r"(?:(\d{1,6}) ?m(?![si]l?l?s)(?:in(?:ute)?s?)?[ ,]{0,2})?"
    r"(?:(\d{1,9}(?:\.\d{1,9})?) ?s(?:ec(?:ond)?s?)?[ ,]{0,2})?"
    r"(?:(\d{1,9}(?:\.\d{1,9})?) ?m(?:illi)?s(?:ec(?:ond)?s?)?)?",
    re.ASCII,
)


class WaitUnit(StrEnum):
    """How a wait is written; AUTO tells by its form."""

    AUTO = "auto"
    MILLISECONDS = "milliseconds"
    SECONDS = "seconds"
    MINUTES = "minutes"
    HOURS = "hours"
    EPOCH_SECONDS = "epochSeconds"
    EPOCH_MILLISECONDS = "epochMilliseconds"
    HTTP_DATE = "httpDate"
    ISO8601 = "iso8601"
    DURATION = "duration"


_SECONDS_IN = {
    WaitUnit.MILLISECONDS: 0.001,
    WaitUnit.SECONDS: 1.0,
    WaitUnit.MINUTES: 60.0,
    WaitUnit.HOURS: 3600.0,
    WaitUnit.EPOCH_SECONDS: 1.0,
    WaitUnit.EPOCH_MILLISECONDS: 0.001,
}
_SINCE_1970 = (WaitUnit.EPOCH_SECONDS, WaitUnit.EPOCH_MILLISECONDS)


def wait_from_header(value: str, now: datetime, date: str | None = None) -> timedelta | None:
    """The wait that `value` asks for, at least one second, or None where it asks for nothing that can be read.

    A moment is measured from the response's own `date` header where that can be read, else from `now`, so that a server
    whose clock is wrong still gets the wait it meant. A moment that has passed, zero and negative numbers ask for the
    shortest wait. The caller caps the result.
    """
    return wait_from_text(value, WaitUnit.AUTO, answered_at(now, date))


def answered_at(now: datetime, date: str | None) -> datetime:
    """When the response was made by the clock of whoever made it: its `date` header, else `now`."""
    return (_moment(date.strip()) if date else None) or now


def wait_from_text(value: str, unit: WaitUnit, start: datetime) -> timedelta | None:
    """The wait after `start` that `value` asks for in a unit, at least one second; None where it states none."""
    text = value.strip()
    if unit is WaitUnit.AUTO:
        if _NUMBER.fullmatch(text):
            return _from_number(float(text), start)
        moment = _moment(text)
        return max(moment - start, SHORTEST) if moment is not None else _from_span(text, _SPAN)
    if (seconds_in := _SECONDS_IN.get(unit)) is not None:
        if _NUMBER.fullmatch(text) is None:
            return None
        seconds = float(text) * seconds_in - (start.timestamp() if unit in _SINCE_1970 else 0.0)
        return timedelta(seconds=max(seconds, SHORTEST.total_seconds())) if seconds < 2**38 else None
    if unit is WaitUnit.DURATION:
        return _from_span(text, _WORDED_SPAN)
    moment = _iso_moment(text) if unit is WaitUnit.ISO8601 else _http_date(text)
    return None if moment is None else max(moment - start, SHORTEST)


def _from_number(number: float, start: datetime) -> timedelta | None:
    if number <= 0:
        return SHORTEST
    if number >= _EPOCH_MS_FROM:
        number /= 1000
    if number >= _EPOCH_FROM:
        return max(timedelta(seconds=number - start.timestamp()), SHORTEST) if number < 2**38 else None
    return max(timedelta(seconds=number), SHORTEST)


def _from_span(text: str, form: re.Pattern[str]) -> timedelta | None:
    span = parse_iso_duration(text.upper())
    if span is None:
        span = _span(text.lower(), form)
    return None if span is None else max(span, SHORTEST)


def _moment(text: str) -> datetime | None:
    return _iso_moment(text) or _http_date(text)


def _iso_moment(text: str) -> datetime | None:
    try:
        return _with_zone(datetime.fromisoformat(text.upper()))
    except (ValueError, OverflowError):
        return None


def _http_date(text: str) -> datetime | None:
    try:
        return _with_zone(parsedate_to_datetime(text))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _with_zone(moment: datetime) -> datetime:
    """RFC 9110 dates are GMT; a date that names no zone, as asctime's, is read so."""
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _span(text: str, form: re.Pattern[str]) -> timedelta | None:
    found = form.fullmatch(text)
    if found is None or not text:
        return None
    days, hours, minutes, seconds, milliseconds = (float(amount or 0) for amount in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds, milliseconds=milliseconds)

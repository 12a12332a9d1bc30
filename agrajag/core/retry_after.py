"""How long a response header asks to wait.

`Retry-After` holds seconds or an HTTP date (RFC 9110 §10.2.3). Rate-limit headers of the same purpose hold seconds with
fractions, a moment since 1970 in seconds or milliseconds, an ISO 8601 moment or duration, or a span such as
`1m30s`. All of these are read; what is none of them is None, and the caller falls back to the default of its class.
"""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from agrajag.core.durations import parse_iso_duration

SHORTEST = timedelta(seconds=1)
_EPOCH_FROM = 1_000_000_000
_EPOCH_MS_FROM = 1_000_000_000_000
_NUMBER = re.compile(r"[+-]?\d{1,15}(?:\.\d{1,9})?", re.ASCII)
_SPAN = re.compile(
    r"(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m(?!s))?(?:(\d{1,9}(?:\.\d{1,9})?)s)?(?:(\d{1,9}(?:\.\d{1,9})?)ms)?",
    re.ASCII,
)


def wait_from_header(value: str, now: datetime, date: str | None = None) -> timedelta | None:
    """The wait that `value` asks for, at least one second, or None where it asks for nothing that can be read.

    A moment is measured from the response's own `date` header where that can be read, else from `now`, so that a server
    whose clock is wrong still gets the wait it meant. A moment that has passed, zero and negative numbers ask for the
    shortest wait. The caller caps the result.
    """
    text = value.strip()
    start = (_moment(date.strip()) if date else None) or now
    if _NUMBER.fullmatch(text):
        return _from_number(float(text), start)
    moment = _moment(text)
    if moment is not None:
        return max(moment - start, SHORTEST)
    span = parse_iso_duration(text.upper())
    if span is None:
        span = _span(text.lower())
    return None if span is None else max(span, SHORTEST)


def _from_number(number: float, start: datetime) -> timedelta | None:
    if number <= 0:
        return SHORTEST
    if number >= _EPOCH_MS_FROM:
        number /= 1000
    if number >= _EPOCH_FROM:
        return max(timedelta(seconds=number - start.timestamp()), SHORTEST) if number < 2**38 else None
    return max(timedelta(seconds=number), SHORTEST)


def _moment(text: str) -> datetime | None:
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = parse(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        # RFC 9110 dates are GMT; a date that names no zone, as asctime's, is read so.
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return None


def _span(text: str) -> timedelta | None:
    found = _SPAN.fullmatch(text)
    if found is None or not text:
        return None
    days, hours, minutes, seconds, milliseconds = (float(amount or 0) for amount in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds, milliseconds=milliseconds)

"""Which time an event happened at, for decisions.

Decisions use the event's own time, not the worker's clock, so that doing one again gives the same result.
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

MAX_EVENT_AGE = timedelta(hours=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=64)
def appended_at(timestamp_ms: int) -> datetime:
    """When the broker appended a record; those of one batch have it in common. OverflowError beyond year 9999."""
    return EPOCH + timedelta(milliseconds=timestamp_ms)


def milliseconds(moment: datetime) -> datetime:
    """`moment` in UTC, cut to milliseconds: the precision of the broker and of the store."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    excess = moment.microsecond % 1000
    return moment.replace(microsecond=moment.microsecond - excess) if excess else moment


def event_time(occurred_at: datetime | None, appended_at: datetime) -> datetime:
    """`occurred_at`, held between one hour before the broker appended the record and that moment.

    A producer's clock can so be wrong by years without a deadline in the far future. Without `occurred_at` it is the
    append time.
    """
    if occurred_at is None or occurred_at >= appended_at:
        return milliseconds(appended_at)
    earliest = appended_at - MAX_EVENT_AGE
    return milliseconds(occurred_at if occurred_at > earliest else earliest)


def time_words(moment: datetime, now: datetime) -> str:
    """`14:05 UTC` where that is the day of `now` in UTC, with the date on any other day."""
    moment = moment.astimezone(UTC)
    same_day = moment.date() == now.astimezone(UTC).date()
    return moment.strftime("%H:%M UTC" if same_day else "%Y-%m-%d %H:%M UTC")

"""The time an event counts as: its own, within reason."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agrajag.core.times import MAX_EVENT_AGE, event_time, milliseconds
from tests.builders import NOW

_ZONES = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes)))
_ANY_TIMES = st.datetimes(timezones=_ZONES)
_APPENDED = st.datetimes(datetime(2000, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)).map(  # noqa: DTZ001
    milliseconds
)
_FIRST = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
_LAST = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=timezone(timedelta(hours=-14)))


@given(_ANY_TIMES, _APPENDED)
@example(_FIRST, NOW)
@example(_LAST, NOW)
def test_an_event_always_counts_as_between_an_hour_before_its_append_and_that(
    occurred: datetime, appended: datetime
) -> None:
    assert appended - MAX_EVENT_AGE <= event_time(occurred, appended) <= appended


@given(_APPENDED, st.timedeltas(timedelta(0), MAX_EVENT_AGE), _ZONES)
def test_a_believable_time_is_taken_as_it_is_to_the_millisecond(
    appended: datetime, age: timedelta, zone: timezone
) -> None:
    occurred = (appended - age).astimezone(zone)
    assert timedelta(0) <= occurred - event_time(occurred, appended) < timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("occurred", "expected"),
    [
        (None, NOW),
        (NOW, NOW),
        (NOW + timedelta(days=1), NOW),
        (NOW - timedelta(minutes=59), NOW - timedelta(minutes=59)),
        (NOW - timedelta(hours=1), NOW - timedelta(hours=1)),
        (NOW - timedelta(hours=2), NOW - timedelta(hours=1)),
        (_FIRST, NOW - timedelta(hours=1)),
        (_LAST, NOW),
    ],
)
def test_an_event_time_is_clamped(occurred: datetime | None, expected: datetime) -> None:
    assert event_time(occurred, NOW) == expected


def test_an_event_time_is_in_utc_whatever_the_zone_of_the_producer() -> None:
    zone = timezone(timedelta(hours=5, minutes=45))
    assert event_time(NOW.astimezone(zone) - timedelta(minutes=1), NOW).tzinfo is UTC


@given(_APPENDED, st.integers(0, 999_999))
def test_a_moment_is_cut_to_milliseconds_and_never_rounded_up(moment: datetime, microsecond: int) -> None:
    exact = moment.replace(microsecond=microsecond)
    cut = milliseconds(exact)
    assert cut.microsecond % 1000 == 0
    assert timedelta(0) <= exact - cut < timedelta(milliseconds=1)
    assert milliseconds(cut) == cut

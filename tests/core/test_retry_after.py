"""Every form in which servers say how long to wait, and what none of them is."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agrajag.core.retry_after import SHORTEST, wait_from_header
from tests.builders import NOW

_EPOCH = int(NOW.timestamp())


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        (" 120 ", 120),
        ("+120", 120),
        ("1.5", 1.5),
        ("0", 1),
        ("0.2", 1),
        ("-30", 1),
        ("86400", 86_400),
        ("Sat, 23 May 2026 12:00:30 GMT", 30),
        ("Sat, 23 May 2026 14:00:30 +0200", 30),
        ("Saturday, 23-May-26 12:00:30 GMT", 30),
        ("Sat May 23 12:00:30 2026", 30),
        ("Sat, 23 May 2026 11:00:00 GMT", 1),
        ("2026-05-23T12:01:00Z", 60),
        ("2026-05-23T14:01:00+02:00", 60),
        ("2026-05-23T12:01:00", 60),
        ("2026-05-23T11:00:00Z", 1),
        (str(_EPOCH + 90), 90),
        (f"{_EPOCH + 90}.5", 90.5),
        (str((_EPOCH + 90) * 1000), 90),
        (str(_EPOCH - 90), 1),
        ("PT2M", 120),
        ("pt2m", 120),
        ("PT0S", 1),
        ("P1D", 86_400),
        ("30s", 30),
        ("1m30s", 90),
        ("2h", 7_200),
        ("1d", 86_400),
        ("1H2M3S", 3_723),
        ("6.5s", 6.5),
        ("1500ms", 1.5),
        ("20ms", 1),
        ("0s", 1),
    ],
)
def test_a_wait_is_read_in_every_form_and_is_at_least_a_second(value: str, seconds: float) -> None:
    assert wait_from_header(value, NOW) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "value",
    [
        "", " ", "soon", "never", "1 minute", "12,5", "120, 60", "1e9", "nan", "inf", "-inf", "0x10", "１２０",
        "ms", "s", "--5",
        "9" * 16, "9" * 5_000, "-" + "9" * 16, "P1Y", "PT", "Sat, 99 May 2026 12:00:00 GMT", "2026-13-01T00:00:00Z",
        "Mon, 01 Jan 2024 00:00:00 +9999999999999999999", "Mon, 01 Jan 99999999999 00:00:00 GMT",
        "\x00", "\ud800", "1m2m",
    ],
    ids=lambda value: ascii(value)[:30],
)  # fmt: skip
def test_what_asks_for_nothing_that_can_be_read_is_none(value: str) -> None:
    assert wait_from_header(value, NOW) is None


def test_a_moment_is_measured_by_the_clock_of_the_server_that_named_it() -> None:
    ahead = format_datetime(NOW + timedelta(hours=3), usegmt=True)
    until = format_datetime(NOW + timedelta(hours=3, minutes=1), usegmt=True)
    assert wait_from_header(until, NOW, ahead) == timedelta(minutes=1)
    assert wait_from_header(str(_EPOCH + 10_860), NOW, ahead) == timedelta(minutes=1)


@pytest.mark.parametrize("date", ["", "yesterday", "99", None])
def test_a_date_that_cannot_be_read_is_not_used(date: str | None) -> None:
    assert wait_from_header("2026-05-23T12:01:00Z", NOW, date) == timedelta(minutes=1)


def test_a_number_of_seconds_does_not_depend_on_any_clock() -> None:
    assert wait_from_header("60", NOW, "Sat, 23 May 1970 12:00:00 GMT") == timedelta(minutes=1)


_PIECES = st.sampled_from(
    ["Sat, ", "23 ", "May ", "2026 ", "99999 ", "0001", "12:00:00", " GMT", " +9999", "-", "T", "Z", "P", "1", "e", ".",
     "00", ":", "d", "h", "m", "s", "ms", "W21", "+23:59", "-24:00", "24:00"]
)  # fmt: skip
_VALUES = (
    st.text() | st.lists(_PIECES, max_size=10).map("".join) | st.integers().map(str) | st.floats().map(str)
)
_MOMENTS = st.datetimes(datetime(1970, 1, 2), datetime(9999, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(_VALUES, _MOMENTS, st.none() | _VALUES)
@example("-86399999913601", NOW, None)
def test_no_header_makes_it_raise_and_a_wait_is_always_at_least_a_second(
    value: str, now: datetime, date: str | None
) -> None:
    wait = wait_from_header(value, now, date)
    assert wait is None or wait >= SHORTEST


@given(st.integers(1, 10**5))
def test_the_same_wait_comes_out_of_every_form(seconds: int) -> None:
    until = NOW + timedelta(seconds=seconds)
    forms = [
        str(seconds), f"PT{seconds}S", f"{seconds}s", f"{seconds}000ms", str(_EPOCH + seconds),
        str((_EPOCH + seconds) * 1000), format_datetime(until, usegmt=True), until.isoformat(),
    ]  # fmt: skip
    assert {wait_from_header(form, NOW) for form in forms} == {timedelta(seconds=seconds)}

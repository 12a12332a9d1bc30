"""ISO 8601 durations of fixed length, as rules and headers write them."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.durations import LONGEST, parse_iso_duration, span_words


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("PT5M", timedelta(minutes=5)),
        ("PT24H", timedelta(hours=24)),
        ("PT1H30M", timedelta(hours=1, minutes=30)),
        ("PT0.5S", timedelta(milliseconds=500)),
        ("PT0,5S", timedelta(milliseconds=500)),
        ("PT1.5H", timedelta(minutes=90)),
        ("P1D", timedelta(days=1)),
        ("P1W", timedelta(weeks=1)),
        ("P1DT12H", timedelta(hours=36)),
        ("P1W2DT3H4M5S", timedelta(weeks=1, days=2, hours=3, minutes=4, seconds=5)),
        ("PT0S", timedelta(0)),
        ("P366D", LONGEST),
        ("PT31622400S", LONGEST),
    ],
)
def test_a_duration_of_fixed_length_is_read(text: str, span: timedelta) -> None:
    assert parse_iso_duration(text) == span


@pytest.mark.parametrize(
    "text",
    [
        "", "P", "PT", "P1DT", "5M", "PT5", "T5M", "P5M", "P1Y", "P1M", "PT5M ", " PT5M", "PT5M\n", "pt5m", "-PT5M",
        "+PT5M", "PT-5M", "PT5M5H", "PT1H1H", "PT.5S", "PT5.S", "PT٥M", "P367D", "P999999W", "PT999999H", "PT1e3S",
        "P1D5H", "PT" + "9" * 5_000 + "S", "P" * 60_000, "PT1H" * 20_000, "header:retry-after", "300",
    ],
    ids=lambda text: text[:20] or "empty",
)  # fmt: skip
def test_what_states_no_duration_or_one_above_a_year_is_none(text: str) -> None:
    assert parse_iso_duration(text) is None


@given(st.text(st.sampled_from("PTWDHMS0123456789.,"), max_size=30) | st.text())
def test_no_text_makes_it_raise_and_no_span_is_out_of_bounds(text: str) -> None:
    span = parse_iso_duration(text)
    assert span is None or timedelta(0) <= span <= LONGEST


@given(st.integers(0, 5_000), st.integers(0, 99), st.integers(0, 99))
def test_hours_minutes_and_seconds_add_up(hours: int, minutes: int, seconds: int) -> None:
    expected = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    assert parse_iso_duration(f"PT{hours}H{minutes}M{seconds}S") == expected


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (timedelta(seconds=30), "30 s"),
        (timedelta(minutes=5), "5 min"),
        (timedelta(hours=1, minutes=30, seconds=1), "1 h 30 min 1 s"),
        (timedelta(hours=24), "24 h"),
        (timedelta(days=3), "72 h"),
        (timedelta(milliseconds=250), "0.25 s"),
        (timedelta(0), "0 s"),
    ],
)
def test_a_span_is_told_in_hours_minutes_and_seconds(span: timedelta, words: str) -> None:
    assert span_words(span) == words

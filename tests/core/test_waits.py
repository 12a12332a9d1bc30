"""Where a response says how long to wait, in which unit, from when, and within which bounds."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.cooldown import span_for, stated_span
from agrajag.core.policy import Policy
from agrajag.core.retry_after import WaitUnit, wait_from_text
from agrajag.core.rule_parsing import parse_layer
from agrajag.core.rules import Rule
from tests.builders import NOW, features_of

_DATE = "Thu, 01 Jan 2026 00:00:00 GMT"


def _rule(cooldown: object) -> Rule:
    entry = {"id": "r", "match": {}, "signature": "r", "classification": "INTERMITTENT", "cooldown": cooldown}
    layer = parse_layer({"patterns": [entry]}, "rules.yaml")
    assert layer.problems == ()
    return layer.rules[0]


def _seconds(cooldown: object, **error: Any) -> float | None:
    span = stated_span(_rule(cooldown), features_of(**error), NOW)
    return None if span is None else span.total_seconds()


@pytest.mark.parametrize(
    ("value", "unit", "seconds"),
    [
        ("17", "seconds", 17), ("0.5", "seconds", 1), ("-3", "seconds", 1), ("8605", "milliseconds", 8.605),
        ("2", "minutes", 120), ("1.5", "hours", 5400), ("1767226500", "epochSeconds", 900),
        ("1767226500000", "epochMilliseconds", 900), ("1500000000", "epochSeconds", 1),
        ("Thu, 01 Jan 2026 00:02:00 GMT", "httpDate", 120), ("Thursday, 01-Jan-26 00:02:00 GMT", "httpDate", 120),
        ("2026-01-01T00:05Z", "iso8601", 300), ("2026-01-01 00:05:00", "iso8601", 300), ("1m30s", "duration", 90),
        ("PT1M", "duration", 60), ("2 minutes, 5 seconds", "duration", 125), ("20ms", "duration", 1),
        ("1 hour", "duration", 3600), ("3 days", "duration", 259200), ("1500 milliseconds", "duration", 1.5),
        ("17", "auto", 17), ("1767226500", "auto", 900), ("2026-01-01T00:05Z", "auto", 300), ("6m0s", "auto", 360),
        ("soon", "seconds", None), ("17", "httpDate", None), ("17", "duration", None), ("1m", "seconds", None),
        ("9" * 15, "hours", None), ("", "duration", None), ("1 fortnight", "duration", None),
    ],
)  # fmt: skip
def test_a_wait_is_read_in_the_unit_that_the_rule_names(value: str, unit: str, seconds: float | None) -> None:
    place = {"header": "X-Reset", "unit": unit}
    assert _seconds(place, headers={"x-reset": value, "date": _DATE}) == seconds


def test_a_moment_counts_from_now_where_the_response_has_no_date() -> None:
    epoch = str(int(NOW.timestamp()) + 40)
    assert _seconds({"header": "x", "unit": "epochSeconds"}, headers={"x": epoch}) == 40


@pytest.mark.parametrize(
    ("place", "body", "seconds"),
    [
        ({"body": "error.data.retryAfter", "unit": "seconds"}, '{"error": {"data": {"retryAfter": 5}}}', 5),
        ({"body": "retry_after"}, '{"retry_after": 64.57}', 64.57),
        ({"body": "retry_after", "unit": "milliseconds"}, '{"retry_after": 8605}', 8.605),
        ({"body": "parameters.retry_after"}, '{"parameters": {"retry_after": "35"}}', 35),
        ({"body": "retry_after"}, "slow down: {\"retry_after\": 7}", 7),
        ({"body": "details[].retryDelay"}, '{"details": [{"x": 1}, {"retryDelay": "41s"}]}', 41),
        ({"body": "retry_after"}, '{"retry_after": {"in": 7}}', None),
        ({"bodyMatches": "try again in ([0-9.]+) ?s", "unit": "seconds"}, "Please Try again in 60 seconds.", 60),
        ({"bodyMatches": "try again in ([0-9a-z.]+)", "unit": "duration"}, "Please try again in 1m2.5s", 62.5),
        ({"bodyMatches": "after (.+Z)", "unit": "iso8601"}, "not before, after 2026-05-23T12:00:30Z", 30),
        ({"bodyMatches": "try again in (x)?y", "unit": "seconds"}, "try again in y", None),
    ],
)  # fmt: skip
def test_a_wait_is_read_from_json_or_from_words(place: object, body: str, seconds: float | None) -> None:
    assert _seconds(place, body=body) == seconds


@pytest.mark.parametrize(
    ("at", "zone", "date", "seconds"),
    [
        ("00:00", "UTC", "Thu, 01 Jan 2026 23:59:00 GMT", 60),
        ("00:00", "UTC", "Thu, 01 Jan 2026 00:00:00 GMT", 86_400),
        ("00:00", "America/Los_Angeles", "Thu, 01 Jan 2026 07:00:00 GMT", 3_600),
        ("00:00", "America/Los_Angeles", "Thu, 02 Jul 2026 06:00:00 GMT", 3_600),
        # On this day clocks there go forward at 2:00, so its midnights are 23 hours apart.
        ("00:00", "America/Los_Angeles", "Sun, 08 Mar 2026 08:00:00 GMT", 23 * 3_600),
        ("12:30", "UTC", "Thu, 01 Jan 2026 12:29:59 GMT", 1),
    ],
)
def test_a_daily_reset_is_the_next_such_hour_there(at: str, zone: str, date: str, seconds: float) -> None:
    assert _seconds({"resetsAt": at, "zone": zone}, headers={"date": date}) == seconds


def test_the_first_place_that_says_a_wait_counts_else_what_the_rule_states_else_the_class() -> None:
    places: list[object] = ["header:retry-after", {"header": "x", "unit": "seconds"}, {"body": "wait"}]
    assert _seconds(places, headers={"retry-after": "5", "x": "6"}) == 5
    assert _seconds(places, headers={"retry-after": "soon", "x": "6"}) == 6
    assert _seconds(places, body='{"wait": 7}') == 7
    assert _seconds(places) is None
    assert _seconds([*places, "PT1M"]) == 60
    assert _seconds({"header": "x", "else": "PT2M"}) == 120
    assert _seconds({"header": "x", "else": "PT2M"}, headers={"x": "9"}) == 9
    assert span_for(_rule(places), 1, features_of(), NOW, Policy()) == timedelta(seconds=30)


def test_the_bounds_of_the_rule_hold_for_what_the_response_asks_and_the_policys_for_all() -> None:
    place = {"header": "x", "min": "PT10S", "max": "PT1H", "else": "PT2H"}
    assert _seconds(place, headers={"x": "3"}) == 10
    assert _seconds(place, headers={"x": "86400"}) == 3_600
    assert _seconds(place) == 7_200
    rule, features = _rule({"header": "x"}), features_of(headers={"x": "9999999"})
    assert span_for(rule, 1, features, NOW, Policy()) == timedelta(hours=24)


@pytest.mark.parametrize(
    ("cooldown", "field", "reason"),
    [
        ({}, "cooldown", "must name one of header"),
        ({"header": "a", "body": "b"}, "cooldown", "must name one of header"),
        ({"header": "a", "unit": "weeks"}, "cooldown.unit", "'weeks' is none of auto"),
        ({"header": "a", "zone": "UTC"}, "cooldown.zone", "unknown field"),
        ({"header": 7}, "cooldown.header", "is not a text"),
        ({"body": "a..b"}, "cooldown.body", "is no path"),
        ({"bodyMatches": "again"}, "cooldown.bodyMatches", "must have one group"),
        ({"bodyMatches": "(a)(b)"}, "cooldown.bodyMatches", "it has 2"),
        ({"bodyMatches": "("}, "cooldown.bodyMatches", "is no RE2 pattern"),
        ({"resetsAt": "24:00"}, "cooldown.resetsAt", "is no time of the day"),
        ({"resetsAt": 750}, "cooldown.resetsAt", "is no time of the day"),
        ({"resetsAt": "00:00", "zone": "Mars/Olympus"}, "cooldown.zone", "is no time zone"),
        ({"resetsAt": "00:00", "zone": "../etc"}, "cooldown.zone", "is no time zone"),
        ({"header": "a", "min": "5s"}, "cooldown.min", "no positive"),
        ({"header": "a", "min": "PT5S", "max": "PT4S"}, "cooldown.max", "is shorter than min"),
        ({"header": "a", "else": 5}, "cooldown.else", "no positive"),
        (["PT1M", {"header": "a"}], "cooldown[1]", "is never asked"),
        ([{"header": "a", "else": "PT1M"}, "PT2M"], "cooldown[1]", "is never asked"),
        ([], "cooldown", "a list of one to"),
        ([{"header": "a"}] * 13, "cooldown", "a list of one to"),
    ],
)  # fmt: skip
def test_a_cooldown_that_cannot_be_meant_rejects_the_rule(cooldown: object, field: str, reason: str) -> None:
    entry = {"id": "r", "match": {}, "signature": "r", "classification": "UNCLEAR", "cooldown": cooldown}
    layer = parse_layer({"patterns": [entry]}, "rules.yaml")
    assert layer.rules == ()
    assert layer.problems[0].field == field
    assert reason in layer.problems[0].reason


@given(
    st.text(max_size=20) | st.from_regex(r"\A-?[0-9]{1,16}(\.[0-9]+)?( ?[a-z]{1,8})?\Z"),
    st.sampled_from(WaitUnit),
    st.datetimes(timezones=st.just(UTC)),
)
def test_any_value_in_any_unit_at_any_time_is_a_wait_of_a_second_or_more_or_none(
    value: str, unit: WaitUnit, start: datetime
) -> None:
    wait = wait_from_text(value, unit, start)
    assert wait is None or wait >= timedelta(seconds=1)

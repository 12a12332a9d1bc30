"""Which lines answer a request, and which of them are kept."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.investigation.logs.lines import LogLine
from agrajag.investigation.logs.search import Fit, InvalidPattern, LogSearch, Newest
from agrajag.investigation.requests import LogLevel
from tests.investigation.logs.folders import NOON, asking, at

LINE = LogLine(
    NOON, LogLevel.WARN, "Orders", "connect ECONNREFUSED 10.0.0.1", {"error": {"code": 502}, "tag": "超时"}
)


@pytest.mark.parametrize(
    ("asked", "fit"),
    [
        ({}, Fit.FITS),
        ({"since": 0}, Fit.FITS),
        ({"until": 0}, Fit.NOT),
        ({"service": "orders"}, Fit.FITS),
        ({"service": "payments"}, Fit.NOT),
        ({"level": LogLevel.WARN}, Fit.FITS),
        ({"level": LogLevel.ERROR}, Fit.NOT),
        ({"contains": "ECONNREFUSED 10"}, Fit.FITS),
        ({"contains": "econnrefused"}, Fit.NOT),
        ({"contains": "超时"}, Fit.FITS),
        ({"contains": "502"}, Fit.FITS),
        ({"contains": "10.0*"}, Fit.NOT),
        ({"pattern": r"^connect E\w+"}, Fit.FITS),
        ({"pattern": "(?i)econn"}, Fit.FITS),
        ({"pattern": r"^5\d\d$"}, Fit.FITS),
        ({"pattern": "^refused"}, Fit.NOT),
    ],
)
def test_a_line_fits_in_time_service_level_and_text(asked: dict[str, Any], fit: Fit) -> None:
    assert LogSearch(asking(**asked)).fit(LINE) is fit


def test_a_line_without_a_level_is_told_apart_where_a_level_is_asked_for() -> None:
    line = LogLine(NOON, None, None, "hello", {})

    assert LogSearch(asking(level=LogLevel.DEBUG)).fit(line) is Fit.UNLEVELLED
    assert LogSearch(asking(level=LogLevel.DEBUG, contains="other")).fit(line) is Fit.NOT
    assert LogSearch(asking()).fit(line) is Fit.FITS


@pytest.mark.parametrize(
    "pattern", ["(", "a{1001}", r"(a)\1", "(?=a)", "((a{100}){100}){100}", "((a?b?c?){30}){30}x$"]
)
def test_what_is_no_pattern_of_re2_is_refused_without_a_word_of_it(
    pattern: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InvalidPattern) as refused:
        LogSearch(asking(pattern=pattern))

    assert pattern not in str(refused.value)
    assert capfd.readouterr() == ("", "")


def test_a_pattern_that_would_never_end_elsewhere_takes_linear_time() -> None:
    line = LogLine(NOON, None, None, "a" * 200_000, {})

    assert LogSearch(asking(pattern="(a*)*$x|(a+)+b")).fit(line) is Fit.NOT


@given(st.lists(st.integers(0, 20), max_size=40), st.integers(1, 10))
def test_the_newest_are_always_kept_whatever_the_order_in_which_they_come(
    minutes: list[int], limit: int
) -> None:
    lines = [
        (LogLine(at(minute), None, None, str(place), {}), ("file", place))
        for place, minute in enumerate(minutes)
    ]
    newest = Newest(limit)
    for line, place in sorted(lines, key=lambda pair: (pair[1][1] * 7) % 11):
        newest.add(line, place)

    best = sorted(lines, key=lambda pair: (pair[0].at, pair[1]), reverse=True)
    assert newest.lines == [line for line, _ in best[:limit]]
    assert newest.is_more is (len(lines) > limit)
    assert newest.floor is None or all(line.at >= newest.floor - timedelta(0) for line in newest.lines)

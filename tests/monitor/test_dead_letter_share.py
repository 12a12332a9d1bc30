"""Which starts are bad ones, and how the share of the last minutes is kept."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.metrics import DEAD_LETTERS, EVENTS, REGISTRY
from agrajag.monitor.dead_letter_share import (
    BadStart,
    Tally,
    bad_start,
    counted,
    recent_share,
    watch_dead_letters,
)
from agrajag.wire.reasons import DeadLetterReason
from agrajag.wire.topics import Topic

LIMITS = BadStart(seconds=120.0, share=0.5, records=100)
FIRST = Tally(1_000.0, 50, 40)  # what this process counted before the start


def judged(seconds: float, read: int, aside: int, limits: BadStart = LIMITS) -> str | None:
    return bad_start(FIRST, Tally(FIRST.at + seconds, FIRST.read + read, FIRST.aside + aside), limits)


def test_more_than_the_share_of_enough_records_is_a_bad_start_and_says_what_to_do() -> None:
    told = judged(10, 100, 51)
    assert told is not None
    assert told.startswith("51 of the first 100 records after the start were set aside as dead letters")
    assert "agrajag dlq list" in told


def test_a_start_is_good_with_few_records_or_few_dead_letters_or_once_it_is_over() -> None:
    assert judged(10, 99, 99) is None
    assert judged(10, 100, 50) is None
    assert judged(121, 100, 100) is None


@given(st.floats(0, 1e6), st.integers(0, 10_000), st.integers(0, 10_000))
def test_zero_seconds_stand_for_never(seconds: float, read: int, aside: int) -> None:
    assert judged(seconds, read, aside, LIMITS._replace(seconds=0.0)) is None


def test_the_recent_share_is_of_what_came_in_between() -> None:
    assert recent_share([Tally(0, 10, 10)]) == 0
    assert recent_share([Tally(0, 10, 10), Tally(1, 10, 10)]) == 0
    assert recent_share([Tally(0, 10, 10), Tally(1, 20, 10), Tally(2, 50, 40)]) == 0.75


async def test_the_watch_ends_at_a_bad_start_and_keeps_the_metric() -> None:
    tallies = iter([FIRST, Tally(1_001.0, 100, 70), Tally(1_002.0, 250, 240)])
    told = await asyncio.wait_for(watch_dead_letters(LIMITS, lambda: next(tallies)), 10)
    assert told.startswith("200 of the first 200 records")
    assert REGISTRY.get_sample_value("agrajag_dead_letter_share") == 1.0


async def test_the_watch_forgets_what_is_older_than_five_minutes() -> None:
    def last() -> Tally:
        if not tallies:
            raise LookupError
        return tallies.pop(0)

    tallies = [Tally(0.0, 0, 0), Tally(200.0, 100, 100), Tally(501.0, 200, 100)]
    with pytest.raises(LookupError):
        await asyncio.wait_for(watch_dead_letters(BadStart(), last), 10)
    assert REGISTRY.get_sample_value("agrajag_dead_letter_share") == 0


def test_all_topics_and_reasons_are_counted() -> None:
    before = counted()
    EVENTS.labels(Topic.TOOL_CALL_ERRORS).inc(5)
    EVENTS.labels(Topic.HEALTH_COMMANDS).inc(2)
    DEAD_LETTERS.labels(Topic.TOOL_CALL_ERRORS, DeadLetterReason.NOT_JSON).inc()
    DEAD_LETTERS.labels(Topic.HEALTH_COMMANDS, DeadLetterReason.NO_VALUE).inc()
    now = counted()
    assert (now.read - before.read, now.aside - before.aside) == (7, 2)

"""After a refusal exactly one call of a process passes first, whatever happens to it."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from hypothesis import given
from hypothesis import strategies as st

from agrajag.client.half_open import FAILED_SECONDS, TRY_SECONDS, Entered, HalfOpen
from agrajag.core.admission import Ended
from agrajag.core.lookup import Caller
from agrajag.metrics import GUARD_TRIES
from tests.builders import NOW
from tests.wire.records import counting

SEARCH, FETCH = Ended("acme|PROJECT|essays|search", None, NOW), Ended("acme|TENANT|acme|fetch", None, NOW)
ALICE, BOB = (Caller("acme", "essays", "alice"), "search"), (Caller("acme", "essays", "bob"), "search")
TRIES, PASSES = Entered(is_try=True), Entered()


def test_the_others_wait_until_the_one_has_worked_and_then_all_pass() -> None:
    half_open = HalfOpen()
    assert half_open.enter([SEARCH], ALICE, 0.0) == TRIES
    assert half_open.enter([SEARCH], BOB, 10.0) == Entered(wait_seconds=TRY_SECONDS - 10)
    assert half_open.enter([FETCH], BOB, 10.0) == TRIES, "another tool is another matter"
    half_open.ended(ALICE, True, 11.0)
    assert half_open.enter([SEARCH], BOB, 11.0) == PASSES


def test_when_the_one_has_failed_another_tries_a_little_later() -> None:
    half_open = HalfOpen()
    half_open.enter([SEARCH], ALICE, 0.0)
    half_open.ended(BOB, True, 1.0)
    assert half_open.enter([SEARCH], BOB, 1.0).wait_seconds, "it was not Bob's to say"
    half_open.ended(ALICE, False, 2.0)
    assert half_open.enter([SEARCH], ALICE, 2.0) == Entered(wait_seconds=FAILED_SECONDS)
    assert half_open.enter([SEARCH], BOB, 2.0 + FAILED_SECONDS) == TRIES


def test_one_of_which_nothing_is_heard_frees_itself_and_is_counted() -> None:
    half_open = HalfOpen()
    half_open.enter([SEARCH], ALICE, 0.0)
    with counting(GUARD_TRIES, end="abandoned") as abandoned:
        assert half_open.enter([SEARCH], BOB, TRY_SECONDS) == TRIES
        assert abandoned() == 1


def test_a_call_that_depends_on_two_tries_both_or_waits_for_both() -> None:
    half_open = HalfOpen()
    half_open.enter([FETCH], BOB, 0.0)
    assert half_open.enter([SEARCH, FETCH], ALICE, 1.0).wait_seconds is not None
    assert half_open.enter([SEARCH], BOB, 1.0) == TRIES, "whoever waits holds nothing back"


_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["enter", "worked", "failed"]),
        st.sampled_from([ALICE, BOB]),
        st.sampled_from([0.0, 1.0, 4.9, 12.0]),
    ),
    max_size=30,
)


@given(_STEPS)
def test_two_never_try_at_once(steps: list[tuple[str, tuple[Caller, str], float]]) -> None:
    half_open, now = HalfOpen(), 0.0
    trying: dict[tuple[Caller, str], float] = {}
    for what, who, pause in steps:
        now += pause
        if what != "enter":
            half_open.ended(who, what == "worked", now)
            trying.pop(who, None)
        elif half_open.enter([SEARCH], who, now).is_try:
            assert all(now >= until for until in trying.values())
            trying[who] = now + TRY_SECONDS


def test_of_many_threads_that_ask_at_once_one_tries() -> None:
    half_open, together = HalfOpen(), Barrier(8)

    def asking(number: int) -> bool:
        together.wait()
        return half_open.enter([SEARCH], (Caller("acme", user_id=f"u{number}"), "search"), 0.0).is_try

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(asking, range(8))) == 1


def test_never_are_more_than_a_thousand_remembered() -> None:
    half_open = HalfOpen()
    for number in range(1_001):
        half_open.enter([Ended(f"acme|TENANT|acme|tool-{number}", None, NOW)], ALICE, 0.0)
    assert half_open.enter([Ended("acme|TENANT|acme|tool-0", None, NOW)], BOB, 0.0) == TRIES
    assert half_open.enter([Ended("acme|TENANT|acme|tool-1000", None, NOW)], BOB, 0.0) != TRIES

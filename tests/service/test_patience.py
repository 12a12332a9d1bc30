"""How often a job is tried, and when no more."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from agrajag.service.patience import Patience, in_lease
from tests.builders import NOW, a_job


@given(number=st.integers(), attempt=st.integers(1, 10_000))
def test_pauses_double_up_to_the_longest_and_are_shortened_by_half_at_most(number: int, attempt: int) -> None:
    doubled = min(2.0 * 2.0 ** min(attempt - 1, 32), 60.0)
    assert doubled / 2 <= Patience().pause_seconds(f"job-{number}", attempt) <= doubled


def test_two_jobs_that_fail_together_are_not_tried_again_together() -> None:
    assert len({Patience().pause_seconds(f"job-{number}", 1) for number in range(20)}) == 20


def test_a_job_is_tried_so_many_times() -> None:
    patience = Patience(attempts=3)
    pauses = [patience.pause_before_next(a_job(), attempt, NOW) for attempt in (1, 2, 3)]
    assert [pause is None for pause in pauses] == [False, False, True]


@given(seconds_left=st.floats(0, 120), attempt=st.integers(1, 3))
def test_nothing_is_tried_again_after_the_lease(seconds_left: float, attempt: int) -> None:
    job = a_job(lease_until=NOW + timedelta(seconds=seconds_left))
    pause = Patience().pause_before_next(job, attempt, NOW)
    next_at = NOW + timedelta(seconds=Patience().pause_seconds(job.job_id, attempt))
    assert (pause is None) == (next_at >= job.lease_until)


def test_a_lease_ends_at_its_moment() -> None:
    job = a_job(lease_until=NOW)
    assert in_lease(job, NOW - timedelta(microseconds=1))
    assert not in_lease(job, NOW)

"""How long a role waits between two tries."""

from hypothesis import given
from hypothesis import strategies as st

from agrajag.wire.outage import FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, pause_seconds


@given(tries=st.integers(1, 10_000_000))
def test_pauses_double_up_to_a_limit_and_are_shortened_by_half_at_most(tries: int) -> None:
    doubled = (
        LONGEST_PAUSE_SECONDS
        if tries > 10
        else min(FIRST_PAUSE_SECONDS * 2 ** (tries - 1), LONGEST_PAUSE_SECONDS)
    )
    assert doubled / 2 <= pause_seconds(tries) <= doubled


def test_two_of_a_role_do_not_wait_equally_long() -> None:
    assert len({pause_seconds(5) for _ in range(10)}) > 1

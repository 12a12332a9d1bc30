"""So many in a minute and no more, however they are spread."""

from hypothesis import given
from hypothesis import strategies as st

from agrajag.api.rate_limit import RateLimit


@given(st.integers(1, 20), st.lists(st.floats(0, 30), max_size=80))
def test_in_no_minute_more_come_through_than_twice_the_limit_and_waiting_as_told_always_helps(
    per_minute: int, pauses: list[float]
) -> None:
    now = 0.0
    limit = RateLimit(per_minute, lambda: now)
    passed: list[float] = []
    for pause in pauses:
        now += pause
        wait_seconds = limit.wait_seconds("acme", "rita", "search")
        if wait_seconds:
            now += wait_seconds * 1.000001
            assert limit.wait_seconds("acme", "rita", "search") == 0
        passed.append(now)
    for moment in passed:
        assert sum(moment <= other < moment + 60 for other in passed) <= 2 * per_minute


def test_everybody_has_a_limit_of_their_own() -> None:
    limit = RateLimit(1, lambda: 0.0)
    assert limit.wait_seconds("acme", "rita", "search") == 0
    assert limit.wait_seconds("acme", "rita", "search") == 60
    assert limit.wait_seconds("acme", "otto", "search") == 0
    assert limit.wait_seconds("acme", "rita", "mail") == 0

"""So many in a minute and no more, however they are spread."""

from random import Random

import pytest

from agrajag.api.rate_limit import RateLimit


# No property: Hypothesis takes the randomness of an API that runs beside it for its own.
@pytest.mark.parametrize("per_minute", [1, 3, 20])
@pytest.mark.parametrize("longest_pause", [0.1, 5.0, 60.0])
def test_in_no_minute_more_come_through_than_twice_the_limit_and_to_wait_as_told_helps(
    per_minute: int, longest_pause: float
) -> None:
    dice, now = Random(per_minute), 0.0
    limit = RateLimit(per_minute, lambda: now)
    passed: list[float] = []
    for _ in range(200):
        now += dice.uniform(0, longest_pause)
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

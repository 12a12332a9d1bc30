"""The waiting of the other tests: a condition that comes true ends it, one that does not fails by name."""

import pytest

from tests.waiting import eventually, eventually_blocking


async def test_eventually_returns_the_first_true_value_of_either_kind_of_condition() -> None:
    values = iter([0, None, 7, 8])

    async def later() -> int | None:
        return next(values)

    assert await eventually(later) == 7
    assert await eventually(lambda: next(values)) == 8


async def test_eventually_shows_the_last_assertion_when_the_time_is_up() -> None:
    def never() -> bool:
        raise AssertionError("3 of 4 came")

    with pytest.raises(AssertionError, match=r"not within 0\.1 s: .*never.*: 3 of 4 came"):
        await eventually(never, timeout=0.1)
    with pytest.raises(AssertionError, match="still not true"):
        eventually_blocking(lambda: False, timeout=0.1)


def test_an_error_that_is_no_assertion_ends_the_wait_at_once() -> None:
    with pytest.raises(ZeroDivisionError):
        eventually_blocking(lambda: 1 / 0)

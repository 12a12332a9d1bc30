"""Runs what blocks beside the event loop, for a bounded time, and lets it end soon after its caller has gone.

A thread cannot be cut from outside. Whoever reads in one asks `Reading.is_over` between two steps, each of them short.
"""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_GRACE_SECONDS = 1.0
"""How long a thread is waited for whose time is up: it may be in the middle of a step."""


class TimeIsUp(Exception):
    """The work was not done in its time."""


class Reading:
    """One piece of work in a thread: whether it is still wanted, and how long it may last."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._given_up = False

    @property
    def left_seconds(self) -> float:
        """How long it may still last; 0 where it is over."""
        return 0.0 if self._given_up else max(self._until - time.monotonic(), 0.0)

    @property
    def is_over(self) -> bool:
        """Whether to stop now."""
        return self.left_seconds == 0.0

    def give_up(self) -> None:
        """Nobody waits for it any more."""
        self._given_up = True


async def beside_the_loop(work: Callable[[Reading], T], seconds: float) -> T:
    """What `work` returns. Raises what it raises, and TimeIsUp where it has not ended in time.

    A cancel cuts the wait at once; the thread ends at its next step.
    """
    reading = Reading(seconds)
    try:
        async with asyncio.timeout(seconds + _GRACE_SECONDS):
            return await asyncio.to_thread(work, reading)
    except TimeoutError:
        raise TimeIsUp from None
    finally:
        reading.give_up()

"""Decides who asks too often: so many in a minute for each key, which may come all at once.

Each API process counts for itself. What is remembered is bounded: of very many keys those that were not asked for the
longest are forgotten, and may begin anew.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

_KEPT = 10_000


class Bucket(NamedTuple):
    """How many may still come, as of a moment of a clock that only grows."""

    left: float
    at_seconds: float


def taken(bucket: Bucket | None, now_seconds: float, per_minute: int) -> tuple[Bucket, float]:
    """The bucket once one was taken from it, and 0; where none is left, the seconds until there is one again.

    A bucket that is not known is full.
    """
    before = bucket or Bucket(per_minute, now_seconds)
    grown = (now_seconds - before.at_seconds) * per_minute / 60
    left = min(float(per_minute), before.left + grown)
    if left < 1:
        return Bucket(left, now_seconds), (1 - left) * 60 / per_minute
    return Bucket(left - 1, now_seconds), 0.0


class RateLimit:
    """The buckets of a process."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._buckets: OrderedDict[tuple[str, ...], Bucket] = OrderedDict()

    def wait_seconds(self, *key: str) -> float:
        """0 where this one is within the limit, and counts; else how long to wait until one is."""
        bucket, wait_seconds = taken(self._buckets.get(key), self._clock(), self._per_minute)
        self._buckets[key] = bucket
        self._buckets.move_to_end(key)
        if len(self._buckets) > _KEPT:
            self._buckets.popitem(last=False)
        return wait_seconds

"""Decides from how many records were set aside whether a start was a bad one, and tells the share of the last minutes.

If most of the first records are dead letters, the deployment is broken and not the records: going on would set aside
everything that waits. Later on, or where few records came, the same share is a matter for an alert: some producer
sends what nobody can read, and the others must not wait for it.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from prometheus_client import Counter

from agrajag.metrics import DEAD_LETTER_SHARE, DEAD_LETTERS, EVENTS

RECENT_SECONDS = 300.0
_PAUSE_SECONDS = 1.0


class Tally(NamedTuple):
    """How many records were read, at one moment, and how many of them were set aside."""

    at: float
    read: int
    aside: int


class BadStart(NamedTuple):
    """More than `share` of at least `records` in the first `seconds` is a bad start; 0 seconds: nothing is."""

    seconds: float = 0.0
    share: float = 0.5
    records: int = 100


def bad_start(first: Tally, now: Tally, limits: BadStart) -> str | None:
    """What to tell of a bad start; None for a good one, or where it is too early or too late to say."""
    read, aside = now.read - first.read, now.aside - first.aside
    if now.at - first.at >= limits.seconds or read < limits.records or aside <= limits.share * read:
        return None
    return (
        f"{aside} of the first {read} records after the start were set aside as dead letters: the deployment is "
        "broken, not the records; see `agrajag dlq list`, mend it, then `agrajag dlq replay`"
    )


def recent_share(tallies: Sequence[Tally]) -> float:
    """The share of dead letters among what was read between the first and the last of these; 0 where nothing was."""
    read = tallies[-1].read - tallies[0].read
    return (tallies[-1].aside - tallies[0].aside) / read if read else 0.0


def counted() -> Tally:
    """As the metrics of this process have it."""
    return Tally(time.monotonic(), _total(EVENTS), _total(DEAD_LETTERS))


async def watch_dead_letters(limits: BadStart, tally: Callable[[], Tally] = counted) -> str:
    """Keep the metric; return what to tell of a bad start, and never after a good one."""
    tallies = deque([tally()])
    first = tallies[0]
    while True:
        await asyncio.sleep(_PAUSE_SECONDS)
        now = tally()
        while tallies and tallies[0].at < now.at - RECENT_SECONDS:
            tallies.popleft()
        tallies.append(now)
        DEAD_LETTER_SHARE.set(recent_share(tallies))
        told = bad_start(first, now, limits)
        if told is not None:
            return told


def _total(counter: Counter) -> int:
    samples = (sample for family in counter.collect() for sample in family.samples)
    return round(sum(sample.value for sample in samples if sample.name.endswith("_total")))

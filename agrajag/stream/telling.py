"""Which changes are told on `health-changed` at once, and which a timer tells later: those that only count on.

In a storm of equal errors a document changes with every fetch and says nothing new. It is told at most once in an
interval; what was held back is marked in the changelog, so that whoever takes the partition up tells it at once. What
this worker does not know to have been told is told: repeats are harmless, readers skip what is not newer.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Generic, TypeVar

from agrajag.core.health import only_counts_on
from agrajag.model.health import HealthEntry
from agrajag.stream.reemission import KEYS_AT_A_TIME, written_again
from agrajag.stream.steps import StrictOrder
from agrajag.wire.outputs import Output

V = TypeVar("V")

_SHORTEST_PAUSE_SECONDS = 0.1


def is_told_later(
    before: HealthEntry | None, after: HealthEntry, age_seconds: float, interval_seconds: float
) -> bool:
    """Whether `after` only counts on, and the document was told `age_seconds` ago, within the interval."""
    return (
        0 <= age_seconds < interval_seconds
        and before is not None
        and before.health is not None
        and after.health is not None
        and only_counts_on(before.health, after.health)
    )


class Telling(Generic[V]):
    """Tells what was held back for `interval_seconds`. `publish` makes the outputs of a value of a partition."""

    def __init__(
        self,
        order: StrictOrder[V],
        *,
        interval_seconds: float,
        publish: Callable[[int, bytes, V], Sequence[Output]],
    ) -> None:
        self._order = order
        self._interval_seconds = interval_seconds
        self._publish = publish

    async def run(self) -> None:
        """For ever, as a task of the app."""
        while True:
            await asyncio.sleep(max(_SHORTEST_PAUSE_SECONDS, self._interval_seconds / 10))
            await self.tell(time.time() - self._interval_seconds)

    async def tell_all(self) -> None:
        """Tell all that was held back: the last words of a worker that ends in order."""
        await self.tell(time.time())

    async def tell(self, told_before_unix_seconds: float) -> int:
        """Tell what was held back and last told before then; how many values that were."""
        told = 0
        for partition in sorted(self._order.table.held):
            keys = self._order.table.view(partition).untold(told_before_unix_seconds)
            for start in range(0, len(keys), KEYS_AT_A_TIME):
                chosen = keys[start : start + KEYS_AT_A_TIME]
                step = partial(written_again, self._publish, partition, chosen)
                if await self._order.run_timer(partition, step):
                    told += len(chosen)
        return told

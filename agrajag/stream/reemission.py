"""Re-emits what changed lately after partitions were taken up, so that no late record has the last word.

A worker that lost a partition may still deliver a record of it, behind what its successor wrote. Readers
skip it by its revision, but in a compacted topic the last record is what remains. So the successor
re-emits what was written within the time in which such a record can arrive: at once, and again when that
time is over.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import Generic, TypeVar

import structlog

from agrajag import metrics
from agrajag.stream.fetches import FetchApp
from agrajag.stream.memory import PartitionView
from agrajag.stream.steps import StepResult, StrictOrder
from agrajag.wire.outputs import Output

log = structlog.get_logger(__name__)

V = TypeVar("V")

KEYS_AT_A_TIME = 500  # between two of them others get the partition's lock


class Reemission(Generic[V]):
    """Writes outputs and changelog records again, with their revisions unchanged.

    `publish` makes the outputs of a value of a partition. Values that were changed as one group need not be written
    again as one: the group stands in the changelog, and a part of it again is not newer.
    """

    def __init__(
        self,
        order: StrictOrder[V],
        *,
        late_record_seconds: float,
        publish: Callable[[int, bytes, V], Sequence[Output]],
    ) -> None:
        self._order = order
        self._late_record_seconds = late_record_seconds
        self._publish = publish

    async def run(self) -> None:
        """For ever, as a task of the app: re-emit after each taking up; begin anew if there is another."""
        app: FetchApp = self._order.app
        while True:
            await app.taken_up.wait()
            app.taken_up.clear()
            since = time.time() - self._late_record_seconds
            await self.reemit(since)
            try:
                await asyncio.wait_for(app.taken_up.wait(), self._late_record_seconds)
            except TimeoutError:
                await self.reemit(since)

    async def reemit(self, since_unix_seconds: float) -> int:
        """Re-emit what was written since then in the partitions that are held; how many values that were."""
        reemitted = 0
        for partition in sorted(self._order.table.held):
            keys = iter(self._order.table.view(partition).written_since(since_unix_seconds))
            while chosen := list(islice(keys, KEYS_AT_A_TIME)):
                step = partial(written_again, self._publish, partition, chosen)
                if await self._order.run_timer(partition, step):
                    reemitted += len(chosen)
        if reemitted:
            metrics.DOCUMENTS_REEMITTED.inc(reemitted)
            log.info("reemitted", values=reemitted)
        return reemitted


def written_again(
    publish: Callable[[int, bytes, V], Sequence[Output]],
    partition: int,
    keys: Sequence[bytes],
    view: PartitionView[V],
) -> StepResult[V]:
    """A timer step: the outputs and the changelog records of `keys` as they stand, revisions unchanged."""
    changes: list[dict[bytes, V | None]] = []
    outputs: list[Output] = []
    for key in keys:
        value = view.get(key)
        if value is not None:
            changes.append({key: value})
            outputs.extend(publish(partition, key, value))
    return StepResult(changes, outputs)

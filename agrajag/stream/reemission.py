"""Repeats what changed lately after partitions were taken up, so that no late record has the last word.

A worker that lost a partition may still deliver a record of it, behind what its successor wrote. Readers
skip it by its revision, but in a compacted topic the last record is what remains. So the successor repeats
what was written within the time in which such a record can arrive: at once, and again when that time is
over.
"""

import asyncio
import time
from collections.abc import Callable, Hashable, Sequence
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
    """Repeats outputs and changelog records, with their revisions unchanged.

    `publish` makes the outputs of a value of a partition, `group_of` says which keys belong into one record
    batch.
    """

    def __init__(
        self,
        order: StrictOrder[V],
        *,
        late_record_seconds: float,
        publish: Callable[[int, bytes, V], Sequence[Output]],
        group_of: Callable[[bytes], Hashable],
    ) -> None:
        self._order = order
        self._late_record_seconds = late_record_seconds
        self._publish = publish
        self._group_of = group_of

    async def run(self) -> None:
        """For ever, as a task of the app: after each taking up, repeat; begin anew if there is another."""
        app: FetchApp = self._order.app
        while True:
            await app.taken_up.wait()
            app.taken_up.clear()
            since = time.time() - self._late_record_seconds
            await self.repeat(since)
            try:
                await asyncio.wait_for(app.taken_up.wait(), self._late_record_seconds)
            except TimeoutError:
                await self.repeat(since)

    async def repeat(self, since_unix_seconds: float) -> int:
        """Repeat what was written since then in the partitions that are held; how many values that were."""
        repeated = 0
        for partition in sorted(self._order.table.held):
            keys = iter(self._order.table.view(partition).written_since(since_unix_seconds))
            while chosen := list(islice(keys, KEYS_AT_A_TIME)):
                if await self._order.run_timer(partition, partial(self._step, partition, chosen)):
                    repeated += len(chosen)
        if repeated:
            metrics.DOCUMENTS_REEMITTED.inc(repeated)
            log.info("reemitted", values=repeated)
        return repeated

    def _step(self, partition: int, keys: Sequence[bytes], view: PartitionView[V]) -> StepResult[V]:
        changes: dict[Hashable, dict[bytes, V | None]] = {}
        outputs: list[Output] = []
        for key in keys:
            value = view.get(key)
            if value is not None:
                changes.setdefault(self._group_of(key), {})[key] = value
                outputs.extend(self._publish(partition, key, value))
        return StepResult(changes.values(), outputs)

"""Carries out what the passing of time removes (`core.sweep`), partition by partition, as a timer of the worker.

A document that goes leaves a tombstone on `health-changed` and, for a day, a value without document in the table. A
partition is left alone while it lags: what waits there may have happened before the end of what would be removed.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import structlog

from agrajag import metrics
from agrajag.core.policy import Policy
from agrajag.core.sweep import GRACE, MAX_LAG, due_at, sweep
from agrajag.metrics import SweptKind
from agrajag.model.enums import Scope
from agrajag.model.health import HealthEntry
from agrajag.model.keys import parts
from agrajag.stream.memory import PartitionView
from agrajag.stream.places import lag_seconds
from agrajag.stream.steps import StepResult, StrictOrder
from agrajag.stream.surroundings import Surroundings
from agrajag.wire.outputs import Output

log = structlog.get_logger(__name__)

KEYS_AT_A_TIME = 200  # between two of them others get the partition's lock, and the event loop
KEYS_A_ROUND = 10_000  # what is due beyond them waits for the next round
SWEEPER = "agrajag/sweep"

_UNREADABLE_REST = timedelta(days=1)


def due_keys(view: PartitionView[HealthEntry], clock: datetime) -> list[bytes]:
    """The keys to look at: nothing is due in the first two hours of a document, nor before what was found last."""
    return view.due(_looked_at_from(clock))


def _looked_at_from(due: datetime) -> float:
    return (due - GRACE).timestamp()


class SweepStep:
    """The timer step over some keys of a partition, and what it has taken."""

    def __init__(self, around: Surroundings, partition: int, keys: Sequence[bytes]) -> None:
        self._around = around
        self._partition = partition
        self._keys = keys
        self._clock = around.clock()
        self.taken: Counter[SweptKind] = Counter()

    def __call__(self, view: PartitionView[HealthEntry]) -> StepResult[HealthEntry]:
        """Take from each entry what is due; one of which nothing is due rests until something is."""
        changes: list[dict[bytes, HealthEntry | None]] = []
        outputs: list[Output] = []
        for key in self._keys:
            entry = self._readable(view, key)
            if entry is None:
                continue
            written_at = datetime.fromtimestamp(view.written_at(key), UTC)
            policy = self._policy(key)
            swept = sweep(entry, written_at, self._clock, policy)
            if swept is None:
                view.put_off(key, _looked_at_from(due_at(entry, written_at, policy)))
                continue
            changes.append({key: swept.entry})
            self.taken[SweptKind.COOLDOWN] += swept.cooldowns
            self.taken[SweptKind.JOB] += swept.jobs
            self.taken[SweptKind.INBOX_ITEM] += len(swept.archived)
            outputs += self._around.inbox_outputs(SWEEPER, swept.archived)
            if swept.entry is None:
                self.taken[SweptKind.GONE] += 1
                continue
            self.taken[SweptKind.DOCUMENT] += swept.entry.health is None
            outputs += self._around.published(SWEEPER, self._partition, key, swept.entry)
        return StepResult(changes, outputs)

    def _readable(self, view: PartitionView[HealthEntry], key: bytes) -> HealthEntry | None:
        try:
            return view.peek(key)
        except ValueError as error:
            log.warning("table_entry_unreadable", partition=self._partition, error=type(error).__name__)
            view.put_off(key, _looked_at_from(self._clock + _UNREADABLE_REST))
            return None

    def _policy(self, key: bytes) -> Policy:
        tenant_id, scope, scope_id, _ = parts(key.decode())
        _, policy = self._around.effective(tenant_id, scope_id if scope == Scope.PROJECT else None)
        return policy


class Sweeping:
    """Sweeps the partitions that this worker holds."""

    def __init__(self, order: StrictOrder[HealthEntry], around: Surroundings, every_seconds: float) -> None:
        self._order = order
        self._around = around
        self._every_seconds = every_seconds

    async def run(self) -> None:
        """For ever, as a task of the app."""
        while True:
            await asyncio.sleep(self._every_seconds)
            await self.sweep()

    async def sweep(self) -> Counter[SweptKind]:
        """One round over all partitions; what it has taken. To sweep again at once takes nothing more."""
        taken: Counter[SweptKind] = Counter()
        left = KEYS_A_ROUND
        for partition in sorted(self._order.table.held):
            now = self._around.clock()
            keys = due_keys(self._order.table.view(partition), now)[:left]
            left -= len(keys)
            if keys and self._lags(partition, now.timestamp()):
                metrics.SWEEPS_PUT_OFF.inc()
                continue
            for start in range(0, len(keys), KEYS_AT_A_TIME):
                step = SweepStep(self._around, partition, keys[start : start + KEYS_AT_A_TIME])
                if await self._order.run_timer(partition, step):
                    taken += step.taken
        for kind, count in taken.items():
            metrics.SWEPT.labels(kind).inc(count)
        if +taken:
            log.info("swept", **{f"{kind}s": count for kind, count in (+taken).items()})
        return taken

    def _lags(self, partition: int, unix_seconds: float) -> bool:
        lag = lag_seconds(self._order.app.fetching.progress(), partition, unix_seconds)
        return lag >= MAX_LAG.total_seconds()

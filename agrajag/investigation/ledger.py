"""Keeps the canonical record of every tool call of every investigation.

A record is keyed by run and call id, and goes forward only: STARTED, then how the call ended, then what the model made
of it. What is told twice or too late changes nothing, so that whoever writes may repeat itself.
"""

from typing import Protocol

from agrajag.core.times import milliseconds
from agrajag.errors import PermanentError
from agrajag.investigation.records import InvocationRecord, InvocationState
from agrajag.model.keys import invocation_key
from agrajag.store import InvocationCollection
from agrajag.store.invocations import invocation_write


class InvocationLedger(Protocol):
    """Where records are kept."""

    async def write(self, record: InvocationRecord) -> None:
        """Keep the record, unless a later one of the same call is kept. Raises where that is not certain."""

    async def of_run(self, run_id: str) -> list[InvocationRecord]:
        """The calls of a run, in the order in which they began."""


def step_of(record: InvocationRecord) -> int:
    """How far a record has come; of two of the same step the first one counts."""
    if record.state is InvocationState.STARTED:
        return 1
    return 2 if record.evaluation is None else 3


class MemoryLedger:
    """A ledger that is gone with its process."""

    def __init__(self) -> None:
        self._kept: dict[str, InvocationRecord] = {}

    async def write(self, record: InvocationRecord) -> None:
        """As InvocationLedger; never raises."""
        key = invocation_key(record.run_id, record.tool_call_id)
        known = self._kept.get(key)
        if known is None or step_of(known) < step_of(record):
            self._kept[key] = record

    async def of_run(self, run_id: str) -> list[InvocationRecord]:
        """The calls of a run, in the order in which they began."""
        return [record for record in self._kept.values() if record.run_id == run_id]


class StoreLedger:
    """A ledger in the store. Its times are cut to milliseconds."""

    def __init__(self, collection: InvocationCollection) -> None:
        self._collection = collection

    async def write(self, record: InvocationRecord) -> None:
        """As InvocationLedger. Raises TransientError while the store is away, PermanentError where it refuses."""
        key = invocation_key(record.run_id, record.tool_call_id)
        write = invocation_write(key, step_of(record), record, milliseconds(record.started_at))
        written = await self._collection.write([write])
        if written.refused:
            raise PermanentError(f"invocation {key}: the store does not take it: {written.refused[0].reason}")

    async def of_run(self, run_id: str) -> list[InvocationRecord]:
        """The calls of a run, in the order in which they began. Raises TransientError or PermanentError."""
        return await self._collection.of_run(run_id, InvocationRecord)

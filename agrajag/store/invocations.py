"""The tool calls of investigations as the store shows them: each as of the latest thing that became of it.

What a record holds is its owner's; here are its key, its step, and the fields that it is found by. It goes 30 days
after the call began (`store.expiry`).
"""

from datetime import datetime
from typing import ClassVar

from pydantic import BaseModel
from pymongo import ASCENDING, IndexModel

from agrajag.store.bson_form import Record, to_bson
from agrajag.store.expiry import EXPIRY_INDEX, expiring
from agrajag.store.failures import translated
from agrajag.store.guarded import GuardedCollection, Write


def invocation_write(key: str, step: int, record: BaseModel, started_at: datetime) -> Write:
    """The record under its key as of this step; `started_at` in UTC. Raises InputError as `to_bson`."""
    return Write(key, step, expiring(to_bson(record), started_at))


class InvocationCollection(GuardedCollection):
    """`invocations`: one document for each tool call that an investigation has begun.

    Reads raise TransientError or PermanentError. What is no such record, written by somebody else, is logged and counts
    as absent.
    """

    name: ClassVar[str] = "invocations"
    indexes: ClassVar[tuple[IndexModel, ...]] = (
        IndexModel([("run_id", ASCENDING), ("started_at", ASCENDING)]),
        IndexModel([("session_id", ASCENDING), ("started_at", ASCENDING)]),
        EXPIRY_INDEX,
    )

    async def of_run(self, run_id: str, record_type: type[Record]) -> list[Record]:
        """The calls of a run, in the order in which they began."""
        with translated("listing the invocations of a run"):
            found = await self._collection.find({"run_id": run_id}).sort("started_at", ASCENDING).to_list()
        return [record for one in found if (record := self._read(record_type, one)) is not None]

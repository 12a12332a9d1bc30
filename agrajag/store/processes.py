"""The work of service engines as the store shows it: processes, system sessions, and the audit of what was done.

A process is one document, which shows its newest step. The audit keeps each record as it was told, since the end of a
tool call does not say again what it was called with, nor the end of a process when it began; whoever reads puts them
together (`core.stories`). Both go 30 days after what they tell of (`store.expiry`): long after the topic has dropped
the record, so that no record that is read again brings one back.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar

from pymongo import ASCENDING, IndexModel

from agrajag.core.stories import Story, Told, stories
from agrajag.core.times import EPOCH
from agrajag.model.enums import ProcessStatus
from agrajag.model.keys import process_key
from agrajag.model.processes import (
    PROCESS_RECORDS,
    ProcessEvent,
    RunUsage,
    SessionEvent,
    ToolCallEvent,
)
from agrajag.store.bson_form import to_bson
from agrajag.store.expiry import EXPIRY_INDEX, expiring
from agrajag.store.failures import translated
from agrajag.store.guarded import GuardedCollection, Write
from agrajag.store.newest import NewestPage, newest_page

_STEPS = {ProcessStatus.INIT: 1, ProcessStatus.RUNNING: 2, ProcessStatus.CLOSED: 4}
_SUPERSEDED_STEP = 3  # a process that was tried again may after a crash be the one that answers


def process_write(event: ProcessEvent) -> Write:
    """The process under `tenant|process`, as of this step. Raises InputError as `to_bson` does."""
    step = _SUPERSEDED_STEP if event.is_superseded else _STEPS[event.status]
    return Write(process_key(event.tenant_id, event.process_id), step, _expiring(event))


def session_write(event: SessionEvent) -> Write:
    """The system session under `tenant|session`. Raises InputError as `to_bson` does."""
    return Write(process_key(event.tenant_id, event.session_id), event.seq, to_bson(event))


def audit_write(record: Told) -> Write:
    """The record under `tenant|process` and what it tells of; told again, the newest counts. Raises as `to_bson`."""
    match record:
        case ProcessEvent():
            told: tuple[str, ...] = (record.kind, record.status)
        case ToolCallEvent():
            told = (record.kind, record.call_id, record.status)
        case RunUsage():
            told = (record.kind,)
    key = process_key(record.tenant_id, record.process_id, *told)
    return Write(key, max(0, (record.at - EPOCH) // timedelta(milliseconds=1)), _expiring(record))


class ProcessCollection(GuardedCollection):
    """`processes`: the newest step of each process.

    All reads raise TransientError or PermanentError. What is no such record, written by somebody else, is logged and
    counts as absent; so in the other collections of this module.
    """

    name: ClassVar[str] = "processes"
    indexes: ClassVar[tuple[IndexModel, ...]] = (
        IndexModel([("tenantId", ASCENDING), ("jobId", ASCENDING), ("at", ASCENDING)]),
        IndexModel([("tenantId", ASCENDING), ("projectId", ASCENDING), ("at", ASCENDING)]),
        IndexModel([("tenantId", ASCENDING), ("at", ASCENDING)]),
        EXPIRY_INDEX,
    )

    async def of_job(self, tenant_id: str, job_id: str) -> list[ProcessEvent]:
        """The attempts at a job, in the order of their newest steps."""
        return await self._listed({"tenantId": tenant_id, "jobId": job_id})

    async def of_project(
        self, tenant_id: str, project_id: str | None, since: datetime, until: datetime
    ) -> list[ProcessEvent]:
        """What happened in a project, or without one, from `since` to before `until`, in the order of newest steps."""
        return await self._listed(
            {"tenantId": tenant_id, "projectId": project_id, "at": {"$gte": since, "$lt": until}}
        )

    async def page(
        self,
        tenant_id: str,
        *,
        since: datetime,
        until: datetime,
        job_id: str | None = None,
        project_id: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> NewestPage[ProcessEvent]:
        """At most `limit` (from 1) of a tenant's processes whose newest step is from `since` to before `until`, the
        newest first. Raises InputError for an `after` that was never given out."""
        chosen = {"jobId": job_id, "projectId": project_id}
        selected = {"tenantId": tenant_id} | {name: value for name, value in chosen.items() if value}
        with translated("listing processes"):
            return await newest_page(
                self._collection,
                selected,
                "at",
                lambda found: self._read(ProcessEvent, found),
                after=after,
                limit=limit,
                since=since,
                until=until,
            )

    async def _listed(self, selected: Mapping[str, Any]) -> list[ProcessEvent]:
        with translated("listing processes"):
            found = await self._collection.find(selected).sort("at", ASCENDING).to_list()
        return [event for one in found if (event := self._read(ProcessEvent, one)) is not None]


class SessionCollection(GuardedCollection):
    """`sessions`: the state of each system session."""

    name: ClassVar[str] = "sessions"
    indexes: ClassVar[tuple[IndexModel, ...]] = (IndexModel([("tenantId", ASCENDING), ("_id", ASCENDING)]),)

    async def of_tenant(self, tenant_id: str) -> list[SessionEvent]:
        """The system sessions of a tenant, in the order of their ids."""
        with translated("listing sessions"):
            found = await self._collection.find({"tenantId": tenant_id}).sort("_id", ASCENDING).to_list()
        return [event for one in found if (event := self._read(SessionEvent, one)) is not None]


class AuditCollection(GuardedCollection):
    """`audit`: the steps of each process, the beginnings and ends of its tool calls, and what it has used."""

    name: ClassVar[str] = "audit"
    indexes: ClassVar[tuple[IndexModel, ...]] = (
        IndexModel([("tenantId", ASCENDING), ("processId", ASCENDING), ("at", ASCENDING)]),
        EXPIRY_INDEX,
    )

    async def story(self, tenant_id: str, process_id: str) -> Story | None:
        """All that is known of a process; None where nothing is."""
        with translated("reading the audit of a process"):
            found = await self._collection.find({"tenantId": tenant_id, "processId": process_id}).to_list()
        known = [(PROCESS_RECORDS.get(one.get("kind", "")), one) for one in found]
        records = [self._read(model, one) for model, one in known if model is not None]
        return next(iter(stories(record for record in records if record is not None)), None)


def _expiring(record: Told) -> dict[str, Any]:
    document = to_bson(record)
    return expiring(document, document["at"])

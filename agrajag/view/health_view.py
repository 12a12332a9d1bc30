"""Connects the topic `health-changed` with whoever wants to know a tool's health now: without a store, outside of any
group.

Nothing is shown of a topic that is only half read: what it held at the start appears at once. Whoever asks only reads
memory, from any thread; `run` alone changes it.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from datetime import datetime

import structlog

from agrajag.clock import Clock, utc_now
from agrajag.core.annotate import annotation
from agrajag.core.lookup import Caller, speaks_for
from agrajag.core.newest import Standing
from agrajag.core.policy import Policy
from agrajag.errors import InputError, TransientError
from agrajag.metrics import VIEW_DOCUMENTS, VIEW_RECORDS, VIEW_SKIPPED, ViewResult
from agrajag.model.enums import Scope, Status
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key
from agrajag.view.changes import Listener, Listeners, ViewChange, Waiters
from agrajag.view.documents import HealthDocuments
from agrajag.view.listening import LogListener, News, NoListener
from agrajag.view.selection import MAX_SELECTED, Selection, Wanted
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.following import Followed, Log, follow
from agrajag.wire.health_records import HealthRecord, health_record
from agrajag.wire.origin import ReceivedRecord, own_place
from agrajag.wire.topics import Topic, Topics

log = structlog.get_logger(__name__)

_TRY_AGAIN_SECONDS = 2.0
_AT_ONCE = 200
_EVERYTHING = Wanted()
_DEFAULTS = Policy()


class HealthView:
    """The health documents of all tenants. `start` reads what there is, `run` follows the changes for ever.

    `policy_of` gives the policy of a tenant and project, by which an old verdict is believed no longer.
    A `log_listener` hears all that is read.
    """

    def __init__(
        self,
        connection: KafkaConnection,
        topics: Topics,
        policy_of: Callable[[str, str | None], Policy] = lambda _tenant, _project: _DEFAULTS,
        clock: Clock = utc_now,
        log_listener: LogListener | None = None,
    ) -> None:
        self._connection = connection
        self._topic = topics.name(Topic.HEALTH_CHANGED)
        self._policy_of = policy_of
        self._clock = clock
        self._shown, self._reading = HealthDocuments(), HealthDocuments()
        self._is_ready = False
        self._log_listener = log_listener or NoListener()
        self._log: Log | None = None
        self._listeners = Listeners()
        self._waiters = Waiters()
        self._following = self._from_the_first()

    @property
    def is_ready(self) -> bool:
        """Whether the topic was read to its end once; before, nothing is shown."""
        return self._is_ready

    async def start(self) -> None:
        """Return when everything that the topic held at the call is shown. It may be called again before `run`.

        Raises TransientError or PermanentError if the topic cannot be read.
        """
        await self._begin_again()
        async for followed in self._following:
            await self._take(followed)
            if followed.caught_up:
                return

    async def run(self) -> None:
        """Follow the changes until cancelled; brokers that are away are waited for, and what was known stays shown.

        Raises PermanentError where waiting does not help.
        """
        while True:
            try:
                async with aclosing(self._following) as following:
                    async for followed in following:
                        await self._take(followed)
            except TransientError as error:
                log.warning("health_not_followed", reason=str(error))
            await asyncio.sleep(_TRY_AGAIN_SECONDS)
            await self._begin_again()

    def status(self, caller: Caller, tool_name: str) -> Status:
        """The caller's status of a tool: that of the document that speaks for them, OK where none does."""
        found = self._shown.of(caller, tool_name)
        if not found:
            return Status.OK
        now = self._clock()
        speaking = speaks_for(found, now, self._policy_of(caller.tenant_id, caller.project_id))
        return Status.OK if speaking is None else speaking.status_at(now)

    def annotation(self, caller: Caller, tool_name: str) -> str | None:
        """One line for a model's manifest about a tool that is not well for the caller (`core.annotate`)."""
        found = self._shown.of(caller, tool_name)
        if not found:
            return None
        return annotation(found, self._clock(), self._policy_of(caller.tenant_id, caller.project_id))

    def documents_of(self, caller: Caller, tool_name: str) -> list[ToolHealth]:
        """The documents of the tool that apply to the caller, narrowest first."""
        return self._shown.of(caller, tool_name)

    def nearest(
        self,
        tenant_id: str,
        tool_name: str,
        *,
        project_id: str | None,
        user_id: str | None,
        session_id: str | None,
    ) -> ToolHealth | None:
        """The document that speaks for the caller: the narrowest with an opinion on status; else the narrowest."""
        caller = Caller(tenant_id, project_id, user_id, session_id)
        policy = self._policy_of(tenant_id, project_id)
        return self._shown.nearest(caller, tool_name, self._clock(), policy)

    def find(self, tenant_id: str, scope: Scope, scope_id: str, tool_name: str) -> ToolHealth | None:
        """Exactly this document."""
        return self._shown.find(tenant_id, scope, scope_id, tool_name)

    async def select(
        self, tenant_id: str, wanted: Wanted = _EVERYTHING, *, after: str = "", limit: int = 100
    ) -> Selection:
        """A page of a tenant's documents in the order of their keys: at most `limit`, and never above 500.

        A document that comes or goes meanwhile may be in the list or not; every other one is in it once. Others on the
        same event loop go on meanwhile.
        """
        now = self._clock()
        limit = min(limit, MAX_SELECTED)
        found: list[ToolHealth] = []
        while keys := self._shown.keys_of(tenant_id, after, _AT_ONCE):
            for key in keys:
                document = self._selected(key, wanted, now)
                if document is not None and len(found) == limit:
                    return Selection(tuple(found), after)
                after = key
                if document is not None:
                    found.append(document)
            await asyncio.sleep(0)
        return Selection(tuple(found), None)

    def tenants(self, count: int = MAX_SELECTED) -> list[str]:
        """The first `count` tenants that have a document, in the order of their keys."""
        return self._shown.tenants(count)

    def standing(self, tenant_id: str) -> list[Standing[str, bytes]]:
        """All documents of a tenant at this moment, as they came: `wire.health_records.read_health` reads one."""
        return self._shown.standing(tenant_id)

    def on_change(self, listener: Listener) -> Callable[[], None]:
        """Call `listener(old, new, change)` at each change of what is shown, on the thread of `run`, until the function
        that is returned is called. It is told nothing of what is shown already.

        What changed while no broker answered is told afterwards. A listener must return at once; what it raises is
        counted and ends nothing.
        """
        return self._listeners.add(listener)

    async def at_least(
        self,
        tenant_id: str,
        scope: Scope,
        scope_id: str,
        tool_name: str,
        revision: int,
        timeout_seconds: float,
    ) -> bool:
        """Wait until a document is shown as of `revision` or a newer one, or is gone as of it; False where that takes
        longer than `timeout_seconds`. It may be called on any event loop."""
        key = health_key(tenant_id, scope, scope_id, tool_name)
        return await self._waiters.wait(key, revision, self._revision, timeout_seconds)

    def _revision(self, key: str) -> int:
        """The revision that is shown; below all of them where none is."""
        known = self._shown.revision(key)
        return -1 if known is None else known

    def _selected(self, key: str, wanted: Wanted, now: datetime) -> ToolHealth | None:
        value = self._shown.raw(key)
        if value is None or not wanted.may_be(key, value):
            return None
        document = self._shown.at(key)
        if document is None or (
            wanted.statuses is not None and document.status_at(now) not in wanted.statuses
        ):
            return None
        return document

    def _from_the_first(self) -> AsyncGenerator[Followed, None]:
        return follow(self._connection, self._topic)

    async def _begin_again(self) -> None:
        await self._following.aclose()
        self._following = self._from_the_first()
        # A new table, so that a document whose tombstone was compacted away meanwhile does not stay for ever.
        self._reading = HealthDocuments()
        self._log = None

    async def _take(self, followed: Followed) -> None:
        if self._log is None:
            self._log = followed.log
            self._log_listener.reading_begins(followed.log)
        for start in range(0, len(followed.records), _AT_ONCE):
            self._take_some(followed.records[start : start + _AT_ONCE])
            if self._shown is self._reading:
                self._log_listener.shown()
            await asyncio.sleep(0)  # others live on this loop, and a poll may bring thousands
        if followed.caught_up:
            self._show()
            self._log_listener.shown()
        VIEW_DOCUMENTS.set(len(self._shown))

    def _take_some(self, records: Sequence[ReceivedRecord]) -> None:
        taken = 0
        skipped = 0
        for record in records:
            news = None
            try:
                told = health_record(record)
                if self._take_one(told):
                    taken += 1
                    news = News(told.key, told.revision, told.value)
            except InputError as error:
                skipped += 1
                VIEW_SKIPPED.labels(error.reason).inc()
                log.warning("health_record_skipped", place=str(own_place(record)), reason=str(error))
            self._log_listener.read(record.partition, record.offset, news)
        VIEW_RECORDS.labels(ViewResult.TAKEN).inc(taken)
        VIEW_RECORDS.labels(ViewResult.STALE).inc(len(records) - taken - skipped)

    def _take_one(self, told: HealthRecord) -> bool:
        documents = self._reading
        now_seconds = time.monotonic()
        if documents is not self._shown:
            return documents.take(told, now_seconds)
        old = documents.at(told.key) if self._listeners else None
        if not documents.take(told, now_seconds, read_first=True):
            return False
        self._tell(old, ViewChange(told.key, told.revision))
        self._waiters.reached(told.key, told.revision)
        return True

    def _show(self) -> None:
        """Show what was read, and tell in what it differs from what was shown before."""
        before, self._shown = self._shown, self._reading
        if before is self._shown:
            return
        if self._is_ready and self._listeners:
            for key in self._shown.differing_from(before):
                self._tell(before.at(key), ViewChange(key, self._shown.revision(key)))
        self._is_ready = True
        self._waiters.look(self._revision)

    def _tell(self, old: ToolHealth | None, change: ViewChange) -> None:
        if self._listeners:
            new = self._shown.at(change.key)
            if old is not None or new is not None:
                self._listeners.tell(old, new, change)

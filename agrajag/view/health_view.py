"""Connects the topic `health-changed` with whoever wants to know a tool's health now: without a store, outside of any
group.

Nothing is shown of a topic that is only half read: what it held at the start appears at once.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

import structlog

from agrajag.clock import Clock, utc_now
from agrajag.core.lookup import Caller
from agrajag.core.policy import Policy
from agrajag.errors import InputError, TransientError
from agrajag.metrics import VIEW_DOCUMENTS, VIEW_RECORDS, VIEW_SKIPPED, ViewResult
from agrajag.model.enums import Scope
from agrajag.model.health import ToolHealth
from agrajag.view.documents import HealthDocuments
from agrajag.view.listening import LogListener, News, NoListener
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.following import Followed, Log, follow
from agrajag.wire.health_records import health_change
from agrajag.wire.origin import ReceivedRecord, own_place
from agrajag.wire.topics import Topic, Topics

log = structlog.get_logger(__name__)

_TRY_AGAIN_SECONDS = 2.0
_AT_ONCE = 200


class HealthView:
    """The health documents of all tenants. `start` reads what there is, `run` follows the changes for ever.

    `policy_of` gives the policy of a tenant and project, by which an old verdict is believed no longer.
    A `log_listener` hears all that is read.
    """

    def __init__(
        self,
        connection: KafkaConnection,
        topics: Topics,
        policy_of: Callable[[str, str | None], Policy] = lambda _tenant, _project: Policy(),
        clock: Clock = utc_now,
        log_listener: LogListener | None = None,
    ) -> None:
        self._connection = connection
        self._topic = topics.name(Topic.HEALTH_CHANGED)
        self._policy_of = policy_of
        self._clock = clock
        self._log_listener = log_listener or NoListener()
        self._log: Log | None = None
        self._shown = self._reading = HealthDocuments()
        self._following = self._from_the_first()

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
            self._shown = self._reading
            self._log_listener.shown()
            VIEW_DOCUMENTS.set(len(self._shown))

    def _take_some(self, records: Sequence[ReceivedRecord]) -> None:
        taken = 0
        skipped = 0
        for record in records:
            news = None
            try:
                change = health_change(record)
                if self._reading.take(change, time.monotonic()):
                    taken += 1
                    value = None if change.health is None else change.health.to_json()
                    news = News(change.key, change.revision, value)
            except InputError as error:
                skipped += 1
                VIEW_SKIPPED.labels(error.reason).inc()
                log.warning("health_record_skipped", place=str(own_place(record)), reason=str(error))
            self._log_listener.read(record.partition, record.offset, news)
        VIEW_RECORDS.labels(ViewResult.TAKEN).inc(taken)
        VIEW_RECORDS.labels(ViewResult.STALE).inc(len(records) - taken - skipped)

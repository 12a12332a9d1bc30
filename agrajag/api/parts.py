"""What the routes work with: one frozen value, made before the first request and handed to each."""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from agrajag.api.changes.recent import RecentChanges
from agrajag.api.changes.snapshots import Snapshots
from agrajag.api.commanding import Commanding
from agrajag.api.rate_limit import RateLimit
from agrajag.api.store_access import StoreAccess
from agrajag.api.tokens import LiveTokens
from agrajag.clock import Clock, utc_now
from agrajag.core.policy import Policy
from agrajag.documents.live import LiveDocuments
from agrajag.view import HealthView
from agrajag.wire.asking import Asker
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.sending import Sender
from agrajag.wire.topics import Topics


@dataclass(frozen=True, slots=True)
class ApiValues:
    """The numbers of the API.

    `revision_wait_seconds` bounds the wait for a `minRevision`, `command_wait_seconds` that for a command,
    `request_seconds` the time in which a request must have arrived. `rechecks_per_minute` counts for each user and
    tool; over all tools ten times as many are taken.

    At most `streams` of changes are open at once. Each lasts `stream_seconds`, says that it lives every
    `heartbeat_seconds`, and ends where its client takes nothing for `stream_send_seconds`. `stream_memory_bytes` hold
    the changes that a client which comes back can be told.
    """

    max_body_bytes: int = 4_000_000
    request_seconds: float = 20.0
    revision_wait_seconds: float = 2.0
    command_wait_seconds: float = 10.0
    send_seconds: float = 5.0
    recheck_wait_seconds: float = 2.0
    rechecks_per_minute: int = 30
    connections: int = 2_000
    streams: int = 1_500
    stream_seconds: float = 3_600.0
    stream_send_seconds: float = 30.0
    stream_memory_bytes: int = 64 * 2**20
    heartbeat_seconds: float = 15.0
    ending_seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class Parts:
    """All belong to the event loop that serves. One document is written at a time, under `documents_written`.

    `ending` is set once the process is told to end: streams end then. `recent` are the changes that they are told of.
    """

    connection: KafkaConnection
    topics: Topics
    view: HealthView
    documents: LiveDocuments
    store: StoreAccess
    tokens: LiveTokens
    sender: Sender
    asker: Asker
    commanding: Commanding
    rechecks: RateLimit
    rechecks_in_all: RateLimit
    recent: RecentChanges
    values: ApiValues = ApiValues()
    clock: Clock = utc_now
    documents_written: asyncio.Lock = field(default_factory=asyncio.Lock)
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    snapshots: Snapshots = field(default_factory=Snapshots)
    open_streams: set[object] = field(default_factory=set)

    def now(self) -> datetime:
        """The time of now."""
        return self.clock()

    def policy(self, tenant_id: str, project_id: str | None = None) -> Policy:
        """The policy in force for a tenant's project."""
        return self.documents.effective(tenant_id, project_id)[1]


async def _parts_of(connection: HTTPConnection) -> Parts:
    parts: Parts = connection.app.state.parts
    return parts


PartsGiven = Annotated[Parts, Depends(_parts_of)]
"""The parts, as a parameter of a route."""

"""Opens the store, finds out which kind it is, and sets the driver up for that kind.

The embedded store slows down tenfold after some thousand retryable writes, so there they are off. Nothing is
lost by it: every write of ours can be repeated by whoever made it.
"""

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

import structlog
from pymongo import AsyncMongoClient
from pymongo.errors import PyMongoError

from agrajag.errors import ConfigError, PermanentError
from agrajag.store.commands import CommandCollection
from agrajag.store.documents import DocumentCollection
from agrajag.store.failures import translated
from agrajag.store.guarded import GuardedCollection
from agrajag.store.health import HealthCollection
from agrajag.store.inbox import InboxCollection
from agrajag.store.invocations import InvocationCollection
from agrajag.store.processes import AuditCollection, ProcessCollection, SessionCollection

log = structlog.get_logger(__name__)

Collection = TypeVar("Collection", bound=GuardedCollection)

_EMBEDDED_SET_NAME = "secantus"
_SELECTION_TIMEOUT_MS = 5_000
_CONNECT_TIMEOUT_MS = 5_000
_SOCKET_TIMEOUT_MS = 60_000  # a bulk of 1,000 on a slow disk; a store that hangs is noticed after it


class Store:
    """One database, open; it belongs to the event loop that opened it. `embedded` tells the kind of server."""

    def __init__(self, client: AsyncMongoClient[dict[str, Any]], database: str, *, embedded: bool) -> None:
        self._client = client
        self.embedded = embedded
        self.health = HealthCollection(client[database])
        self.documents = DocumentCollection(client[database])
        self.processes = ProcessCollection(client[database])
        self.sessions = SessionCollection(client[database])
        self.audit = AuditCollection(client[database])
        self.inbox = InboxCollection(client[database])
        self.commands = CommandCollection(client[database])
        self.invocations = InvocationCollection(client[database])

    def collection(self, kind: type[Collection]) -> Collection:
        """The one of this kind."""
        return next(one for one in self.collections if isinstance(one, kind))

    @property
    def collections(self) -> Sequence[GuardedCollection]:
        """All of them."""
        services = (self.processes, self.sessions, self.audit)
        return self.health, self.documents, *services, self.inbox, self.commands, self.invocations

    @classmethod
    async def open(cls, uri: str, database: str) -> Self:
        """Connects and makes sure of the indexes. The timeouts are ours, whatever the URI says.

        Raises ConfigError if the URI or the credentials are wrong or another index is in the way;
        TransientError if nobody answers within 5 s.
        """
        try:
            embedded = await _is_embedded(uri)
            store = cls(
                _connected(uri, **({"retryWrites": False} if embedded else {})), database, embedded=embedded
            )
            try:
                for collection in store.collections:
                    await collection.ensure_indexes()
            except BaseException:
                await store.close()
                raise
        except PermanentError as error:
            raise ConfigError(str(error)) from error
        except (PyMongoError, ValueError) as error:  # of the constructors, before anything is sent
            raise ConfigError(f"store: cannot be opened: {error}") from error
        log.info("store_opened", database=database, embedded=embedded)
        return store

    async def close(self) -> None:
        """Closes the connections; what waits for an answer fails."""
        await self._client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def _is_embedded(uri: str) -> bool:
    async with _connected(uri, retryWrites=False) as client:
        with translated("saying hello"):
            hello = await client.admin.command("hello")
    return bool(hello.get("setName") == _EMBEDDED_SET_NAME)


def _connected(uri: str, **options: Any) -> AsyncMongoClient[dict[str, Any]]:
    return AsyncMongoClient(
        uri,
        appname="agrajag",
        tz_aware=True,
        serverSelectionTimeoutMS=_SELECTION_TIMEOUT_MS,
        connectTimeoutMS=_CONNECT_TIMEOUT_MS,
        socketTimeoutMS=_SOCKET_TIMEOUT_MS,
        **options,
    )

"""Opens the store when something is read from it, so that the API starts and goes on while the store is away."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager

from agrajag.api.problems import Missing, needing
from agrajag.errors import ConfigError, TransientError
from agrajag.store import Store

_TRY_AGAIN_SECONDS = 2.0


class StoreAccess:
    """One store for all requests. Whoever comes shortly after a failed attempt hears of it at once."""

    def __init__(self, uri: str, database: str) -> None:
        self._uri = uri
        self._database = database
        self._store: Store | None = None
        self._opening = asyncio.Lock()
        self._failed_at = float("-inf")

    async def opened(self) -> Store:
        """The store. Raises TransientError where it is away, or cannot be used as it is set up."""
        async with self._opening:
            if self._store is None:
                if time.monotonic() - self._failed_at < _TRY_AGAIN_SECONDS:
                    raise TransientError("store: was away a moment ago")
                try:
                    self._store = await Store.open(self._uri, self._database)
                except BaseException as error:  # whoever gives up waiting has found it away as well
                    self._failed_at = time.monotonic()
                    if isinstance(error, ConfigError):
                        raise TransientError(str(error)) from error
                    raise
            return self._store

    async def close(self) -> None:
        """Closes it; what is read meanwhile fails."""
        if self._store is not None:
            await self._store.close()
            self._store = None


@contextmanager
def store_needed() -> Iterator[None]:
    """A 503 that names the store where what is read in it is not to be had."""
    with needing(Missing.STORE):
        yield

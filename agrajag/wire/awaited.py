"""Brings values to those who wait for them by name, and keeps them for a while for those who come late."""

import asyncio
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

N = TypeVar("N", bound=Hashable)
V = TypeVar("V")


class Awaited(Generic[N, V]):
    """The first value of each name; of the oldest names nothing is known any more. For the tasks of one event loop."""

    def __init__(self, kept: int) -> None:
        """At most `kept` values are remembered."""
        self._kept = kept
        self._values: OrderedDict[N, V] = OrderedDict()
        self._waiting: dict[N, set[asyncio.Future[V]]] = {}

    def put(self, name: N, value: V) -> None:
        """The value of this name, unless it has one already."""
        self._values.setdefault(name, value)
        if len(self._values) > self._kept:
            self._values.popitem(last=False)
        for future in self._waiting.get(name, ()):
            if not future.done():
                future.set_result(value)

    def get(self, name: N) -> V | None:
        """The value of this name if it has come and is remembered."""
        return self._values.get(name)

    async def wait(self, name: N) -> V:
        """The value of this name, once it has one; none is missed that comes from the call on."""
        known = self._values.get(name)
        if known is not None:
            return known
        future: asyncio.Future[V] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(name, set()).add(future)
        try:
            return await future
        finally:
            self._waiting[name].discard(future)
            if not self._waiting[name]:
                del self._waiting[name]

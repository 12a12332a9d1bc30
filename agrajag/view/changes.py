"""Tells of each change of what a view shows, to whoever wants to hear it and to whoever waits for it.

Who listens is called on the view's own thread, one change after the other, and must be quick. What fails there is that
listener's alone: it is counted, and the view and the other listeners go on.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Lock
from typing import NamedTuple, TypeAlias

import structlog

from agrajag.metrics import VIEW_LISTENER_FAILURES
from agrajag.model.health import ToolHealth

log = structlog.get_logger(__name__)


class ViewChange(NamedTuple):
    """What changed: the document under `key`, as of `revision`.

    It is None for a document that is gone so long that the topic has forgotten it.
    """

    key: str
    revision: int | None


Listener: TypeAlias = Callable[[ToolHealth | None, ToolHealth | None, ViewChange], None]
"""Called with the document as it was, as it is, and what changed it; None: there is none."""


class Listeners:
    """Those who hear of each change, in the order in which they came."""

    def __init__(self) -> None:
        self._listeners: tuple[Listener, ...] = ()

    def __bool__(self) -> bool:
        """Whether anybody listens."""
        return bool(self._listeners)

    def add(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` from now on; what is returned ends that, and may be called again."""
        mine = partial(listener)  # one that listens twice is two
        self._listeners = (*self._listeners, mine)
        return partial(self._remove, mine)

    def _remove(self, listener: Listener) -> None:
        self._listeners = tuple(one for one in self._listeners if one is not listener)

    def tell(self, old: ToolHealth | None, new: ToolHealth | None, change: ViewChange) -> None:
        """Call everybody who listens."""
        for listener in self._listeners:
            try:
                listener(old, new, change)
            except Exception as error:
                VIEW_LISTENER_FAILURES.inc()
                log.warning("health_listener_failed", key=change.key, error=type(error).__name__)


class _Waiter(NamedTuple):
    revision: int
    loop: asyncio.AbstractEventLoop
    shown: asyncio.Event


class Waiters:
    """Those who wait until a document is shown as of a revision. Each may wait on an event loop of its own."""

    def __init__(self) -> None:
        self._waiting: defaultdict[str, list[_Waiter]] = defaultdict(list)
        self._changing = Lock()

    async def wait(
        self, key: str, revision: int, shown: Callable[[str], int], timeout_seconds: float
    ) -> bool:
        """Wait until `reached` is called for this key and revision; False where that takes too long.

        `shown` gives the revision of a key that is shown now.
        """
        waiter = _Waiter(revision, asyncio.get_running_loop(), asyncio.Event())
        with self._changing:
            self._waiting[key].append(waiter)
        try:
            if shown(key) < revision:
                async with asyncio.timeout(timeout_seconds):
                    await waiter.shown.wait()
        except TimeoutError:
            return False
        finally:
            self._leave(key, waiter)
        return True

    def reached(self, key: str, revision: int) -> None:
        """Wake whoever waits for this document as of this revision or an older one."""
        if not self._waiting:
            return
        with self._changing:
            waiters = [one for one in self._waiting.get(key, ()) if one.revision <= revision]
        for waiter in waiters:
            with suppress(RuntimeError):  # its loop was closed before it could leave
                waiter.loop.call_soon_threadsafe(waiter.shown.set)

    def look(self, shown: Callable[[str], int]) -> None:
        """Wake whoever has waited for what is shown now."""
        with self._changing:
            keys = list(self._waiting)
        for key in keys:
            self.reached(key, shown(key))

    def _leave(self, key: str, waiter: _Waiter) -> None:
        with self._changing:
            self._waiting[key].remove(waiter)
            if not self._waiting[key]:
                del self._waiting[key]

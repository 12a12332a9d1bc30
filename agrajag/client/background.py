"""Carries all that a client keeps going on one thread with one event loop, so that sync code and any event loop may
call it alike.

Whoever calls reads memory. Only at the beginning and at the end is this thread waited for, and never without a limit.
It is a daemon: a program that forgets to close its client can still end.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError as FutureCancelledError
from concurrent.futures import Future
from enum import Enum
from typing import Any, TypeVar

import structlog

from agrajag.errors import PermanentError, TransientError

log = structlog.get_logger(__name__)

T = TypeVar("T")

END_SECONDS = 10.0
"""How long the parts of a client are given to end."""


class _State(Enum):
    NEW = "was not started"
    RUNNING = "runs"
    CLOSED = "is closed"


class Background:
    """A thread with an event loop, from `start` to `close`; it is started once.

    A process that was forked has no part of it: there everything but `close` raises PermanentError, as it does before
    the start and after the end.
    """

    def __init__(self, name: str = "agrajag-client") -> None:
        self._thread = threading.Thread(target=self._carry, name=name, daemon=True)
        self._process_id = os.getpid()
        self._state = _State.NEW
        self._changing = threading.Lock()
        self._began: Future[None] = Future()
        self._ended: Future[None] = Future()
        self._kept: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Returns once the loop runs, a moment later; it may be called from a running loop. Again, it does nothing."""
        if not self.is_foreign:
            with self._changing:
                if self._state is _State.NEW:
                    self._ended.set_running_or_notify_cancel()  # whoever stops waiting for it cannot cancel it
                    self._thread.start()
                    self._began.result()
                    self._state = _State.RUNNING
        self.check()

    @property
    def is_foreign(self) -> bool:
        """Whether this process is a fork of the one that made it."""
        return os.getpid() != self._process_id

    @property
    def is_usable(self) -> bool:
        """Whether it runs, in this process."""
        return self._state is _State.RUNNING and not self.is_foreign

    def check(self) -> None:
        """Raises PermanentError, which says why, where it is not usable."""
        if self.is_foreign:
            raise PermanentError(
                f"client: it belongs to process {self._process_id}: a forked process makes its own"
            )
        if self._state is not _State.RUNNING:
            raise PermanentError(f"client: it {self._state.value}")

    def post(self, callback: Callable[..., object], *arguments: object) -> bool:
        """Has the loop call this soon, and waits for nothing. False, and no error, where it is not usable."""
        if not self.is_usable:
            return False
        try:
            self._loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:  # closed between two lines
            return False
        return True

    def keep(self, name: str, part: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Runs this until `close`, which cancels it. What it raises is logged and ends it alone."""
        self.check()
        self.post(self._begin, name, part)

    def run(self, work: Coroutine[Any, Any, T], timeout_seconds: float) -> T:
        """What `work` returns or raises on the loop, waited for here.

        Raises TransientError, and cancels it, if that takes longer; PermanentError where the client is not usable.
        """
        submitted = self._submitted(work)
        try:
            return submitted.result(timeout_seconds)
        except FutureCancelledError:
            raise PermanentError("client: it was closed meanwhile") from None
        except TimeoutError as error:
            if submitted.done() and not submitted.cancelled():
                raise  # its own
            raise TransientError(f"client: not done within {timeout_seconds:g} s") from error
        finally:
            submitted.cancel()

    async def run_async(self, work: Coroutine[Any, Any, T], timeout_seconds: float) -> T:
        """As `run`, for a caller with an event loop of its own."""
        submitted = asyncio.wrap_future(self._submitted(work))
        try:
            finished, _ = await asyncio.wait({submitted}, timeout=timeout_seconds)
        finally:
            submitted.cancel()
        if not finished:
            raise TransientError(f"client: not done within {timeout_seconds:g} s")
        if submitted.cancelled():
            raise PermanentError("client: it was closed meanwhile")
        return submitted.result()

    def close(self, timeout_seconds: float = END_SECONDS) -> None:
        """Cancels what is kept, and ends the thread. Again, or in a forked process, it does nothing.

        What does not end in time is logged and left behind.
        """
        if not self._end():
            return
        try:
            self._ended.result(timeout_seconds)
        except TimeoutError:
            self._tell_left(timeout_seconds)
        else:
            self._thread.join()

    async def close_async(self, timeout_seconds: float = END_SECONDS) -> None:
        """As `close`, for a caller with an event loop of its own."""
        if not self._end():
            return
        finished, _ = await asyncio.wait({asyncio.wrap_future(self._ended)}, timeout=timeout_seconds)
        if finished:
            self._thread.join()
        else:
            self._tell_left(timeout_seconds)

    def _end(self) -> bool:
        """Whether there is an end to wait for."""
        if threading.current_thread() is self._thread:
            raise PermanentError(
                "client: it cannot be closed from its own thread, which would wait for itself"
            )
        if self.is_foreign:
            return False
        with self._changing:
            was_running = self._state is _State.RUNNING
            self._state = _State.CLOSED
        if was_running:
            self._loop.call_soon_threadsafe(self._ending.set)
        return was_running

    def _submitted(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        try:
            self.check()
            if threading.current_thread() is self._thread:
                raise PermanentError("client: its own thread would wait for itself")
            return asyncio.run_coroutine_threadsafe(work, self._loop)
        except (PermanentError, RuntimeError) as error:
            work.close()
            if isinstance(error, RuntimeError):  # closed between two lines
                raise PermanentError("client: it was closed meanwhile") from error
            raise

    def _carry(self) -> None:
        try:
            asyncio.run(self._live())
        except Exception as error:
            if self._began.done():
                raise
            self._began.set_exception(error)
        finally:
            self._ended.set_result(None)

    async def _live(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ending = asyncio.Event()
        self._began.set_result(None)
        await self._ending.wait()
        for task in self._kept:
            task.cancel()
        await asyncio.gather(*self._kept)

    def _begin(self, name: str, part: Callable[[], Coroutine[Any, Any, None]]) -> None:
        task = asyncio.create_task(_told(name, part), name=f"agrajag-client: {name}")
        self._kept.add(task)
        task.add_done_callback(self._kept.discard)

    def _tell_left(self, timeout_seconds: float) -> None:
        parts = sorted(task.get_name() for task in tuple(self._kept))
        log.error("client_not_ended", after_seconds=timeout_seconds, parts=parts)


async def _told(name: str, part: Callable[[], Coroutine[Any, Any, None]]) -> None:
    try:
        await part()
    except asyncio.CancelledError:
        return
    except Exception as error:
        log.exception("client_part_ended", part=name, reason=str(error))

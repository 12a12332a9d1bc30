"""Waits for a condition with a deadline: the only way in which a test waits.

The condition returns something true when it holds. An AssertionError that it raises means "not yet", and
the last one is shown when the time is up, so a condition may be written with `assert`.
"""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar, overload

T = TypeVar("T")

_POLL_SECONDS = 0.02


@overload
async def eventually(condition: Callable[[], Awaitable[T]], timeout: float = ...) -> T: ...
@overload
async def eventually(condition: Callable[[], T], timeout: float = ...) -> T: ...
async def eventually(condition: Callable[[], T | Awaitable[T]], timeout: float = 15.0) -> T:
    """The first true value of a sync or async condition; AssertionError after `timeout` seconds."""
    attempts = _Attempts(timeout)
    for _ in attempts:
        with attempts:
            value = condition()
            result: T = await value if inspect.isawaitable(value) else value
            if result:
                return result
        await asyncio.sleep(attempts.pause_seconds)
    raise attempts.failure(condition)


def eventually_blocking(condition: Callable[[], T], timeout: float = 15.0) -> T:
    """`eventually` for a test without an event loop."""
    attempts = _Attempts(timeout)
    for _ in attempts:
        with attempts:
            result = condition()
            if result:
                return result
        time.sleep(attempts.pause_seconds)
    raise attempts.failure(condition)


class _Attempts:
    """Counts time, not tries; as a context manager it takes in what a failed try raises."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._last_error: AssertionError | None = None
        self._began = 0.0
        self.pause_seconds = _POLL_SECONDS

    def __iter__(self) -> Iterator[None]:
        deadline = time.monotonic() + self._timeout
        yield
        while time.monotonic() < deadline:
            yield
        yield  # once more after the deadline, for a machine that was busy elsewhere

    def __enter__(self) -> None:
        self._last_error = None
        self._began = time.monotonic()

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> bool:
        self._last_error = error if isinstance(error, AssertionError) else None
        # A look that costs much is taken seldom: what is waited for needs the processor too.
        self.pause_seconds = max(_POLL_SECONDS, time.monotonic() - self._began)
        return self._last_error is not None

    def failure(self, condition: object) -> AssertionError:
        told = AssertionError(
            f"not within {self._timeout:g} s: {condition}: {self._last_error or 'still not true'}"
        )
        told.__cause__ = self._last_error
        return told

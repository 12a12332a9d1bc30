"""Lets a signal end a program in order: the first cancels it, the second ends it as signals do."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_interruptibly(work: Coroutine[Any, Any, T], tell: Callable[[str], None]) -> T | None:
    """What `work` returns; None if SIGINT or SIGTERM cancelled it, after it has cleaned up."""
    return asyncio.run(_cancelled_by_signals(work, tell))


async def _cancelled_by_signals(work: Coroutine[Any, Any, T], tell: Callable[[str], None]) -> T | None:
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)

    def on_signal() -> None:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)
        tell("stopping; the same again ends it at once")
        task.cancel()

    for number in _SIGNALS:
        loop.add_signal_handler(number, on_signal)
    try:
        return await task
    except asyncio.CancelledError:
        return None

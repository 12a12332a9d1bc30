"""Runs a role until the process is told to end."""

import asyncio
import signal
from collections.abc import Coroutine


def run_until_stopped(work: Coroutine[None, None, None]) -> int:
    """Run `work` to its end; SIGTERM or SIGINT cancels it, and then 0 is what the process ends with."""
    return asyncio.run(_until_stopped(work))


async def _until_stopped(work: Coroutine[None, None, None]) -> int:
    task = asyncio.create_task(work)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        return 0
    return 0

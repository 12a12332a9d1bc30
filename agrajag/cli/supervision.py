"""Keeps the parts of one machine running: starts them in order, again when they die, and ends them in reverse.

A part that has died is started again after a pause that doubles. One that dies five times in a row, each time soon
after its start, or that says its setup is wrong, is given up, and everything with it; unless nobody is to be given up
for dying, and then the pauses grow to a minute.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from agrajag.errors import PermanentError, TransientError

T = TypeVar("T")

QUICK_SECONDS = 30.0
"""A part that lived longer had started well: its pauses begin anew."""
QUICK_DEATHS = 5
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 60.0
_LOOK_SECONDS = 0.2


class Part(Protocol):
    """A process to be kept running. All methods block; `stop` also ends a `start` that is under way."""

    @property
    def name(self) -> str:
        """What the part is called in messages."""
        ...

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        ...

    def start(self) -> None:
        """Return when it is up. Raises ConfigError or TransientError if it is not."""
        ...

    def stop(self) -> None:
        """End it in good order, by force if it takes too long."""
        ...

    def check(self) -> None:
        """Raises if it has died: TransientError, or ConfigError where starting it again cannot help."""
        ...


@dataclass
class _Kept:
    part: Part
    started_at: float = 0.0
    quick_deaths: int = 0
    restart_at: float | None = None
    starting: "asyncio.Future[None] | None" = field(default=None, repr=False)


class Supervisor:
    """`tell` is given one line for every death and every new start; `clock` is in seconds and only grows.

    With `gives_up` a part that dies five times in a row is given up.
    """

    def __init__(
        self,
        tell: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        *,
        gives_up: bool = True,
    ) -> None:
        self._tell = tell
        self._clock = clock
        self._gives_up = gives_up
        self._stages: list[list[_Kept]] = []

    async def start(self, *parts: Part) -> None:
        """Start these together, after those before. Raises what a part raises that does not start."""
        stage = [_Kept(part) for part in parts]
        self._stages.append(stage)
        await asyncio.gather(*map(self._start, stage))

    async def watch(self) -> None:
        """Never returns. Raises ConfigError or PermanentError for a part that is given up."""
        while True:
            await self.look()
            await asyncio.sleep(_LOOK_SECONDS)

    async def beside(self, work: Coroutine[Any, Any, T]) -> T:
        """What `work` returns, watched meanwhile. Raises what `watch` raises."""
        working, watching = asyncio.ensure_future(work), asyncio.ensure_future(self.watch())
        try:
            await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
            if watching.done():
                watching.result()
            return await working
        finally:
            working.cancel()
            watching.cancel()
            await asyncio.wait({working, watching})

    async def look(self) -> None:
        """Look at every part once, and do what is due."""
        for kept in [kept for stage in self._stages for kept in stage]:
            if kept.part.alive:
                continue
            if kept.restart_at is None:
                self._mourn(kept)
            elif self._clock() >= kept.restart_at:
                kept.restart_at = None
                self._tell(f"{kept.part.name}: starting again")
                try:
                    await self._start(kept)
                except TransientError as error:
                    self._schedule(kept, error)

    async def stop(self) -> None:
        """End all parts, the last started first; those started together end together. Raises nothing."""
        for stage in reversed(self._stages):
            await asyncio.gather(*map(self._stop, stage))
        self._stages.clear()

    async def _start(self, kept: _Kept) -> None:
        # A thread cannot be cancelled: `stop` has to wait for it, or would leave behind what it starts.
        kept.starting = asyncio.ensure_future(asyncio.to_thread(kept.part.start))
        try:
            await asyncio.shield(kept.starting)
        finally:
            kept.started_at = self._clock()

    async def _stop(self, kept: _Kept) -> None:
        starting = kept.starting
        was_up = starting is None or starting.done()
        await asyncio.to_thread(kept.part.stop)
        if starting is not None:
            await asyncio.wait({starting})
            starting.exception()  # looked at, or asyncio complains that nobody did
        if not was_up:
            await asyncio.to_thread(kept.part.stop)

    def _mourn(self, kept: _Kept) -> None:
        try:
            kept.part.check()
        except TransientError as error:
            self._schedule(kept, error)

    def _schedule(self, kept: _Kept, death: TransientError) -> None:
        now = self._clock()
        lived_seconds = now - kept.started_at
        kept.quick_deaths = kept.quick_deaths + 1 if lived_seconds < QUICK_SECONDS else 1
        if self._gives_up and kept.quick_deaths >= QUICK_DEATHS:
            raise PermanentError(f"{death}\n{kept.part.name}: died {QUICK_DEATHS} times in a row, given up")
        self._tell(str(death))
        pause_seconds = _FIRST_PAUSE_SECONDS * 2 ** min(kept.quick_deaths - 1, 16)
        kept.restart_at = now + min(pause_seconds, _LONGEST_PAUSE_SECONDS)

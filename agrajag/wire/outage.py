"""How a role waits for a side that is away: for as long as it takes, and without a log line for every try."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable

import structlog

from agrajag.errors import TransientError

log = structlog.get_logger(__name__)

FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 10.0


class Outage:
    """Pauses that double up to ten seconds, each shortened at random by up to half, so that no two march in step.

    Logs when the side goes away and when it is back.
    """

    def __init__(self, role: str, side: str) -> None:
        """`role` is who waits: `sink` logs `sink_waits` and `sink_goes_on`."""
        self._waits, self._goes_on = f"{role}_waits", f"{role}_goes_on"
        self._side = side
        self._since: float | None = None
        self._tries = 0

    @property
    def goes_on(self) -> bool:
        """Whether the side is away."""
        return self._since is not None

    async def pause(self, error: TransientError) -> None:
        """Sleeps until the next try is due."""
        if self._since is None:
            self._since = time.monotonic()
            log.error(self._waits, side=self._side, reason=str(error))
        self._tries += 1
        await asyncio.sleep(pause_seconds(self._tries))

    def over(self) -> None:
        """To be called whenever the side has answered."""
        if self._since is not None:
            away_seconds = round(time.monotonic() - self._since, 1)
            log.info(self._goes_on, side=self._side, away_seconds=away_seconds, tries=self._tries)
            self._since = None
            self._tries = 0


async def begun(outage: Outage, *starts: Callable[[], Awaitable[None]]) -> None:
    """Returns when each of these has returned, one after the other, each tried again until its side answers."""
    for start in starts:
        while True:
            try:
                await start()
            except TransientError as error:
                await outage.pause(error)
            else:
                outage.over()
                break


def pause_seconds(tries: int) -> float:
    """How long to wait after so many failed tries, from 1."""
    longest = min(FIRST_PAUSE_SECONDS * 2.0 ** min(tries - 1, 16), LONGEST_PAUSE_SECONDS)
    return longest * random.uniform(0.5, 1)  # noqa: S311 - no secret

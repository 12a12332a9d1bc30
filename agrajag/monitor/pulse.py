"""What a role last told of itself, for whoever asks from another thread.

The role's event loop tells, the server's threads ask: all they share is replaced as a whole, never changed.
"""

import math
import time
from collections.abc import Callable
from typing import NamedTuple

from agrajag.metrics import LAG, LAST_COMMIT_AGE
from agrajag.monitor.readiness import Readiness, Vitals, behind_since, readiness


class _Seen(NamedTuple):
    vitals: Vitals | None
    behind: float | None


class Pulse:
    """One for each role and process; `clock` is the monotonic one, in seconds."""

    def __init__(self, unready_after_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._unready_after_seconds = unready_after_seconds
        self._clock = clock
        self._seen = _Seen(None, None)
        self.stall: Callable[[], str | None] = lambda: None
        """What stands still, so that the process should be started again; nothing does before the work begins."""
        LAST_COMMIT_AGE.set_function(self._commit_age_seconds)

    def seen(self, vitals: Vitals) -> None:
        """Take note of a new look at the role."""
        before = self._seen
        self._seen = _Seen(vitals, behind_since(before.behind, vitals))
        for topic in before.vitals.lag.keys() - vitals.lag.keys() if before.vitals else ():
            LAG.remove(topic)
        for topic, lag in vitals.lag.items():
            LAG.labels(topic).set(lag)

    def readiness(self) -> Readiness:
        """Whether the role is ready now."""
        vitals, behind = self._seen
        return readiness(vitals, behind, self._clock(), self._unready_after_seconds)

    def _commit_age_seconds(self) -> float:
        age = self.readiness().commit_age_seconds
        return math.nan if age is None else age

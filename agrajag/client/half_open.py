"""Lets one call of a process through first when a refusal has ended; the others wait for what becomes of it.

If it works, all pass. If it fails, a little later another one tries, unless a new pause has come by then. One of which
nothing is heard frees itself.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from threading import Lock
from typing import NamedTuple

from agrajag.core.admission import Ended
from agrajag.core.lookup import Caller
from agrajag.metrics import GUARD_TRIES, TryEnd

TRY_SECONDS = 30.0
"""How long the one call is waited for."""
FAILED_SECONDS = 5.0
"""How long nobody tries again after it has failed: until the new pause is known."""
_WORKED_SECONDS = 3_600.0
_MAX_TRIES = 1_000


class _State(Enum):
    TRYING = auto()
    FAILED = auto()
    WORKED = auto()


@dataclass(slots=True)
class _Try:
    who: tuple[Caller, str]
    state: _State
    until_seconds: float


class Entered(NamedTuple):
    """What a call meets: nothing, that it is the one that tries, or that it has to wait, for so long at most."""

    is_try: bool = False
    wait_seconds: float | None = None


class HalfOpen:
    """The tries of one process, for any number of threads. All times are of one clock that only grows."""

    def __init__(self, try_seconds: float = TRY_SECONDS, failed_seconds: float = FAILED_SECONDS) -> None:
        self._try_seconds = try_seconds
        self._failed_seconds = failed_seconds
        self._tries: dict[Ended, _Try] = {}
        self._changing = Lock()

    def enter(self, ended: Iterable[Ended], who: tuple[Caller, str], now_seconds: float) -> Entered:
        """Whether a call that depends on all of these may be made, and whether it is the one that tries."""
        with self._changing:
            self._forget(now_seconds)
            known = {one: self._tries.get(one) for one in ended}
            waits = [
                found.until_seconds - now_seconds
                for found in known.values()
                if found is not None and found.state is not _State.WORKED
            ]
            if waits:
                return Entered(wait_seconds=max(waits))
            new = [one for one, found in known.items() if found is None]
            for one in new:
                self._tries[one] = _Try(who, _State.TRYING, now_seconds + self._try_seconds)
            return Entered(is_try=bool(new))

    def ended(self, who: tuple[Caller, str], worked: bool, now_seconds: float) -> None:
        """What became of a call of this caller, whether it was the one that tried or another."""
        if not self._tries:
            return
        with self._changing:
            own = [one for one in self._tries.values() if one.who == who and one.state is _State.TRYING]
            for one in own:
                one.state = _State.WORKED if worked else _State.FAILED
                one.until_seconds = now_seconds + (_WORKED_SECONDS if worked else self._failed_seconds)
            GUARD_TRIES.labels(TryEnd.WORKED if worked else TryEnd.FAILED).inc(len(own))

    def _forget(self, now_seconds: float) -> None:
        """Let go of what is over, and of the oldest where there are too many."""
        over = [one for one, found in self._tries.items() if found.until_seconds <= now_seconds]
        for one in over:
            if self._tries.pop(one).state is _State.TRYING:
                GUARD_TRIES.labels(TryEnd.ABANDONED).inc()
        while len(self._tries) >= _MAX_TRIES:
            del self._tries[next(iter(self._tries))]

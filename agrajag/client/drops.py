"""Counts the reports that nobody will hear of, and says so now and then."""

import threading
from collections import Counter

import structlog

from agrajag.metrics import CLIENT_DROPPED, DropReason

log = structlog.get_logger(__name__)

TELL_AGAIN_SECONDS = 10.0


class Drops:
    """For any number of threads. Each failed call counts, also one that shares a report with others."""

    def __init__(self) -> None:
        self._counts: Counter[DropReason] = Counter()
        self._told: Counter[DropReason] = Counter()
        self._told_at = -TELL_AGAIN_SECONDS
        self._counting = threading.Lock()

    def add(self, reason: DropReason, count: int = 1) -> None:
        """So many more."""
        with self._counting:
            self._counts[reason] += count
        CLIENT_DROPPED.labels(reason).inc(count)

    def counts(self) -> dict[DropReason, int]:
        """How many there were, by reason."""
        with self._counting:
            return dict(self._counts)

    def tell(self, now_seconds: float, *, at_once: bool = False) -> None:
        """Logs those that were not logged yet, at most every ten seconds of a clock that only grows."""
        with self._counting:
            untold = self._counts - self._told
            if not untold or not (at_once or now_seconds - self._told_at >= TELL_AGAIN_SECONDS):
                return
            self._told_at = now_seconds
            self._told = self._counts.copy()
        log.warning(
            "client_reports_dropped", **{reason.value: count for reason, count in sorted(untold.items())}
        )

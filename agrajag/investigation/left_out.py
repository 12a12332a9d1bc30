"""Counts what a look at a source has left out, and says so once at its end: in the log, and as a metric."""

from collections import Counter

import structlog

from agrajag.core.shown import visible
from agrajag.metrics import EVIDENCE_LEFT_OUT, LeftOutKind

log = structlog.get_logger(__name__)


class LeftOut:
    """What one look has left out. Only names of files are kept, and of them the first of each kind."""

    def __init__(self) -> None:
        self.counts: Counter[LeftOutKind] = Counter()
        self._first: dict[LeftOutKind, str] = {}

    def add(self, kind: LeftOutKind, file: str) -> None:
        """One thing more, in or at this file."""
        self.counts[kind] += 1
        self._first.setdefault(kind, file)

    def tell(self, source: str) -> None:
        """Log and count all of it."""
        for kind, count in self.counts.items():
            EVIDENCE_LEFT_OUT.labels(kind).inc(count)
            log.warning(
                "evidence_left_out", source=source, kind=kind, count=count, first=visible(self._first[kind])
            )

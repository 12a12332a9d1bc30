"""Tells in the log which errors shadow rules would have decided: by rule, at a bounded rate, with ids.

The first ones are told at once; what follows within a minute waits for the next after it and is told together. At most
twenty lines then, those with the most errors; the metrics count the rest as well.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

import structlog

from agrajag.core.trial import Tried
from agrajag.core.verdicts import Arrival
from agrajag.model.events import ToolCallError

log = structlog.get_logger(__name__)

EVERY = timedelta(minutes=1)
MAX_LINES = 20
_MAX_WAITING = 1_000


class _Subject(NamedTuple):
    tenant_id: str
    project_id: str | None
    rule_id: str | None
    instead_of: str | None
    outcome: str
    classification: str


class ShadowLog:
    """One worker's; bounded in lines and in memory."""

    def __init__(self) -> None:
        self._waiting: dict[_Subject, tuple[int, str]] = {}
        self._untold = 0
        self._told_at: datetime | None = None

    def tell(self, found: Iterable[tuple[Arrival[ToolCallError], Tried]], now: datetime) -> None:
        """Take up what was found, and write what is due."""
        for arrival, one in found:
            self._take(arrival, one)
        if self._waiting and (self._told_at is None or now - self._told_at >= EVERY):
            self._told_at = now
            self._write()

    def _take(self, arrival: Arrival[ToolCallError], one: Tried) -> None:
        event = arrival.event
        subject = _Subject(
            event.tenant_id,
            event.project_id,
            one.rule.id if one.rule is not None else None,
            one.instead_of.id if one.instead_of is not None else None,
            one.outcome,
            one.classification,
        )
        known = self._waiting.get(subject)
        if known is None and len(self._waiting) >= _MAX_WAITING:
            self._untold += 1
            return
        self._waiting[subject] = ((known[0] if known else 0) + 1, arrival.event_id)

    def _write(self) -> None:
        lines = sorted(self._waiting.items(), key=lambda item: -item[1][0])
        for subject, (errors, event_id) in lines[:MAX_LINES]:
            log.info("shadow_rule_would_decide", **subject._asdict(), errors=errors, last_event_id=event_id)
        untold = self._untold + sum(errors for _, (errors, _) in lines[MAX_LINES:])
        if untold:
            log.info("shadow_rules_would_decide_more", errors=untold)
        self._waiting.clear()
        self._untold = 0

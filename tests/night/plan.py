"""Decides what happens when in a night: a pure function of its length.

A night of thirty minutes is the measure; a shorter one has everything in the same order, each span in the same share.
All faults are over before the second half, in which memory is measured.
"""

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

_MEASURE_MINUTES = 30.0


class Fault(StrEnum):
    """What goes wrong, once each."""

    WORKER_KILLED = "a worker killed"
    KAFKA_RESTARTED = "Kafka restarted"
    RULES_BROKEN = "rules file broken"
    STORE_STOPPED = "store stopped"


NOT_PLAYED = ("a full disk", "SASL and TLS on the wire", "alerts and dashboards in a real Prometheus")
"""What this night does not play, and says so in its report: it is never counted as passed."""

_BEGIN_SECONDS = {
    Fault.WORKER_KILLED: 120.0,
    Fault.KAFKA_RESTARTED: 270.0,
    Fault.RULES_BROKEN: 420.0,
    Fault.STORE_STOPPED: 600.0,
}
_LAST_SECONDS = {Fault.RULES_BROKEN: 90.0, Fault.STORE_STOPPED: 180.0}
_SHORTEST_RULES_SECONDS = 10.0
"""A changed file is taken up within five seconds, however short the night."""


@dataclass(frozen=True, slots=True)
class Span:
    """One fault: when it begins, from the night's beginning, and how long it lasts; 0 for what is over at once."""

    fault: Fault
    begins_seconds: float
    lasts_seconds: float

    @property
    def ends_seconds(self) -> float:
        """From the night's beginning."""
        return self.begins_seconds + self.lasts_seconds


@dataclass(frozen=True, slots=True)
class Night:
    """How long the load lasts, and the faults in their order."""

    lasts_seconds: float
    spans: tuple[Span, ...]


def night_of(minutes: float) -> Night:
    """The night of this length. Raises ValueError for one in which the faults would run into each other."""
    scale = minutes / _MEASURE_MINUTES
    spans = tuple(
        Span(fault, begins * scale, _scaled(fault, scale)) for fault, begins in _BEGIN_SECONDS.items()
    )
    for one, following in pairwise(spans):
        if one.ends_seconds >= following.begins_seconds:
            raise ValueError(f"{minutes:g} minutes are too short: {one.fault} lasts into {following.fault}")
    return Night(minutes * 60, spans)


def _scaled(fault: Fault, scale: float) -> float:
    seconds = _LAST_SECONDS.get(fault, 0.0) * scale
    return max(seconds, _SHORTEST_RULES_SECONDS) if fault is Fault.RULES_BROKEN else seconds

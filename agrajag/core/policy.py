"""The numbers and switches that decisions use, with the defaults of the specification; a tenant may override them."""

from dataclasses import dataclass
from datetime import timedelta

COOLDOWN_FLOOR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Names:
    """What a switch is about: all there are, or those named."""

    every: bool = False
    names: frozenset[str] = frozenset()

    def __contains__(self, name: str) -> bool:
        return self.every or name in self.names


NO_NAMES = Names()
ALL_NAMES = Names(every=True)


@dataclass(frozen=True, slots=True)
class Policy:
    """Spans, sizes and switches of Layer 1.

    `cooldown_max` caps every automatic cooldown and recovery time, and is never below an hour (`agrajag.cooldown.max`).
    `hits_memory` is how long after its end a cooldown is remembered, so that the next one is longer. `freshness` is how
    long a diagnosis answers for its signature (spec agrajag §8.2). `lease` is how long a job counts as in flight.
    `late_after` is the age at which an error says nothing about now. `answer_all` publishes a check result for every
    error, not only for those that ask. `never_diagnosed` are tools for which no diagnosis begins, `never_down` those
    that nothing but a person or a lost connection makes DOWN. `packs_off` are the rule packs that do not count.
    """

    cooldown_max: timedelta = timedelta(hours=24)
    hits_memory: timedelta = timedelta(hours=1)
    freshness: timedelta = timedelta(minutes=5)
    lease: timedelta = timedelta(minutes=15)
    late_after: timedelta = timedelta(minutes=15)
    unconfirmed_after: timedelta = timedelta(hours=24)
    history_size: int = 20
    answer_all: bool = False
    never_diagnosed: Names = NO_NAMES
    never_down: Names = NO_NAMES
    packs_off: Names = NO_NAMES

    def capped(self, span: timedelta) -> timedelta:
        """`span`, at most the greater of `cooldown_max` and one hour."""
        return min(span, max(self.cooldown_max, COOLDOWN_FLOOR))

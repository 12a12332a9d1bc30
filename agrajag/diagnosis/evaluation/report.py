"""Adds up what came of all scenarios, and says which of them went worst. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from agrajag.diagnosis.evaluation.judging import Grade
from agrajag.diagnosis.evaluation.running import Ran

_MICRO = 1_000_000


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one engine. `acceptable` are those beside `exact`; what is neither, nor harmful, is wrong."""

    scenarios: int
    exact: int
    acceptable: int
    harmful: int
    skipped: int
    probes: int
    rounds: int
    tokens: int
    cost_usd: float

    @property
    def wrong(self) -> int:
        """How many answers were useless, and no more."""
        return self.scenarios - self.exact - self.acceptable - self.harmful - self.skipped

    @property
    def is_passed(self) -> bool:
        """Whether every scenario was run, and none did harm."""
        return not self.harmful and not self.skipped

    def as_json(self) -> dict[str, Any]:
        """The figures by their names on the wire."""
        return {
            "scenarios": self.scenarios,
            "exact": self.exact,
            "acceptable": self.acceptable,
            "harmful": self.harmful,
            "skipped": self.skipped,
            "probes": self.probes,
            "rounds": self.rounds,
            "tokens": self.tokens,
            "costUsd": self.cost_usd,
        }


def figures(rans: Sequence[Ran]) -> Figures:
    """The sums over one engine's runs."""
    grades = Counter(ran.judgement.grade if ran.judgement else None for ran in rans)
    return Figures(
        scenarios=len(rans),
        exact=grades[Grade.EXACT],
        acceptable=grades[Grade.ACCEPTABLE],
        harmful=grades[Grade.HARMFUL],
        skipped=grades[None],
        probes=sum(ran.probes for ran in rans),
        rounds=sum(ran.rounds for ran in rans),
        tokens=sum(ran.tokens for ran in rans),
        cost_usd=sum(ran.cost_micro_usd for ran in rans) / _MICRO,
    )


class EngineReport(NamedTuple):
    """What is told of one engine: its figures, and all that was not exact, the worst first."""

    figures: Figures
    worst: Sequence[Ran]


def reported(rans: Sequence[Ran]) -> EngineReport:
    """The report about one engine's runs."""
    return EngineReport(figures(rans), worst_first(rans))


def badness(ran: Ran) -> int:
    """0 for an exact answer, the more the worse; what was skipped is nearly as bad as what did harm."""
    if ran.judgement is None:
        return 3
    return {Grade.EXACT: 0, Grade.ACCEPTABLE: 1, Grade.WRONG: 2, Grade.HARMFUL: 4}[ran.judgement.grade]


def worst_first(rans: Iterable[Ran]) -> list[Ran]:
    """All that were not exact, the worst first, in the order of their ids."""
    return sorted(filter(badness, rans), key=lambda ran: (-badness(ran), ran.scenario.id))


def worst_of(rans: Sequence[Ran]) -> Ran:
    """Several runs of one scenario as one: the worst of them, with what all of them have used."""
    return replace(
        max(rans, key=badness),
        probes=sum(ran.probes for ran in rans),
        rounds=sum(ran.rounds for ran in rans),
        tokens=sum(ran.tokens for ran in rans),
        cost_micro_usd=sum(ran.cost_micro_usd for ran in rans),
    )

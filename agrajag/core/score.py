"""Scores a rule set against failures whose right classification somebody has written down.

Five figures: how many of the unambiguous records are classified as labelled, how many of all, how many as labelled or
as one of the label's alternatives; beside them how many were left UNCLEAR that are not, and how many waits are right.
Counted apart are harmful confusions: what the caller or time can mend taken for a broken tool, a pause taken for a
refusal, a dead backend taken for a bad argument. An answer that the label allows is no confusion.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from agrajag.core.drafts import Drafts
from agrajag.core.explain import nothing_stands
from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.core.rules import Rule
from agrajag.core.triage import triage
from agrajag.core.verdicts import Arrival, Verdict
from agrajag.model.enums import Classification
from agrajag.model.events import ToolCallError

TOLERANCE_SECONDS = 1.0
"""How far a wait may be from the one that the response names."""

_C = Classification
_HARMFUL = frozenset(
    {
        *((mendable, _C.TECHNICALLY_BROKEN) for mendable in _C if mendable.name.startswith("USER_")),
        (_C.INTERMITTENT, _C.TECHNICALLY_BROKEN),
        (_C.INTERMITTENT, _C.USER_PERMISSION),
        (_C.TECHNICALLY_BROKEN, _C.USER_INPUT),
    }
)


class Labelled(NamedTuple):
    """One failure as it would be reported, and what it is. `alternatives` are classifications that are right as well;
    a record that has some is ambiguous. `cooldown_seconds` is the wait that the response names, if it does.

    `fidelity` says how much of it was seen, documented or made up.
    """

    id: str
    family: str
    fidelity: str
    expected: Classification
    alternatives: frozenset[Classification]
    cooldown_seconds: float | None
    arrival: Arrival[ToolCallError]


class Scored(NamedTuple):
    """What was said about one record, by which rule, and how long its cooldown lasts."""

    record: Labelled
    said: Classification
    rule: Rule | None
    cooldown_seconds: float | None

    @property
    def is_right(self) -> bool:
        """Whether it was classified as labelled."""
        return self.said is self.record.expected

    @property
    def is_acceptable(self) -> bool:
        """Whether the label allows what was said."""
        return self.is_right or self.said in self.record.alternatives

    @property
    def is_harmful_by_label(self) -> bool:
        """Whether it is harmful to take the label for what was said, whatever the alternatives."""
        return (self.record.expected, self.said) in _HARMFUL

    @property
    def is_harmful(self) -> bool:
        """Whether somebody would suffer from what was said."""
        return self.is_harmful_by_label and not self.is_acceptable

    @property
    def is_left_unclear(self) -> bool:
        """Whether nothing was said about a record that something can be said about."""
        return self.said is _C.UNCLEAR and self.record.expected is not _C.UNCLEAR

    @property
    def waits_as_long(self) -> bool:
        """Whether the cooldown is the wait that the response names."""
        named, waits = self.record.cooldown_seconds, self.cooldown_seconds
        return named is not None and waits is not None and abs(named - waits) <= TOLERANCE_SECONDS


class Share(NamedTuple):
    """`right` of so many."""

    right: int
    of: int

    @property
    def share(self) -> float | None:
        """The share of the right ones; None of none."""
        return self.right / self.of if self.of else None


class Score:
    """The figures of some records."""

    def __init__(self, scored: Iterable[Scored]) -> None:
        self.scored = tuple(scored)

    @property
    def unambiguous(self) -> Share:
        """Classified as labelled, of the records with one right answer."""
        clear = [one for one in self.scored if not one.record.alternatives]
        return Share(sum(one.is_right for one in clear), len(clear))

    @property
    def all(self) -> Share:
        """Classified as labelled."""
        return Share(sum(one.is_right for one in self.scored), len(self.scored))

    @property
    def acceptable(self) -> Share:
        """Classified as labelled or as an alternative."""
        return Share(sum(one.is_acceptable for one in self.scored), len(self.scored))

    @property
    def unclear(self) -> Share:
        """Left UNCLEAR, of the records that are labelled otherwise: here less is better."""
        known = [one for one in self.scored if one.record.expected is not _C.UNCLEAR]
        return Share(sum(one.is_left_unclear for one in known), len(known))

    @property
    def cooldown(self) -> Share:
        """Waits as long as the response asks for, of the records whose response asks."""
        asked = [one for one in self.scored if one.record.cooldown_seconds is not None]
        return Share(sum(one.waits_as_long for one in asked), len(asked))

    @property
    def harmful(self) -> tuple[Scored, ...]:
        """The harmful confusions."""
        return tuple(one for one in self.scored if one.is_harmful)

    @property
    def wrong(self) -> tuple[Scored, ...]:
        """What the labels do not allow, the worst first: harmful, then wrong answers, then answers not given."""
        wrong = [one for one in self.scored if not one.is_acceptable or self._misses_wait(one)]
        return tuple(sorted(wrong, key=_badness, reverse=True))

    @property
    def families(self) -> Mapping[str, "Score"]:
        """The same of each family, by name."""
        found: dict[str, list[Scored]] = defaultdict(list)
        for one in self.scored:
            found[one.record.family].append(one)
        return {family: Score(found[family]) for family in sorted(found)}

    @property
    def confusion(self) -> Mapping[Classification, Mapping[Classification, int]]:
        """For each label, how often what was said."""
        found: dict[Classification, Counter[Classification]] = defaultdict(Counter)
        for one in self.scored:
            found[one.record.expected][one.said] += 1
        return {label: found[label] for label in _C if label in found}

    @staticmethod
    def _misses_wait(one: Scored) -> bool:
        return one.record.cooldown_seconds is not None and not one.waits_as_long


def _badness(one: Scored) -> tuple[bool, bool, bool]:
    return one.is_harmful, not one.is_acceptable and one.said is not _C.UNCLEAR, not one.record.alternatives


def score(records: Iterable[Labelled], rules_for: Callable[[str], RuleSet], policy: Policy) -> Score:
    """What Layer 1 says about each record where nothing stands; `rules_for` a family are asked about its records."""
    return Score(_scored(record, rules_for(record.family), policy) for record in records)


def _scored(record: Labelled, rules: RuleSet, policy: Policy) -> Scored:
    decided = triage(record.arrival, Drafts(nothing_stands), rules, policy, record.arrival.appended_at)
    if not isinstance(decided, Verdict):
        raise AssertionError("where nothing stands nothing was applied before")
    rule, until = decided.rule, decided.cooldown_until
    said = rule.classification if rule is not None else _C.UNCLEAR
    return Scored(record, said, rule, (until - decided.now).total_seconds() if until is not None else None)

"""Find the first rule that matches an error, at a cost that does not grow with the number of rules.

Rules are compiled once per set. A rule waits under its most telling facts (`Selectors.anchors`): error codes,
substrings of the text (found by one Aho-Corasick pass), exception classes, headers, the tool; else, or where these are
those of nearly every call, under its statuses; else under nothing. Only the rules found there are compared in full, and
the lowest position wins, which is exactly the first match in order.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import ahocorasick

from agrajag.core.condition import Anchor, AnchorKind
from agrajag.core.facts import CHEAPEST_FIRST, Finder, finder
from agrajag.core.features import Features
from agrajag.core.rules import Rule, merge
from agrajag.core.selectors import Selectors

LINEAR = 8
"""Up to so many rules that wait for texts are tried one by one: cheaper than a pass over the text."""
FEW_STATUSES = 10
"""Up to so many statuses tell more about an error than what nearly every call shows, or what has to be searched for."""
_OF_MANY = frozenset((AnchorKind.CALL, AnchorKind.PATTERN))


class RuleSet:
    """An ordered set of rules, compiled. `hash` names its content: equal rules in equal order have equal hashes.

    `trial` is the set as it would be with its shadow rules in force; None where no shadow rule would change it.
    """

    def __init__(self, rules: Sequence[Rule], trial: "RuleSet | None" = None) -> None:
        self.rules = tuple(rules)
        self.trial = trial
        self.hash = hashlib.sha256(repr(self.rules).encode()).hexdigest()[:16]
        matches = self._matches = [rule.match for rule in self.rules]
        waiting: dict[AnchorKind, dict[Hashable, list[int]]] = defaultdict(lambda: defaultdict(list))
        by_status: dict[int, list[int]] = defaultdict(list)
        self._unanchored: list[int] = []
        for position, match in enumerate(matches):
            anchors, statuses = _waits_for(match)
            for kind, key in anchors:
                waiting[kind][key].append(position)
            for status in statuses:
                by_status[status].append(position)
            if not anchors and not statuses:
                self._unanchored.append(position)
            if match == _EVERYTHING:
                break  # nothing behind it ever matches first
        by_text = waiting.pop(AnchorKind.TEXT, {})
        self._by_status = dict(by_status)
        self._indexes = [
            _Index(dict(found), min(positions[0] for positions in found.values()), finder(kind, found))
            for kind in CHEAPEST_FIRST
            if (found := waiting.get(kind))
        ]
        in_texts = {position for found in by_text.values() for position in found}
        self._lowest_in_text = min(in_texts, default=len(matches))
        self._automaton = _automaton(by_text) if len(in_texts) > LINEAR else None
        if self._automaton is None:
            self._unanchored = sorted(in_texts.union(self._unanchored))

    def first_match(self, features: Features) -> Rule | None:
        """The first rule in order that matches, or None where not even a fallback does.

        A view of the error is only drawn where a rule above all that match so far needs it.
        """
        best = nowhere = len(self.rules)
        if features.http_status is not None:
            best = self._first(self._by_status.get(features.http_status, ()), features, best)
        best = self._first(self._unanchored, features, best)
        for by_key, lowest, found_in in self._indexes:
            if lowest < best:
                for key in found_in(features):
                    if (positions := by_key.get(key)) is not None:
                        best = self._first(positions, features, best)
        if self._automaton is not None and self._lowest_in_text < best:
            found = {id(positions): positions for _end, positions in self._automaton.iter(features.text)}
            for positions in found.values():
                best = self._first(positions, features, best)
        return self.rules[best] if best < nowhere else None

    def _first(self, positions: Sequence[int], features: Features, below: int) -> int:
        """The first of these positions, which are in order, that matches and is lower than `below`, else `below`."""
        matches = self._matches
        for position in positions:
            if position >= below:
                break
            if matches[position].hold(features):
                return position
        return below


def compiled(layers: Iterable[Sequence[Rule]]) -> RuleSet:
    """The set that layers, widest first, put in force, with the trial of their shadow rules (`core.rules.merge`)."""
    layers = list(layers)
    in_force = merge(layers)
    if any(rule.shadow for layer in layers for rule in layer):
        tried = merge(layers, on_trial=True)
        if tried != in_force:
            return RuleSet(in_force, RuleSet(tried))
    return RuleSet(in_force)


_EVERYTHING = Selectors()


def _waits_for(match: Selectors) -> tuple[Collection[Anchor], Collection[int]]:
    """The facts by which such rules are found, or else the statuses; neither where any error may fit."""
    anchors, statuses = tuple(dict.fromkeys(match.anchors())), match.statuses()
    if not anchors or (
        statuses is not None
        and len(statuses) <= FEW_STATUSES
        and _OF_MANY.issuperset(anchor.kind for anchor in anchors)
    ):
        return (), statuses or ()
    return anchors, ()


class _Index(NamedTuple):
    """Positions of rules by the facts that they wait for, the lowest of all, and what finds such facts in an error."""

    by_key: Mapping[Hashable, Sequence[int]]
    lowest: int
    found_in: Finder


def _automaton(by_text: Mapping[Any, list[int]]) -> Any:
    automaton = ahocorasick.Automaton()
    for text, found in by_text.items():
        automaton.add_word(text, found)
    automaton.make_automaton()
    return automaton

"""Find the first rule that matches an error, at a cost that does not grow with the number of rules.

Rules are compiled once per set. They fall into one group per HTTP status and one for rules that name none.
Inside a group a rule waits under its most telling selector: a substring of the body (found by one
Aho-Corasick pass over the text), an error code, an exception class, or none. Only the rules found there are
compared in full, and the lowest position wins, which is exactly the first match in order.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import ahocorasick

from agrajag.core.features import Features
from agrajag.core.rules import Rule, Selectors, merge

LINEAR = 8
"""Up to so many body rules of a group are tried one by one: cheaper than a pass over the text."""


class RuleSet:
    """An ordered set of rules, compiled. `hash` names its content: equal rules in equal order have equal hashes.

    `trial` is the set as it would be with its shadow rules in force; None where no shadow rule would change it.
    """

    def __init__(self, rules: Sequence[Rule], trial: "RuleSet | None" = None) -> None:
        self.rules = tuple(rules)
        self.trial = trial
        self.hash = hashlib.sha256(repr(self.rules).encode()).hexdigest()[:16]
        without_status: list[int] = []
        by_status: dict[int, list[int]] = defaultdict(list)
        for position, rule in enumerate(self.rules):
            if rule.match.http_statuses is None:
                without_status.append(position)
                continue
            low, high = rule.match.http_statuses
            for status in range(low, high + 1):
                by_status[status].append(position)
        self._any_status = _Group(self.rules, without_status)
        shared: dict[tuple[int, ...], _Group] = {}
        self._by_status: dict[int, _Group] = {}
        for status, positions in by_status.items():
            members = tuple(positions)
            if members not in shared:
                shared[members] = _Group(self.rules, members)
            self._by_status[status] = shared[members]

    def first_match(self, features: Features) -> Rule | None:
        """The first rule in order that matches, or None where not even a fallback does."""
        best = len(self.rules)
        status = features.http_status
        if status is not None and (group := self._by_status.get(status)) is not None:
            best = group.first(features, best)
        best = self._any_status.first(features, best)
        return self.rules[best] if best < len(self.rules) else None


def compiled(layers: Iterable[Sequence[Rule]]) -> RuleSet:
    """The set that layers, widest first, put in force, with the trial of their shadow rules (`core.rules.merge`)."""
    layers = list(layers)
    in_force = merge(layers)
    if any(rule.shadow for layer in layers for rule in layer):
        tried = merge(layers, on_trial=True)
        if tried != in_force:
            return RuleSet(in_force, RuleSet(tried))
    return RuleSet(in_force)


class _Group:
    """Rules that share their condition on the HTTP status, found by their most telling other selector."""

    def __init__(self, rules: Sequence[Rule], positions: Sequence[int]) -> None:
        self._rules = rules
        self._by_code: dict[str, list[int]] = defaultdict(list)
        self._by_exception: dict[str, list[int]] = defaultdict(list)
        self._unconditional: int | None = None
        body: list[int] = []
        for position in positions:
            match = rules[position].match
            if match.body_contains:
                body.append(position)
            elif match.error_code is not None:
                self._by_code[match.error_code].append(position)
            elif match.exception_types:
                for name in match.exception_types:
                    self._by_exception[name].append(position)
            elif self._unconditional is None:
                self._unconditional = position
        self._body_linear = body if len(body) <= LINEAR else []
        self._automaton = _automaton(rules, body) if len(body) > LINEAR else None
        nowhere = len(rules)
        self._lowest_body = min(body, default=nowhere)
        self._lowest_exception = min((found[0] for found in self._by_exception.values()), default=nowhere)
        self._lowest_code = min((found[0] for found in self._by_code.values()), default=nowhere)

    def first(self, features: Features, below: int) -> int:
        """The lowest matching position of this group that is lower than `below`, else `below`."""
        best = below
        if self._unconditional is not None and self._unconditional < best:
            best = self._unconditional
        for position in self._candidates(features, best):
            if position < best and _matches(self._rules[position].match, features):
                best = position
        return best

    def _candidates(self, features: Features, below: int) -> Iterator[int]:
        """Where a rule above `below` may wait. A view of the error is only drawn where such a rule needs it."""
        if self._lowest_code < below:
            for code in features.error_codes:
                yield from self._by_code.get(code, ())
        if self._lowest_exception < below:
            for name in features.exception_names:
                yield from self._by_exception.get(name, ())
        if self._lowest_body < below:
            yield from self._body_linear
            if self._automaton is not None:
                found = {id(positions): positions for _end, positions in self._automaton.iter(features.text)}
                for positions in found.values():
                    yield from positions


def _automaton(rules: Sequence[Rule], positions: Sequence[int]) -> Any:
    by_text: dict[str, list[int]] = defaultdict(list)
    for position in positions:
        for text in rules[position].match.body_contains:
            by_text[text].append(position)
    automaton = ahocorasick.Automaton()
    for text, found in by_text.items():
        automaton.add_word(text, found)
    automaton.make_automaton()
    return automaton


def _matches(match: Selectors, features: Features) -> bool:
    """Whether everything but the status, which the group stands for, fits."""
    if match.exception_types and features.exception_names.isdisjoint(match.exception_types):
        return False
    if match.error_code is not None and match.error_code not in features.error_codes:
        return False
    if not match.body_contains:
        return True
    text = features.text
    return any(part in text for part in match.body_contains)

"""Warns about rules that are well formed and still not what their author meant.

A warning takes nothing out of force. Only what is certain is told: a rule counts as hidden if one earlier rule alone
matches all that it matches; several that do so together are not looked for.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import ahocorasick

from agrajag.core.exceptions import JAVA_EQUIVALENTS, class_names
from agrajag.core.rules import FALLBACK, Layer, Problem, Rule, Selectors, merge
from agrajag.model.enums import Classification, HealthAction

MAX_COMPARED = 1_000_000
"""Pairs of rules that are looked at: a second or so. More are met only where thousands of rules are nearly equal."""

_ByCode: TypeAlias = dict[str | None, list[int]]
_NEVER_MARKS = (Classification.USER_PERMISSION, Classification.USER_INPUT)


def lint(layers: Sequence[Layer]) -> tuple[Problem, ...]:
    """What to look at in layers, widest first, that are merged with each other; in the order of the layers.

    A shadow rule is looked at where it would stand, the others as they are in force.
    """
    rules = [layer.rules for layer in layers]
    in_force, on_trial = merge(rules), merge(rules, on_trial=True)
    hidden = hidden_rules(in_force)
    tried = hidden if on_trial == in_force else hidden_rules(on_trial)
    standing: set[str] = set()
    with_shadows: set[str] = set()
    warnings: list[Problem] = []
    for layer in layers:
        standing |= {rule.id for rule in layer.rules if not rule.shadow}
        with_shadows |= {rule.id for rule in layer.rules}
        for rule in layer.rules:
            known = with_shadows if rule.shadow else standing
            warnings += [
                Problem(layer.source, rule.id, field, reason) for field, reason in _own_faults(rule, known)
            ]
            earlier = (tried if rule.shadow else hidden).by.get(id(rule))
            if earlier is not None:
                reason = f"can never match: {earlier.id!r} stands before it and matches all that it matches"
                warnings.append(Problem(layer.source, rule.id, "match", reason))
    if not (hidden.complete and tried.complete):
        reason = "so many rules are alike that not all of them were compared with those before them"
        warnings.append(Problem(layers[-1].source, None, "patterns", reason))
    if layers and not any(rule.match == Selectors() for rule in in_force):
        reason = "no rule matches everything (match: {}), so some errors stay without a verdict"
        warnings.append(Problem(layers[-1].source, None, "patterns", reason))
    return tuple(warnings)


def _own_faults(rule: Rule, known: set[str]) -> Iterator[tuple[str, str]]:
    if rule.before is not None:
        if rule.id == FALLBACK:
            yield "before", f"{FALLBACK!r} never moves"
        elif rule.before == rule.id:
            yield "before", "names the rule itself"
        elif rule.before not in known:
            yield "before", f"there is no rule {rule.before!r} in this file or a wider one"
    if rule.health_action is not HealthAction.NONE and rule.classification in _NEVER_MARKS:
        yield "healthAction", f"has no effect: {rule.classification} never touches a status"


class Hidden(NamedTuple):
    """The rules that can never match, by their `id()`, each with one that hides it."""

    by: dict[int, Rule]
    complete: bool
    """False where so many rules are alike that not all of them were compared."""


def hidden_rules(order: Sequence[Rule]) -> Hidden:
    """Which rules of `order` can never match."""
    index = _Index(order)
    hidden: dict[int, Rule] = {}
    room = MAX_COMPARED
    for position, rule in enumerate(order):
        candidates = index.candidates(rule.match)
        room -= len(candidates)
        if room < 0:
            return Hidden(hidden, complete=False)
        for earlier in candidates:
            if earlier >= position:
                break
            # What hides a hidden one hides this one too.
            if id(order[earlier]) not in hidden and covers(order[earlier].match, rule.match):
                hidden[id(rule)] = order[earlier]
                break
    return Hidden(hidden, complete=True)


def covers(wide: Selectors, narrow: Selectors) -> bool:
    """Whether every error that `narrow` matches is matched by `wide`. False where that is not certain."""
    if wide.http_statuses is not None:
        if narrow.http_statuses is None:
            return False
        (low, high), (lowest, highest) = narrow.http_statuses, wide.http_statuses
        if low < lowest or high > highest:
            return False
    if wide.error_code is not None and wide.error_code != narrow.error_code:
        return False
    if wide.body_contains and not (
        narrow.body_contains
        and all(any(part in text for part in wide.body_contains) for text in narrow.body_contains)
    ):
        return False
    return not wide.exception_types or bool(
        narrow.exception_types
        and all(not _implied(name).isdisjoint(wide.exception_types) for name in narrow.exception_types)
    )


def _implied(name: str) -> frozenset[str]:
    """The names that an error surely has if it has this one.

    A name without a package may be the end of a longer one, and a Java name that of a class elsewhere.
    """
    return frozenset((name,)) if "." not in name or name in JAVA_EQUIVALENTS else class_names((name,))


class _Index:
    """Rules by their selectors, so that few of them are candidates for hiding another.

    Each waits under its texts, else its exception classes, else its statuses; and there under its error code, or None.
    """

    def __init__(self, order: Sequence[Rule]) -> None:
        by_text: dict[str, _ByCode] = defaultdict(lambda: defaultdict(list))
        self._by_exception: dict[str, _ByCode] = defaultdict(lambda: defaultdict(list))
        self._plain: dict[str | None, dict[tuple[int, int] | None, int]] = defaultdict(dict)
        for position, rule in enumerate(order):
            match = rule.match
            for text in match.body_contains:
                by_text[text][match.error_code].append(position)
            if not match.body_contains:
                for name in match.exception_types:
                    self._by_exception[name][match.error_code].append(position)
            if not (match.body_contains or match.exception_types):
                self._plain[match.error_code].setdefault(match.http_statuses, position)
        self._texts: Any = ahocorasick.Automaton()
        for text, found in by_text.items():
            self._texts.add_word(text, found)
        self._texts.make_automaton()
        self._has_texts = bool(by_text)

    def candidates(self, match: Selectors) -> list[int]:
        """Every position that may cover `match`, in order: it waits under something that `match` implies."""
        found: set[int] = set()
        waiting: list[_ByCode] = []
        if match.body_contains and self._has_texts:
            waiting += (by_code for _, by_code in self._texts.iter(match.body_contains[0]))
        if match.exception_types:
            names = _implied(match.exception_types[0])
            waiting += (self._by_exception[name] for name in names if name in self._by_exception)
        for code in {None, match.error_code}:
            found.update(self._plain[code].values() if code in self._plain else ())
            for by_code in waiting:
                found.update(by_code.get(code, ()))
        return sorted(found)

"""Finds rules that can never match because an earlier one alone matches all that they match.

Only what is certain counts: several rules that hide another together are not looked for, and where one selector does
not plainly follow from another it is taken not to.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import ahocorasick

from agrajag.core.condition import Condition
from agrajag.core.exceptions import JAVA_EQUIVALENTS, class_names
from agrajag.core.response_conditions import NoSuccess, StatusIs
from agrajag.core.rules import Rule
from agrajag.core.selectors import AllOf, AnyOf, NotThese, Selectors, is_raised

MAX_COMPARED = 1_000_000
"""Pairs of rules that are looked at: a second or so. More are met only where thousands of rules are nearly equal."""
SUCCESS = range(200, 300)

_ByCode: TypeAlias = dict[str | None, list[int]]


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
    parts = conjuncts(narrow)
    if wide.unquoted and not narrow.unquoted:
        return False
    if wide.http_statuses is not None:
        low, high = wide.http_statuses
        if not _are_within(statuses_left(narrow), range(low, high + 1)):
            return False
    if wide.error_code is not None and all(part.error_code != wide.error_code for part in parts):
        return False
    if wide.body_contains and not any(_are_contained(wide, part) for part in parts):
        return False
    if wide.exception_types and not any(_are_raised(wide, part) for part in parts):
        return False
    return all(_follows(condition, narrow, parts) for condition in wide.conditions)


def conjuncts(match: Selectors) -> list[Selectors]:
    """The selectors themselves and, of their `all`, each set: what an error that fits them fits each of."""
    found = [match]
    for condition in match.conditions:
        if isinstance(condition, AllOf):
            for branch in condition.branches:
                found += conjuncts(branch)
    return found


def statuses_left(match: Selectors) -> Collection[int] | None:
    """The statuses of which an error that matches has one; None where it need have none."""
    left: Collection[int] | None = None
    for part in conjuncts(match):
        wanted: list[Collection[int]] = [
            condition.values for condition in part.conditions if isinstance(condition, StatusIs)
        ]
        if part.http_statuses is not None:
            low, high = part.http_statuses
            wanted.append(range(low, high + 1))
        for statuses in wanted:
            left = statuses if left is None else [status for status in left if status in statuses]
    return left


def _are_within(statuses: Collection[int] | None, wide: Collection[int]) -> bool:
    if statuses is None:
        return False
    if isinstance(statuses, range) and isinstance(wide, range) and statuses:
        return statuses[0] in wide and statuses[-1] in wide
    return all(status in wide for status in statuses)


def _are_contained(wide: Selectors, narrow: Selectors) -> bool:
    return bool(narrow.body_contains) and all(
        any(part in text for part in wide.body_contains) for text in narrow.body_contains
    )


def _are_raised(wide: Selectors, narrow: Selectors) -> bool:
    return bool(narrow.exception_types) and all(
        is_raised(wide.exception_types, _implied(name)) for name in narrow.exception_types
    )


def _follows(condition: Condition, narrow: Selectors, parts: Sequence[Selectors]) -> bool:
    """Whether every error that fits `narrow` fits the condition."""
    if any(_covers_condition(condition, own) for part in parts for own in part.conditions):
        return True
    if isinstance(condition, AnyOf):
        return any(covers(branch, narrow) for branch in condition.branches)
    if isinstance(condition, AllOf):
        return all(covers(branch, narrow) for branch in condition.branches)
    if isinstance(condition, StatusIs):
        return _are_within(statuses_left(narrow), condition.values)
    if isinstance(condition, NoSuccess):
        statuses = statuses_left(narrow)
        return statuses is not None and not any(status in SUCCESS for status in statuses)
    return False


def _covers_condition(condition: Condition, own: Condition) -> bool:
    if isinstance(condition, NotThese) and isinstance(own, NotThese):
        return covers(own.inner, condition.inner)
    return condition.covers(own)


def _implied(name: str) -> frozenset[str]:
    """The names that an error surely has if it has this one.

    A name without a package may be the end of a longer one, one with a star is such an end, and a Java name that of a
    class elsewhere.
    """
    is_itself = "." not in name or name in JAVA_EQUIVALENTS or name.startswith("*.")
    return frozenset((name,)) if is_itself else class_names((name,))


class _Index:
    """Rules by their selectors, so that few of them are candidates for hiding another.

    Each waits under its texts, else its exception classes, else the values of a condition, else its statuses; and there
    under its error code, or None.
    """

    def __init__(self, order: Sequence[Rule]) -> None:
        by_text: dict[str, _ByCode] = defaultdict(lambda: defaultdict(list))
        self._by_key: dict[Hashable, _ByCode] = defaultdict(lambda: defaultdict(list))
        self._plain: dict[str | None, dict[Hashable, int]] = defaultdict(dict)
        for position, rule in enumerate(order):
            match = rule.match
            for text in match.body_contains:
                by_text[text][match.error_code].append(position)
            keys = () if match.body_contains else _waiting_keys(match)
            for key in keys:
                self._by_key[key][match.error_code].append(position)
            if not (match.body_contains or keys):
                alike = (match.http_statuses, match.conditions)
                self._plain[match.error_code].setdefault(alike, position)
        self._texts: Any = ahocorasick.Automaton()
        for text, found in by_text.items():
            self._texts.add_word(text, found)
        self._texts.make_automaton()
        self._has_texts = bool(by_text)

    def candidates(self, match: Selectors) -> list[int]:
        """Every position that may cover `match`, in order: it waits under something that `match` implies."""
        found: set[int] = set()
        parts = conjuncts(match)
        waiting: list[_ByCode] = []
        for part in parts:
            if part.body_contains and self._has_texts:
                waiting += (by_code for _, by_code in self._texts.iter(part.body_contains[0]))
            waiting += (self._by_key[key] for key in _implied_keys(part) if key in self._by_key)
        for code in {None, *(part.error_code for part in parts)}:
            found.update(self._plain[code].values() if code in self._plain else ())
            for by_code in waiting:
                found.update(by_code.get(code, ()))
        return sorted(found)


def _waiting_keys(match: Selectors) -> tuple[Hashable, ...]:
    if match.exception_types:
        return tuple(_last(name) if name.startswith("*.") else name for name in match.exception_types)
    return next(filter(None, (condition.lint_keys() for condition in match.conditions)), ())


def _implied_keys(part: Selectors) -> Iterator[Hashable]:
    if part.exception_types:
        first = part.exception_types[0]
        yield from _implied(first) | {_last(first)}
    for condition in part.conditions:
        yield from condition.lint_keys()[:1]


def _last(name: str) -> str:
    return name.rpartition(".")[2]

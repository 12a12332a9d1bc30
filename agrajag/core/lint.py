"""Warns about rules that are well formed and still not what their author meant.

A warning takes nothing out of force. Only what is certain is told: that an earlier rule hides one (`core.hiding`), that
selectors of one exclude each other, that what is named has no effect, that a text stands in almost every error.
"""

from collections.abc import Iterable, Iterator, Sequence

from agrajag.core.conflicts import conflict_in
from agrajag.core.features import Features
from agrajag.core.hiding import hidden_rules
from agrajag.core.rules import FALLBACK, Layer, Problem, Rule, merge
from agrajag.core.selectors import Selectors
from agrajag.core.too_wide import too_wide_in
from agrajag.model.enums import Classification, HealthAction
from agrajag.model.events import ToolCallError

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


def never_matched(rules: Iterable[Rule], events: Iterable[ToolCallError]) -> tuple[Rule, ...]:
    """The rules whose selectors fit none of the errors, whichever rule decides these; in their order."""
    left = list(rules)
    for event in events:
        features = Features(event)
        left = [rule for rule in left if not rule.match.hold(features)]
    return tuple(left)


def _own_faults(rule: Rule, known: set[str]) -> Iterator[tuple[str, str]]:
    if (conflict := conflict_in(rule.match)) is not None:
        yield "match", f"can never match: {conflict}"
    yield from too_wide_in(rule.match)
    if rule.before is not None:
        if rule.id == FALLBACK:
            yield "before", f"{FALLBACK!r} never moves"
        elif rule.before == rule.id:
            yield "before", "names the rule itself"
        elif rule.before not in known:
            yield "before", f"there is no rule {rule.before!r} in this file or a wider one"
    if rule.health_action is not HealthAction.NONE and rule.classification in _NEVER_MARKS:
        yield "healthAction", f"has no effect: {rule.classification} never touches a status"

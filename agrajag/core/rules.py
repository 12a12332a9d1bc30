"""Rules: what one says, and how layers of them merge (spec agrajag §4.2)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from agrajag.core.selectors import Selectors
from agrajag.core.waits import Wait
from agrajag.model.enums import Classification, HealthAction, ToolErrorCode

__all__ = ["FALLBACK", "Layer", "Problem", "Rule", "Selectors", "merge"]

FALLBACK = "fallback"


@dataclass(frozen=True, slots=True)
class Rule:
    """One classification rule.

    `cooldown` holds where neither the response header `cooldown_header` nor one of `waits`, the first that can be read,
    asks for a wait; None for the class default. `error_code` and `hint` are for the caller: what it is in one word, and
    what the user can do.

    A `shadow` rule is on trial: it never decides, and what would change if it did is counted. `pack` names the rule
    pack that it came with.
    """

    id: str
    match: Selectors
    signature: str
    classification: Classification
    cooldown: timedelta | None = None
    cooldown_header: str | None = None
    health_action: HealthAction = HealthAction.NONE
    locked: bool = False
    note: str | None = None
    before: str | None = None
    shadow: bool = False
    pack: str | None = None
    waits: tuple[Wait, ...] = ()
    error_code: ToolErrorCode | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """Why one rule, or a whole file or setting where `rule_id` is None, is not in force."""

    source: str
    rule_id: str | None
    field: str
    reason: str

    def __str__(self) -> str:
        where = f"{self.source}: rule {self.rule_id!r}" if self.rule_id else self.source
        return f"{where}: {self.field}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Layer:
    """The usable rules of one file, in its order, and what was rejected."""

    source: str
    rules: tuple[Rule, ...] = ()
    problems: tuple[Problem, ...] = field(default=())
    usable: bool = True
    """False for a file that could not be read as one, which is not the same as a file without rules."""


def merge(layers: Iterable[Sequence[Rule]], *, on_trial: bool = False) -> tuple[Rule, ...]:
    """The effective order of layers, widest first (bundled, tenant, project): the first match wins.

    Shadow rules are left out. `on_trial` gives the order as it would be if they were in force.

    A rule with a known id replaces that rule where it stands, as a whole. New ones go directly before `fallback`, in
    the order of their file. A rule whose `before` names a rule of its own or a wider layer stands directly before that
    one; rules that name each other in a circle come last. `fallback` itself never moves.
    """
    order: dict[str, Rule] = {}
    for layer in layers:
        order = _with_layer(order, _on_trial(layer) if on_trial else _in_force(layer))
    return tuple(order.values())


def _in_force(layer: Sequence[Rule]) -> Sequence[Rule]:
    return [rule for rule in layer if not rule.shadow]


def _on_trial(layer: Sequence[Rule]) -> Sequence[Rule]:
    """The layer with its shadow rules, each in place of the rule of that id that is in force beside it."""
    tried = {rule.id for rule in layer if rule.shadow}
    return [rule for rule in layer if rule.shadow or rule.id not in tried]


def _with_layer(order: Mapping[str, Rule], layer: Sequence[Rule]) -> dict[str, Rule]:
    known = order.keys() | {rule.id for rule in layer}
    standing = dict(order)
    added: list[Rule] = []
    ahead: dict[str, list[Rule]] = {}
    for rule in layer:
        if rule.before is not None and rule.before in known and rule.before != rule.id != FALLBACK:
            standing.pop(rule.id, None)
            ahead.setdefault(rule.before, []).append(rule)
        elif rule.id in standing or rule.id == FALLBACK:
            standing[rule.id] = rule
        else:
            added.append(rule)
    if FALLBACK in known:
        ahead[FALLBACK] = added + ahead.get(FALLBACK, [])
    else:
        standing.update((rule.id, rule) for rule in added)
    merged: dict[str, Rule] = {}
    waiting = [*reversed(standing.values())]
    while waiting:
        rule = waiting.pop()
        if (first := ahead.pop(rule.id, None)) is not None:
            waiting += (rule, *reversed(first))
        else:
            merged[rule.id] = rule
    return merged | {rule.id: rule for rule in layer if rule.id not in merged}

"""Says which rules stand in which order, which file each comes from, and what it replaces."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from agrajag.core.condition import Condition
from agrajag.core.match import RuleSet
from agrajag.core.response_conditions import HeaderIs, StatusIs
from agrajag.core.rules import Layer, Rule
from agrajag.core.selectors import AllOf, AnyOf, NotThese, Selectors
from agrajag.core.waits import Wait
from agrajag.model.enums import HealthAction

_SPAN: TypeAdapter[timedelta] = TypeAdapter(timedelta)


class Standing(NamedTuple):
    """One rule at its place. `replaces` are the files whose rule of this id it stands for, widest first.

    `ahead_of` is the rule in force, of no pack, before which a new rule on trial would stand.
    """

    rule: Rule
    source: str
    replaces: tuple[str, ...] = ()
    ahead_of: str | None = None


class Listing(NamedTuple):
    """The rules in force, in the order in which they are asked, and those on trial."""

    in_force: tuple[Standing, ...]
    on_trial: tuple[Standing, ...]


def listing(layers: Sequence[Layer], rules: RuleSet) -> Listing:
    """Where the rules of `rules`, which was compiled from `layers` (widest first), come from."""
    sources: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for layer in layers:
        for rule in layer.rules:
            sources[rule.id, rule.shadow].append(layer.source)
    in_force = [
        Standing(rule, found[-1], tuple(found[:-1]))
        for rule in rules.rules
        for found in [sources[rule.id, False]]
    ]
    on_trial: list[Standing] = []
    follower: str | None = None
    for rule in reversed(rules.trial.rules if rules.trial is not None else ()):
        replaces = tuple(sources.get((rule.id, False), ()))
        if rule.shadow:
            source = sources[rule.id, True][-1]
            on_trial.append(Standing(rule, source, replaces, ahead_of=None if replaces else follower))
        if replaces and rule.pack is None:
            follower = rule.id
    return Listing(tuple(in_force), tuple(reversed(on_trial)))


def entry_of(rule: Rule) -> dict[str, Any]:
    """The rule as an entry of a rule file, which is read as this very rule."""
    entry: dict[str, Any] = {
        "id": rule.id,
        "match": _match_of(rule.match),
        "signature": rule.signature,
        "classification": rule.classification.value,
    }
    if (cooldown := _cooldown_of(rule)) is not None:
        entry["cooldown"] = cooldown
    if rule.health_action is not HealthAction.NONE:
        entry["healthAction"] = rule.health_action.value
    rest = {
        "locked": rule.locked,
        "note": rule.note,
        "before": rule.before,
        "shadow": rule.shadow,
        "errorCode": None if rule.error_code is None else rule.error_code.value,
        "hint": rule.hint,
    }
    return entry | {name: value for name, value in rest.items() if value}


def _cooldown_of(rule: Rule) -> Any:
    if rule.cooldown_header is not None:
        return f"header:{rule.cooldown_header}"
    if not rule.waits:
        return None if rule.cooldown is None else _span(rule.cooldown)
    places: list[Any] = [_place_of(wait) for wait in rule.waits]
    return places if rule.cooldown is None else [*places, _span(rule.cooldown)]


def _place_of(wait: Wait) -> dict[str, str]:
    bounds = {"min": wait.bounds.shortest, "max": wait.bounds.longest}
    return wait.entry() | {name: _span(span) for name, span in bounds.items() if span is not None}


def _span(span: timedelta) -> str:
    text: str = _SPAN.dump_python(span, mode="json")
    return text


def _match_of(match: Selectors) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if match.http_statuses is not None:
        low, high = match.http_statuses
        is_one = low == high and not any(isinstance(one, StatusIs) for one in match.conditions)
        found |= {"httpStatus": low} if is_one else {"httpStatusRange": [low, high]}
    if match.exception_types:
        found["exceptionType"] = list(match.exception_types)
    if match.body_contains:
        found["bodyContains"] = list(match.body_contains)
    if match.error_code is not None:
        found["errorCode"] = match.error_code
    if match.unquoted:
        found["quotedText"] = False
    for condition in match.conditions:
        value = _value_of(condition)
        found[condition.selector] = (
            (found.get("headers", {}) | value) if isinstance(condition, HeaderIs) else value
        )
    return found


def _value_of(condition: Condition) -> Any:
    if isinstance(condition, NotThese):
        return _match_of(condition.inner)
    if isinstance(condition, AnyOf | AllOf):
        return [_match_of(branch) for branch in condition.branches]
    return condition.entry()

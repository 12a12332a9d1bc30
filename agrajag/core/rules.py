"""Rules: what one says, how a file is checked, how layers merge (spec agrajag §4.2).

A bad rule is rejected alone, with its file, id, field and reason; it never widens into a rule that matches
more than its author meant. The other rules of the file stay in force.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from agrajag.core.durations import parse_iso_duration
from agrajag.model.enums import Classification, HealthAction

FALLBACK = "fallback"
MAX_TEXT = 500


@dataclass(frozen=True, slots=True)
class Selectors:
    """What an error must show for a rule to match: all that are given. None given matches every error.

    `body_contains` holds lower-case substrings, any of which is enough, as for `exception_types`. `http_statuses` is
    inclusive at both ends.
    """

    http_statuses: tuple[int, int] | None = None
    exception_types: tuple[str, ...] = ()
    body_contains: tuple[str, ...] = ()
    error_code: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One classification rule. `cooldown` is a span, the name of a response header, or None for the class default."""

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


@dataclass(frozen=True, slots=True)
class Problem:
    """Why one rule, or a whole file where `rule_id` is None, is not in force."""

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


class _Rejected(Exception):
    def __init__(self, field_name: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field_name
        self.reason = reason


def parse_layer(data: object, source: str) -> Layer:
    """Check the parsed content of a rule file. Never raises: everything wrong is a `Problem`."""
    if not isinstance(data, Mapping) or not isinstance(data.get("patterns"), list):
        return Layer(
            source,
            (),
            (Problem(source, None, "patterns", "the file must be a mapping with a list `patterns`"),),
        )
    rules: dict[str, Rule] = {}
    problems: list[Problem] = []
    for position, entry in enumerate(data["patterns"], start=1):
        shown = entry.get("id") if isinstance(entry, Mapping) else None
        rule_id = shown if isinstance(shown, str) and shown else f"#{position}"
        try:
            rule = _rule(entry)
            if rule.id in rules:
                raise _Rejected("id", "stands twice in this file; the first one is in force")
            rules[rule.id] = rule
        except _Rejected as rejected:
            problems.append(Problem(source, rule_id, rejected.field, rejected.reason))
    return Layer(source, tuple(rules.values()), tuple(problems))


def merge(layers: Iterable[Sequence[Rule]]) -> tuple[Rule, ...]:
    """The effective order of layers, widest first (bundled, tenant, project): the first match wins.

    A rule with a known id replaces that rule where it stands, as a whole. New ones go directly before
    `fallback`, in the order of their file, or before the rule that `before` names.
    """
    order: list[Rule] = []
    for layer in layers:
        for rule in layer:
            at = _index(order, rule.id)
            if at is not None and (rule.before is None or rule.before == rule.id):
                order[at] = rule
                continue
            if at is not None:
                del order[at]
            target = _index(order, rule.before) if rule.before else None
            if target is None:
                target = _index(order, FALLBACK)
            order.insert(len(order) if target is None else target, rule)
    return tuple(order)


def _index(order: Sequence[Rule], rule_id: str | None) -> int | None:
    return next((position for position, rule in enumerate(order) if rule.id == rule_id), None)


def _rule(entry: object) -> Rule:
    if not isinstance(entry, Mapping):
        raise _Rejected("patterns", "every entry must be a mapping")
    unknown = [str(name) for name in entry if name not in _FIELDS]
    if unknown:
        raise _Rejected(unknown[0], f"unknown field; known are {', '.join(_FIELDS)}")
    for required in ("id", "match", "signature", "classification"):
        if required not in entry:
            raise _Rejected(required, "is required")
    rule = Rule(
        id=_text(entry["id"], "id", 120),
        match=_selectors(entry["match"]),
        signature=_text(entry["signature"], "signature", 120),
        classification=_classification(entry["classification"]),
        health_action=_health_action(entry.get("healthAction", "none")),
        locked=_flag(entry.get("locked", False), "locked"),
        note=None if entry.get("note") is None else _text(entry["note"], "note", MAX_TEXT),
        before=None if entry.get("before") is None else _text(entry["before"], "before", 120),
    )
    return _with_cooldown(rule, entry.get("cooldown"))


_FIELDS = (
    "id",
    "match",
    "signature",
    "classification",
    "cooldown",
    "healthAction",
    "locked",
    "note",
    "before",
)


def _selectors(given: object) -> Selectors:
    if not isinstance(given, Mapping):
        raise _Rejected("match", "must be a mapping; {} matches everything")
    selectors = Selectors()
    for name, value in given.items():
        reader = _SELECTORS.get(name) if isinstance(name, str) else None
        if reader is None:
            raise _Rejected(f"match.{name}", f"unknown selector; known are {', '.join(_SELECTORS)}")
        selectors = reader(selectors, value, f"match.{name}")
    return selectors


def _http_status(selectors: Selectors, value: object, where: str) -> Selectors:
    status = _status(value, where)
    return _statuses(selectors, (status, status), where)


def _http_status_range(selectors: Selectors, value: object, where: str) -> Selectors:
    if not isinstance(value, list) or len(value) != 2:
        raise _Rejected(where, "must be a list of two statuses, such as [500, 599]")
    low, high = _status(value[0], where), _status(value[1], where)
    if low > high:
        raise _Rejected(where, f"{low} is above {high}")
    return _statuses(selectors, (low, high), where)


def _statuses(selectors: Selectors, statuses: tuple[int, int], where: str) -> Selectors:
    known = selectors.http_statuses
    if known is None:
        return replace(selectors, http_statuses=statuses)
    both = (max(known[0], statuses[0]), min(known[1], statuses[1]))
    if both[0] > both[1]:
        raise _Rejected(where, "httpStatus and httpStatusRange exclude each other: the rule can never match")
    return replace(selectors, http_statuses=both)


def _exception_type(selectors: Selectors, value: object, where: str) -> Selectors:
    return replace(selectors, exception_types=_texts(value, where))


def _body_contains(selectors: Selectors, value: object, where: str) -> Selectors:
    return replace(selectors, body_contains=tuple(text.lower() for text in _texts(value, where)))


def _error_code(selectors: Selectors, value: object, where: str) -> Selectors:
    if isinstance(value, int) and not isinstance(value, bool):
        return replace(selectors, error_code=str(value))
    return replace(selectors, error_code=_text(value, where, 120))


_SELECTORS: dict[str, Callable[[Selectors, object, str], Selectors]] = {
    "httpStatus": _http_status,
    "httpStatusRange": _http_status_range,
    "exceptionType": _exception_type,
    "bodyContains": _body_contains,
    "errorCode": _error_code,
}


def _status(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 100 <= value <= 599:
        raise _Rejected(where, f"{value!r} is no HTTP status; a number from 100 to 599 is")
    return value


def _texts(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise _Rejected(where, "must be a list of texts with at least one entry")
    return tuple(_text(entry, where, MAX_TEXT) for entry in value)


def _text(value: object, where: str, limit: int) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _Rejected(where, f"{value!r} is not a text with something in it")
    if len(value) > limit:
        raise _Rejected(where, f"is {len(value)} characters long; at most {limit} are allowed")
    if any(character < " " and character not in "\n\t" for character in value):
        raise _Rejected(where, "holds a control character")
    return value


def _flag(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise _Rejected(where, f"{value!r} is neither true nor false")
    return value


def _classification(value: object) -> Classification:
    try:
        classification = Classification(str(value))
    except ValueError:
        allowed = ", ".join(name for name in Classification if name is not Classification.WORKING)
        raise _Rejected("classification", f"{value!r} is none of {allowed}") from None
    if classification is Classification.WORKING:
        raise _Rejected("classification", "an error never shows that a tool is WORKING")
    return classification


def _health_action(value: object) -> HealthAction:
    for action in HealthAction:
        if isinstance(value, str) and value.lower() == action.value.lower():
            return action
    raise _Rejected("healthAction", f"{value!r} is none of {', '.join(HealthAction)}")


def _with_cooldown(rule: Rule, value: Any) -> Rule:
    if value is None:
        return rule
    if not isinstance(value, str):
        raise _Rejected(
            "cooldown", f"{value!r} is neither an ISO 8601 duration such as PT5M nor header:<name>"
        )
    if value.startswith("header:"):
        return replace(
            rule, cooldown_header=_text(value.removeprefix("header:").strip(), "cooldown", 120).lower()
        )
    span = parse_iso_duration(value)
    if span is None or span <= timedelta(0):
        raise _Rejected(
            "cooldown", f"{value!r} is no positive ISO 8601 duration in weeks to seconds, such as PT5M"
        )
    return replace(rule, cooldown=span)

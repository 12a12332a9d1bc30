"""Check rule files: YAML data in, usable rules and problems out (spec agrajag §4.2).

A bad rule is rejected alone, with its file, id, field and reason; it never widens into a rule that matches more than
its author meant. The other rules of the file stay in force. Whatever the data is, checking it costs no more than
reading it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from pydantic import TypeAdapter, ValidationError

from agrajag.core.durations import parse_iso_duration
from agrajag.core.rules import Layer, Problem, Rule, Selectors
from agrajag.core.shown import MAX_NAME, field_name, shown
from agrajag.model.enums import Classification, HealthAction
from agrajag.model.wire_model import Signature

MAX_RULES = 10_000
MAX_TEXT = 500
_SIGNATURE: TypeAdapter[str] = TypeAdapter(Signature)
_UNUSABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


class _Rejected(Exception):
    def __init__(self, where: str, reason: str) -> None:
        super().__init__(reason)
        self.field = where
        self.reason = reason


def unusable(source: str, field: str, reason: str) -> Layer:
    """The layer of a file that could not be read as one."""
    return Layer(source, problems=(Problem(source, None, field, reason),), usable=False)


def parse_layer(data: object, source: str) -> Layer:
    """Check the parsed content of a rule file. Never raises: everything wrong is a `Problem`."""
    if not isinstance(data, Mapping) or not isinstance(data.get("patterns"), list):
        return unusable(source, "patterns", "the file must be a mapping with a list `patterns`")
    if len(data["patterns"]) > MAX_RULES:
        reason = f"the file has {len(data['patterns']):,} rules; at most {MAX_RULES:,} are allowed"
        return unusable(source, "patterns", reason)
    rules: dict[tuple[str, bool], Rule] = {}
    problems: list[Problem] = []
    for position, entry in enumerate(data["patterns"], start=1):
        named = entry.get("id") if isinstance(entry, Mapping) else None
        rule_id = named[:MAX_NAME] if isinstance(named, str) and named else f"#{position}"
        try:
            rule = _rule(entry)
            if (rule.id, rule.shadow) in rules:
                raise _Rejected("id", "stands twice in this file; the first one counts")
            rules[rule.id, rule.shadow] = rule
        except _Rejected as rejected:
            problems.append(Problem(source, rule_id, rejected.field, rejected.reason))
    return Layer(source, tuple(rules.values()), tuple(problems))


def _rule(entry: object) -> Rule:
    if not isinstance(entry, Mapping):
        raise _Rejected("patterns", "every entry must be a mapping")
    if unknown := [name for name in entry if name not in _FIELDS]:
        raise _Rejected(field_name(unknown[0]), f"unknown field; known are {', '.join(_FIELDS)}")
    for required in ("id", "match", "signature", "classification"):
        if required not in entry:
            raise _Rejected(required, "is required")
    rule = Rule(
        id=_name(entry["id"], "id"),
        match=_selectors(entry["match"]),
        signature=_name(entry["signature"], "signature"),
        classification=_classification(entry["classification"]),
        health_action=_health_action(entry.get("healthAction", "none")),
        locked=_flag(entry.get("locked", False), "locked"),
        note=None if entry.get("note") is None else _text(entry["note"], "note", MAX_TEXT),
        before=None if entry.get("before") is None else _name(entry["before"], "before"),
        shadow=_flag(entry.get("shadow", False), "shadow"),
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
    "shadow",
)


def _selectors(given: object) -> Selectors:
    if not isinstance(given, Mapping):
        raise _Rejected("match", "must be a mapping; {} matches everything")
    selectors = Selectors()
    for name, value in given.items():
        reader = _SELECTORS.get(name) if isinstance(name, str) else None
        if reader is None:
            raise _Rejected(
                f"match.{field_name(name)}",
                f"unknown selector; known are {', '.join(_SELECTORS)}",
            )
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
        if value.bit_length() > MAX_NAME:
            raise _Rejected(where, f"{shown(value)} is no error code")
        return replace(selectors, error_code=str(value))
    return replace(selectors, error_code=_name(value, where))


_SELECTORS: dict[str, Callable[[Selectors, object, str], Selectors]] = {
    "httpStatus": _http_status,
    "httpStatusRange": _http_status_range,
    "exceptionType": _exception_type,
    "bodyContains": _body_contains,
    "errorCode": _error_code,
}


def _status(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 100 <= value <= 599:
        raise _Rejected(where, f"{shown(value)} is no HTTP status; a number from 100 to 599 is")
    return value


def _texts(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise _Rejected(where, "must be a list of texts with at least one entry")
    return tuple(_text(entry, where, MAX_TEXT) for entry in value)


def _text(value: object, where: str, limit: int) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _Rejected(where, f"{shown(value)} is not a text with something in it")
    if len(value) > limit:
        raise _Rejected(where, f"is {len(value)} characters long; at most {limit} are allowed")
    if _UNUSABLE.search(value) is not None:
        raise _Rejected(where, "holds a control character or half of a surrogate pair")
    return value


def _name(value: object, where: str) -> str:
    """A text that travels as an id, and so holds what a signature of the records may hold: no line end, no tab,
    nothing that cannot be seen."""
    name = _text(value, where, MAX_NAME)
    try:
        return _SIGNATURE.validate_python(name)
    except ValidationError:
        raise _Rejected(
            where, "must stand on one line, without tabs and characters that cannot be seen"
        ) from None


def _flag(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise _Rejected(where, f"{shown(value)} is neither true nor false")
    return value


def _classification(value: object) -> Classification:
    try:
        classification = Classification(value if isinstance(value, str) else "")
    except ValueError:
        allowed = ", ".join(name for name in Classification if name is not Classification.WORKING)
        raise _Rejected("classification", f"{shown(value)} is none of {allowed}") from None
    if classification is Classification.WORKING:
        raise _Rejected("classification", "an error never shows that a tool is WORKING")
    return classification


def _health_action(value: object) -> HealthAction:
    for action in HealthAction:
        if isinstance(value, str) and value.lower() == action.value.lower():
            return action
    raise _Rejected("healthAction", f"{shown(value)} is none of {', '.join(HealthAction)}")


def _with_cooldown(rule: Rule, value: Any) -> Rule:
    if value is None:
        return rule
    if not isinstance(value, str):
        raise _Rejected(
            "cooldown", f"{shown(value)} is neither an ISO 8601 duration such as PT5M nor header:<name>"
        )
    if value.startswith("header:"):
        return replace(rule, cooldown_header=_name(value.removeprefix("header:").strip(), "cooldown").lower())
    span = parse_iso_duration(value)
    if span is None or span <= timedelta(0):
        raise _Rejected(
            "cooldown", f"{shown(value)} is no positive ISO 8601 duration in weeks to seconds, such as PT5M"
        )
    return replace(rule, cooldown=span)

"""Check rule files: YAML data in, usable rules and problems out (spec agrajag §4.2).

A bad rule is rejected alone, with its file, id, field and reason; it never widens into a rule that matches more than
its author meant. The other rules of the file stay in force. Whatever the data is, checking it costs no more than
reading it.
"""

from collections.abc import Mapping

from agrajag.core.checked_values import Rejected, flag, name, text, word
from agrajag.core.match_parsing import parse_match
from agrajag.core.rules import Layer, Problem, Rule
from agrajag.core.shown import MAX_NAME, field_name, shown
from agrajag.core.wait_parsing import with_cooldown
from agrajag.model.enums import Classification, HealthAction, ToolErrorCode

MAX_RULES = 10_000


def unusable(source: str, field: str, reason: str) -> Layer:
    """The layer of a file that could not be read as one."""
    return Layer(source, problems=(Problem(source, None, field, reason),), usable=False)


def parse_layer(data: object, source: str, *, of_pack: bool = False) -> Layer:
    """Check the parsed content of a rule file. Never raises: everything wrong is a `Problem`.

    A rule `of_pack` looks at a response with a status of success only where it says so (`core.match_parsing`).
    """
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
            rule = _rule(entry, of_pack=of_pack)
            if (rule.id, rule.shadow) in rules:
                raise Rejected("id", "stands twice in this file; the first one counts")
            rules[rule.id, rule.shadow] = rule
        except Rejected as rejected:
            problems.append(Problem(source, rule_id, rejected.field, rejected.reason))
    return Layer(source, tuple(rules.values()), tuple(problems))


def _rule(entry: object, *, of_pack: bool) -> Rule:
    if not isinstance(entry, Mapping):
        raise Rejected("patterns", "every entry must be a mapping")
    if unknown := [name for name in entry if name not in _FIELDS]:
        raise Rejected(field_name(unknown[0]), f"unknown field; known are {', '.join(_FIELDS)}")
    for required in ("id", "match", "signature", "classification"):
        if required not in entry:
            raise Rejected(required, "is required")
    rule = Rule(
        id=name(entry["id"], "id"),
        match=parse_match(entry["match"], of_pack=of_pack),
        signature=name(entry["signature"], "signature"),
        classification=_classification(entry["classification"]),
        health_action=_health_action(entry.get("healthAction", "none")),
        locked=flag(entry.get("locked", False), "locked"),
        note=None if entry.get("note") is None else text(entry["note"], "note"),
        before=None if entry.get("before") is None else name(entry["before"], "before"),
        shadow=flag(entry.get("shadow", False), "shadow"),
        error_code=word(entry["errorCode"], "errorCode", ToolErrorCode) if "errorCode" in entry else None,
        hint=text(entry["hint"], "hint") if "hint" in entry else None,
    )
    return with_cooldown(rule, entry.get("cooldown"))


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
    "errorCode",
    "hint",
)


def _classification(value: object) -> Classification:
    try:
        classification = Classification(value if isinstance(value, str) else "")
    except ValueError:
        allowed = ", ".join(name for name in Classification if name is not Classification.WORKING)
        raise Rejected("classification", f"{shown(value)} is none of {allowed}") from None
    if classification is Classification.WORKING:
        raise Rejected("classification", "an error never shows that a tool is WORKING")
    return classification


def _health_action(value: object) -> HealthAction:
    for action in HealthAction:
        if isinstance(value, str) and value.lower() == action.value.lower():
            return action
    raise Rejected("healthAction", f"{shown(value)} is none of {', '.join(HealthAction)}")

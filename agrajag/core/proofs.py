"""The examples of a pack's rules are their test: a rule decides the errors that it was written for, and not the others.

An example has the fields of an error by their names on the wire, those of its report beside the others; a body may be
given as its JSON. Its `classification` and `cooldownSeconds` say what is expected.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from agrajag.core.cooldown import span_for
from agrajag.core.features import Features
from agrajag.core.match import RuleSet
from agrajag.core.packs import Pack
from agrajag.core.policy import Policy
from agrajag.core.rules import Problem, Rule
from agrajag.core.shown import shown
from agrajag.model.events import ErrorReport, ToolCallError

_EXPECTED = ("classification", "cooldownSeconds")
_REPORT = frozenset(field.alias or name for name, field in ErrorReport.model_fields.items())
_EVENT = frozenset(field.alias or name for name, field in ToolCallError.model_fields.items())
_SOMEBODY = {"tenantId": "example", "toolName": "example"}
_TOLERANCE_SECONDS = 1.0


class NotAnError(Exception):
    """The example shows no error; the message says why."""


def error_of(example: Mapping[str, Any]) -> ToolCallError:
    """The error that an example shows. Raises NotAnError for one that is none."""
    given = {name: value for name, value in example.items() if name not in _EXPECTED}
    if "body" in given and not isinstance(given["body"], str):
        given["body"] = json.dumps(given["body"])
    if unknown := sorted(map(str, given.keys() - _REPORT - _EVENT)):
        raise NotAnError(f"an error has no field {shown(unknown[0])}")
    report = {name: given.pop(name) for name in list(given) if name in _REPORT}
    try:
        return ToolCallError.from_json(json.dumps({**_SOMEBODY, **given, "error": report}).encode())
    except (TypeError, ValidationError) as error:
        raise NotAnError(f"is no error: {_first_line(error)}") from None


def _first_line(error: TypeError | ValidationError) -> str:
    if isinstance(error, TypeError):
        return str(error)
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def unproven(pack: Pack, rules: RuleSet, now: datetime) -> Iterator[Problem]:
    """What of the pack's examples is not as they say, where `rules` are in force."""
    for rule in pack.layer.rules:
        for field, examples, wrong in (
            ("examples", pack.examples[rule.id], _wrong_with_example),
            ("notExamples", pack.counter_examples[rule.id], _wrong_with_counter_example),
        ):
            for number, example in enumerate(examples):
                try:
                    features = Features(error_of(example))
                except NotAnError as error:
                    reason: str | None = str(error)
                else:
                    reason = wrong(rule, example, features, rules.first_match(features), now)
                if reason is not None:
                    yield Problem(pack.layer.source, rule.id, f"{field}[{number}]", reason)


def _wrong_with_example(
    rule: Rule, example: Mapping[str, Any], features: Features, decided: Rule | None, now: datetime
) -> str | None:
    if decided is None or decided.id != rule.id:
        return f"is decided by {decided.id if decided else 'no rule'}"
    if example.get("classification", rule.classification) != rule.classification:
        return f"is {rule.classification}, not {shown(example['classification'])}"
    wanted = example.get("cooldownSeconds")
    if wanted is not None:
        seconds = span_for(rule, 1, features, now, Policy()).total_seconds()
        if abs(seconds - wanted) > _TOLERANCE_SECONDS:
            return f"waits {seconds:g} seconds, not {shown(wanted)}"
    return None


def _wrong_with_counter_example(
    rule: Rule, example: Mapping[str, Any], _features: Features, decided: Rule | None, _now: datetime
) -> str | None:
    if decided is None or decided.id == rule.id:
        return f"is decided by {decided.id if decided else 'no rule'}"
    if example.get("classification", decided.classification) != decided.classification:
        return f"is {decided.classification} by {decided.id}, not {shown(example['classification'])}"
    return None

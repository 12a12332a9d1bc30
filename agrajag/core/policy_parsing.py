"""Check settings documents: YAML data in, usable values and problems out.

A settings document is flat: dotted keys, each with one value, such as `agrajag.cooldown.max: PT24H`. A bad value or an
unknown key is a problem of its own; the setting then has the value of the next wider layer.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from types import MappingProxyType
from typing import Any, NamedTuple

from agrajag.core.durations import parse_iso_duration
from agrajag.core.policy import ALL_TOOLS, COOLDOWN_FLOOR, NO_TOOLS, Policy, Tools
from agrajag.core.rules import Problem
from agrajag.core.shown import field_name, shown
from agrajag.model.health import MAX_HISTORY
from agrajag.model.wire_model import MAX_ID

MAX_TOOLS = 1_000


@dataclass(frozen=True, slots=True)
class SettingsLayer:
    """The usable values of one settings document by field of `Policy`, and what was rejected."""

    source: str
    values: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    usable: bool = True
    """False for a document that could not be read as one."""


class _Wrong(Exception):
    """Says what would be right."""


class _Setting(NamedTuple):
    field: str
    read: Callable[[object], object]


def unusable_settings(source: str, field: str, reason: str) -> SettingsLayer:
    """The layer of a document that could not be read as one."""
    return SettingsLayer(source, problems=(Problem(source, None, field, reason),), usable=False)


def parse_settings(data: object, source: str) -> SettingsLayer:
    """Check the parsed content of a settings document. Never raises; an empty document sets nothing."""
    if data is None:
        return SettingsLayer(source)
    if not isinstance(data, Mapping):
        return unusable_settings(source, "settings", "the file must be a mapping of dotted keys to values")
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, value in data.items():
        setting = SETTINGS.get(name) if isinstance(name, str) else None
        if setting is None:
            reason = f"there is no such setting; known are {', '.join(SETTINGS)}"
            problems.append(Problem(source, None, field_name(name), reason))
            continue
        try:
            values[setting.field] = setting.read(value)
        except _Wrong as wrong:
            problems.append(Problem(source, None, name, f"{shown(value)} is not {wrong}"))
    return SettingsLayer(source, MappingProxyType(values), tuple(problems))


def with_settings(policy: Policy, layers: Iterable[SettingsLayer]) -> Policy:
    """`policy` with the values of the layers, widest first: of one setting the narrowest value counts."""
    merged: dict[str, Any] = {}
    for layer in layers:
        merged |= layer.values
    return replace(policy, **merged) if merged else policy


def _span(value: object) -> timedelta:
    span = parse_iso_duration(value.strip()) if isinstance(value, str) else None
    if not span:
        raise _Wrong("a positive ISO 8601 duration of at most a year, such as PT5M")
    return span


def _cooldown_max(value: object) -> timedelta:
    span = _span(value)
    if span < COOLDOWN_FLOOR:
        raise _Wrong("an ISO 8601 duration of at least an hour, PT1H")
    return span


def _history_size(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_HISTORY:
        raise _Wrong(f"a whole number from 1 to {MAX_HISTORY}")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise _Wrong("true or false")
    return value


def _tools(value: object) -> Tools:
    if isinstance(value, bool):
        return ALL_TOOLS if value else NO_TOOLS
    if isinstance(value, list) and len(value) <= MAX_TOOLS:
        names = [name for name in value if isinstance(name, str) and 0 < len(name) <= MAX_ID]
        if len(names) == len(value):
            return Tools(names=frozenset(names))
    raise _Wrong(f"true, false or a list of at most {MAX_TOOLS} tool names")


SETTINGS: Mapping[str, _Setting] = MappingProxyType(
    {
        "agrajag.cooldown.max": _Setting("cooldown_max", _cooldown_max),
        "agrajag.cooldown.memory": _Setting("hits_memory", _span),
        "agrajag.diagnosis.freshness": _Setting("freshness", _span),
        "agrajag.diagnosis.lease": _Setting("lease", _span),
        "agrajag.diagnosis.never": _Setting("never_diagnosed", _tools),
        "agrajag.health.late-after": _Setting("late_after", _span),
        "agrajag.health.unconfirmed-after": _Setting("unconfirmed_after", _span),
        "agrajag.health.history-size": _Setting("history_size", _history_size),
        "agrajag.health.never-down": _Setting("never_down", _tools),
        "agrajag.answer.all": _Setting("answer_all", _flag),
    }
)
"""Every setting of a tenant or project, by its key."""

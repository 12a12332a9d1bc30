"""Check settings documents: YAML data in, usable values and problems out.

A settings document is flat: dotted keys, each with one value, such as `agrajag.cooldown.max: PT24H`. A bad value or an
unknown key is a problem of its own; the setting then has the value of the next wider layer. What a tenant may use of a
day is for its own document to say: in a project's, a budget is a problem.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any, NamedTuple

from agrajag.core.day_limits import DayLimits
from agrajag.core.durations import parse_iso_duration
from agrajag.core.policy import ALL_NAMES, COOLDOWN_FLOOR, NO_NAMES, Names, Policy
from agrajag.core.rules import Problem
from agrajag.core.shown import field_name, shown
from agrajag.model.health import MAX_HISTORY
from agrajag.model.wire_model import MAX_ID

MAX_NAMES = 1_000
MAX_AMOUNT = 10**12
MAX_USD = 10**6
ALIAS_PREFIX = "ai.alias."

_ALIAS = re.compile(rf"{re.escape(ALIAS_PREFIX)}(?P<alias>[A-Za-z0-9_-]{{1,64}})", re.ASCII)


@dataclass(frozen=True, slots=True)
class SettingsLayer:
    """The usable values of one settings document, and what was rejected.

    `values` are by field of `Policy`, `limits` by field of `DayLimits`; `aliases` name models.
    """

    source: str
    values: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
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
    limits: dict[str, Any] = {}
    aliases: dict[str, str] = {}
    problems: list[Problem] = []
    for name, value in data.items():
        try:
            if setting := SETTINGS.get(name):
                values[setting.field] = setting.read(value)
            elif setting := LIMITS.get(name):
                limits[setting.field] = setting.read(value)
            elif alias := _alias(name):
                aliases[alias] = _model_name(value)
            else:
                known = ", ".join((*SETTINGS, *LIMITS, f"{ALIAS_PREFIX}<name>"))
                problems.append(
                    Problem(source, None, field_name(name), f"there is no such setting; known are {known}")
                )
        except _Wrong as wrong:
            problems.append(Problem(source, None, name, f"{shown(value)} is not {wrong}"))
    return SettingsLayer(
        source, MappingProxyType(values), MappingProxyType(limits), MappingProxyType(aliases), tuple(problems)
    )


def misplaced_limits(layer: SettingsLayer) -> tuple[Problem, ...]:
    """Why the limits in a project's document do not count."""
    return tuple(
        Problem(layer.source, None, name, "is for the settings of the whole tenant to say")
        for name, setting in LIMITS.items()
        if setting.field in layer.limits
    )


def with_settings(policy: Policy, layers: Iterable[SettingsLayer]) -> Policy:
    """`policy` with the values of the layers, widest first: of one setting the narrowest value counts."""
    merged: dict[str, Any] = {}
    for layer in layers:
        merged |= layer.values
    return replace(policy, **merged) if merged else policy


def with_limits(limits: DayLimits, layer: SettingsLayer) -> DayLimits:
    """`limits` with those that the layer states."""
    return replace(limits, **layer.limits) if layer.limits else limits


def _alias(name: object) -> str | None:
    found = _ALIAS.fullmatch(name) if isinstance(name, str) else None
    return None if found is None else found["alias"]


def _model_name(value: object) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= MAX_ID:
        raise _Wrong(f"the name of a model, of at most {MAX_ID} characters")
    return value


def _amount(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_AMOUNT:
        raise _Wrong(f"a whole number from 0 to {MAX_AMOUNT}")
    return value


def _micro_usd(value: object) -> int:
    """US dollars as millionths of one, the fraction of a millionth left out."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= MAX_USD:
        raise _Wrong(f"an amount of US dollars from 0 to {MAX_USD}, such as 2.50")
    return int(Decimal(str(value)) * 1_000_000)


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


def _tools(value: object) -> Names:
    return _names(value, "tools")


def _packs(value: object) -> Names:
    return _names(value, "rule packs")


def _names(value: object, of_what: str) -> Names:
    if isinstance(value, bool):
        return ALL_NAMES if value else NO_NAMES
    if isinstance(value, list) and len(value) <= MAX_NAMES:
        names = [name for name in value if isinstance(name, str) and 0 < len(name) <= MAX_ID]
        if len(names) == len(value):
            return Names(names=frozenset(names))
    raise _Wrong(f"true, false or a list of at most {MAX_NAMES} names of {of_what}")


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
        "agrajag.packs.off": _Setting("packs_off", _packs),
    }
)
"""Every setting of a tenant or project, by its key."""

LIMITS: Mapping[str, _Setting] = MappingProxyType(
    {
        "agrajag.budget.runs": _Setting("runs", _amount),
        "agrajag.budget.tokens": _Setting("tokens", _amount),
        "agrajag.budget.usd": _Setting("micro_usd", _micro_usd),
    }
)
"""What a tenant may use of one day."""

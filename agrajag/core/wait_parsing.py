"""Checks what a rule's `cooldown` says: a span, a header, or one or several places where the response names a wait."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import time, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agrajag.core.checked_values import Rejected, name, word
from agrajag.core.condition_parsing import pattern
from agrajag.core.durations import parse_iso_duration
from agrajag.core.json_paths import parse_path
from agrajag.core.retry_after import WaitUnit
from agrajag.core.rules import Rule
from agrajag.core.shown import field_name, shown
from agrajag.core.waits import BodyWait, Bounds, DailyReset, HeaderWait, PatternWait, Wait

MAX_WAITS = 12
_FORM = "an ISO 8601 duration such as PT5M nor header:<name>"
_PLACES = ("header", "body", "bodyMatches", "resetsAt")
_CLOCK = re.compile(r"([01]\d|2[0-3]):([0-5]\d)", re.ASCII)


def with_cooldown(rule: Rule, value: Any) -> Rule:
    """The rule with its cooldown. Raises Rejected."""
    if value is None:
        return rule
    if isinstance(value, Mapping):
        return _with_waits(rule, [value])
    if isinstance(value, list):
        if not 1 <= len(value) <= MAX_WAITS:
            raise Rejected(
                "cooldown", f"must be a list of one to {MAX_WAITS} places, the first to be asked first"
            )
        return _with_waits(rule, value)
    if not isinstance(value, str):
        raise Rejected("cooldown", f"{shown(value)} is neither {_FORM}")
    if value.startswith("header:"):
        return replace(rule, cooldown_header=name(value.removeprefix("header:").strip(), "cooldown").lower())
    return replace(rule, cooldown=_span(value, "cooldown"))


def _with_waits(rule: Rule, places: list[Any]) -> Rule:
    waits: list[Wait] = []
    otherwise: timedelta | None = None
    for number, place in enumerate(places):
        where = "cooldown" if len(places) == 1 else f"cooldown[{number}]"
        if otherwise is not None:
            raise Rejected(where, "is never asked: what stands before it always says a wait")
        if isinstance(place, Mapping):
            waits.append(_wait(place, where))
            otherwise = _span(place["else"], f"{where}.else") if "else" in place else None
        elif isinstance(place, str) and place.startswith("header:"):
            header = name(place.removeprefix("header:").strip(), where).lower()
            waits.append(HeaderWait(header))
        else:
            otherwise = _span(place, where)
    return replace(rule, waits=tuple(waits), cooldown=otherwise)


def _wait(given: Mapping[Any, Any], where: str) -> Wait:
    places = [key for key in given if key in _PLACES]
    if len(places) != 1:
        raise Rejected(where, f"must name one of {', '.join(_PLACES)}")
    (place,) = places
    known = (place, "zone" if place == "resetsAt" else "unit", "min", "max", "else")
    if unknown := [key for key in given if key not in known]:
        raise Rejected(f"{where}.{field_name(unknown[0])}", f"unknown field; known are {', '.join(known)}")
    bounds = _bounds(given, where)
    at, value = f"{where}.{place}", given[place]
    if place == "resetsAt":
        return DailyReset(_clock(value, at), _zone(given.get("zone", "UTC"), f"{where}.zone"), bounds)
    unit = word(given.get("unit", WaitUnit.AUTO.value), f"{where}.unit", WaitUnit)
    if place == "header":
        return HeaderWait(name(value, at).lower(), unit, bounds)
    if place == "bodyMatches":
        found = pattern(value, at)
        if found.groups != 1:
            raise Rejected(at, f"must have one group, which is the wait; it has {found.groups}")
        return PatternWait(found, unit, bounds)
    path = parse_path(name(value, at))
    if path is None:
        raise Rejected(at, f"{shown(value)} is no path such as error.retry_after")
    return BodyWait(path, unit, bounds)


def _bounds(given: Mapping[Any, Any], where: str) -> Bounds:
    shortest, longest = (
        _span(given[bound], f"{where}.{bound}") if bound in given else None for bound in ("min", "max")
    )
    if shortest is not None and longest is not None and shortest > longest:
        raise Rejected(f"{where}.max", "is shorter than min")
    return Bounds(shortest, longest)


def _span(value: object, where: str) -> timedelta:
    span = parse_iso_duration(value) if isinstance(value, str) else None
    if span is None or span <= timedelta(0):
        raise Rejected(
            where, f"{shown(value)} is no positive ISO 8601 duration in weeks to seconds, such as PT5M"
        )
    return span


def _clock(value: object, where: str) -> time:
    found = _CLOCK.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise Rejected(where, f"{shown(value)} is no time of the day such as '00:00'")
    return time(int(found[1]), int(found[2]))


def _zone(value: object, where: str) -> str:
    written = name(value, where)
    try:
        return ZoneInfo(written).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Rejected(where, f"{shown(value)} is no time zone such as America/Los_Angeles") from None

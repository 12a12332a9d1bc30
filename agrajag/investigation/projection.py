"""Decides what the model may see of what a source has found (spec single-react: whitelist projection).

Only the fields that are listed for a tool, only single values, every text redacted and made visible. What is too long
is cut: first each value, then each item, then the items from the end. Whatever is left out sets `truncated`.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import orjson

from agrajag.errors import PermanentError
from agrajag.investigation.evidence import Found, Scope
from agrajag.investigation.requests import ToolName
from agrajag.investigation.shown_values import (
    ELLIPSIS,
    Shown,
    named_value,
    shown_name,
    shown_value,
)

MIN_BYTES = 2_048
"""The least that an observation must be allowed: four items and a scope fit in, each cut to almost nothing."""

_MAX_NAME = 64
_MAX_SUBJECTS = 32
_MAX_LOG_FIELDS = 20
_MAX_COLUMNS = 40
_KNOWLEDGE = {"document": 200, "heading": 200, "text": 4_000}
_LOG_LINE = {"time": 40, "level": 16, "service": 120, "message": 2_000}
_LOG_FIELD = 200
_CELL = 1_000
_CEILINGS = (2_000, 1_000, 500, 250, 120, 60, 30, 16)
"""Where an item is too large, its texts are held below these, one after the other."""


class Projection(NamedTuple):
    """The content of an observation, and the scope in it as it goes on record."""

    content: dict[str, Any]
    scope: Scope

    @property
    def is_empty(self) -> bool:
        """Whether it says that there is nothing."""
        return "items" not in self.content

    @property
    def is_cut(self) -> bool:
        """Whether there is more than this."""
        return bool(self.content.get("truncated"))


class _Item(NamedTuple):
    """An item with each value within its own bound: under names of our list, and under names that its source gives."""

    listed: dict[str, Any]
    named: dict[str, Any]
    is_cut: bool

    def joined(self) -> dict[str, Any]:
        if self.listed and self.named:
            return {**self.listed, "fields": {**self.named}}
        return {**self.listed, **self.named}


def project(tool: ToolName, found: Found, limit_bytes: int) -> Projection:
    """The content, at most `limit_bytes` of UTF-8 as JSON; `limit_bytes` is at least MIN_BYTES.

    Projecting a projection changes nothing. Raises PermanentError for what no adapter may give back: an item without a
    field that is listed, or nothing found where not everything was looked at.
    """
    scope = bounded_scope(found.scope, limit_bytes // 4)
    told = _told(scope)
    if not found.items:
        if found.truncated:
            raise PermanentError(f"{tool}: nothing is said to be there, and not all of it was looked at")
        return Projection({"scope": told}, scope)
    room = limit_bytes - _size({"items": [], "scope": told, "truncated": False})
    share = room // min(len(found.items), 4) - 1  # and a comma
    items: list[dict[str, Any]] = []
    truncated = found.truncated
    for one in found.items:
        item, is_cut = _fitted(_SHAPES[tool](one), share)
        room -= _size(item) + 1
        if room < 0:
            truncated = True
            break
        truncated |= is_cut
        items.append(item)
    return Projection({"items": items, "scope": told, "truncated": truncated}, scope)


def bounded_scope(scope: Scope, limit_bytes: int) -> Scope:
    """The scope redacted and within the limit; a last subject `…` stands for those that are left out."""
    kept = [shown_name(subject, _MAX_NAME) for subject in scope.subjects[:_MAX_SUBJECTS]]
    source = shown_name(scope.source, _MAX_NAME // 2)
    whole = scope.model_copy(update={"source": source, "subjects": tuple(kept)})
    if len(kept) == len(scope.subjects) and _size(_told(whole)) <= limit_bytes:
        return whole
    while True:
        shorter = whole.model_copy(update={"subjects": (*kept, ELLIPSIS)})
        if not kept or _size(_told(shorter)) <= limit_bytes:
            return shorter
        kept.pop()


def _knowledge(found: Mapping[str, Any]) -> _Item:
    return _listed(ToolName.LOOKUP_KNOWLEDGE, found, _KNOWLEDGE)


def _log_line(found: Mapping[str, Any]) -> _Item:
    line = _listed(ToolName.QUERY_LOGS, found, _LOG_LINE)
    own = found.get("fields")
    if not isinstance(own, Mapping) or not own:
        return line
    fields = _named(own, _MAX_LOG_FIELDS, _LOG_FIELD)
    return _Item(line.listed, fields.named, line.is_cut or fields.is_cut)


def _row(found: Mapping[str, Any]) -> _Item:
    if not found:
        raise PermanentError(f"{ToolName.QUERY_MYSQL}: a row without a column")
    return _named(found, _MAX_COLUMNS, _CELL)


_SHAPES: Mapping[ToolName, Callable[[Mapping[str, Any]], _Item]] = {
    ToolName.LOOKUP_KNOWLEDGE: _knowledge,
    ToolName.QUERY_LOGS: _log_line,
    ToolName.QUERY_MYSQL: _row,
}


def _listed(tool: ToolName, found: Mapping[str, Any], limits: Mapping[str, int]) -> _Item:
    """The fields on the list, as far as the item has them."""
    shown = {
        name: shown_value(found[name], limit) for name, limit in limits.items() if found.get(name) is not None
    }
    if not shown:
        raise PermanentError(f"{tool}: an item without any of {', '.join(limits)}")
    return _Item(_values(shown), {}, _is_cut(shown))


def _named(found: Mapping[str, Any], most: int, limit: int) -> _Item:
    """The first so many values, under the names that the source gives them."""
    shown: dict[str, Shown] = {}
    for name, value in list(found.items())[:most]:
        shown[_distinct(shown_name(name, _MAX_NAME), shown)] = named_value(str(name), value, limit)
    return _Item({}, _values(shown), _is_cut(shown) or len(found) > most)


def _distinct(name: str, taken: Mapping[str, Any]) -> str:
    """Names that are the same once they are cut or redacted are told apart by a number."""
    number, distinct = 1, name
    while distinct in taken:
        number += 1
        distinct = f"{name[: _MAX_NAME - 5].rstrip()} ({number})"
    return distinct


def _values(shown: Mapping[str, Shown]) -> dict[str, Any]:
    return {name: one.value for name, one in shown.items()}


def _is_cut(shown: Mapping[str, Shown]) -> bool:
    return any(one.is_cut for one in shown.values())


def _fitted(item: _Item, limit_bytes: int) -> tuple[dict[str, Any], bool]:
    """The item within the limit, and whether it is cut: long texts first, then fields and columns from the end."""
    if _size(item.joined()) <= limit_bytes:
        return item.joined(), item.is_cut
    for ceiling in _CEILINGS:
        lower = _lowered(item, ceiling)
        if _size(lower.joined()) <= limit_bytes:
            return lower.joined(), True
    while lower.named and _size(lower.joined()) > limit_bytes:
        lower.named.popitem()
    return lower.joined(), True


def _lowered(item: _Item, ceiling: int) -> _Item:
    return _Item(
        {name: shown_value(value, ceiling).value for name, value in item.listed.items()},
        {name: named_value(name, value, ceiling).value for name, value in item.named.items()},
        item.is_cut,
    )


def _told(scope: Scope) -> dict[str, Any]:
    return scope.model_dump(mode="json", exclude_none=True)


def _size(content: Mapping[str, Any]) -> int:
    return len(orjson.dumps(content))

"""Says what keeps a record described by one JSON Schema from being read by whoever knows another.

Releases meet on the topics: while workers are replaced one by one, and for as long as a topic keeps what it holds. So a
field may be added and nothing else; whatever needs more is a record of a new type, on a topic of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Any

Schema = dict[str, Any]

_LIMITS = {"minimum": 1, "minLength": 1, "minItems": 1, "maximum": -1, "maxLength": -1, "maxItems": -1}
"""Whether a limit admits less where it grows (1) or where it shrinks (-1)."""


def unread(written: Schema, readers: Schema) -> list[str]:
    """Why what fits `written` may not fit `readers`, each reason with its place; empty where it always does."""
    return list(_Meeting(written, readers).differences(written, readers, "$", frozenset()))


def lost(before: Schema, now: Schema) -> list[str]:
    """The fields that `before` has and `now` no longer knows: a reader would drop them without a word."""
    known = set(_fields(now, now, "$", set()))
    return [place for place in _fields(before, before, "$", set()) if place not in known]


@dataclass(frozen=True)
class _Meeting:
    """Two whole schemas, in which the references of their parts are looked up."""

    written: Schema
    readers: Schema

    def differences(
        self, written: Schema, readers: Schema, at: str, seen: frozenset[tuple[str, str]]
    ) -> Iterator[str]:
        pair = (written.get("$ref", ""), readers.get("$ref", ""))
        if pair in seen:
            return
        seen = seen | ({pair} if all(pair) else set())
        written, readers = _resolved(written, self.written), _resolved(readers, self.readers)
        if "anyOf" in written or "anyOf" in readers:
            yield from self._of_choices(written, readers, at, seen)
        elif "type" in readers and written.get("type") != readers["type"]:
            yield f"{at}: {written.get('type')} where a reader knows {readers['type']}"
        else:
            yield from _of_values(written, readers, at)
            for place, one, other in _parts(written, readers, at):
                yield from self.differences(one, other, place, seen)

    def _of_choices(
        self, written: Schema, readers: Schema, at: str, seen: frozenset[tuple[str, str]]
    ) -> Iterator[str]:
        """Every choice of the writer must be one of the reader's."""
        for choice in written.get("anyOf", [written]):
            tried = [list(self.differences(choice, one, at, seen)) for one in readers.get("anyOf", [readers])]
            if all(tried):
                yield from min(tried, key=len)


def _of_values(written: Schema, readers: Schema, at: str) -> Iterator[str]:
    values = _values(readers)
    if values is not None and not set(_values(written) or (None,)) <= set(values):
        yield f"{at}: values that a reader does not know"
    for limit, sign in _LIMITS.items():
        if limit in readers and sign * written.get(limit, -sign * inf) < sign * readers[limit]:
            yield f"{at}: {limit} of a reader is {readers[limit]}"
    if readers.get("pattern") not in (None, written.get("pattern")):
        yield f"{at}: another pattern"
    for name in sorted(set(readers.get("required", ())) - set(written.get("required", ()))):
        yield f"{at}.{name}: a reader needs it"


def _parts(written: Schema, readers: Schema, at: str) -> Iterator[tuple[str, Schema, Schema]]:
    """What both know of what is inside, pair by pair."""
    for name, part in written.get("properties", {}).items():
        known = readers.get("properties", {}).get(name)
        if known is not None:
            yield f"{at}.{name}", part, known
    for inside in ("items", "additionalProperties"):
        if isinstance(written.get(inside), dict) and isinstance(readers.get(inside), dict):
            yield at, written[inside], readers[inside]


def _fields(schema: Schema, root: Schema, at: str, seen: set[str]) -> Iterator[str]:
    if "$ref" in schema:
        if schema["$ref"] in seen:
            return
        seen = seen | {schema["$ref"]}
    schema = _resolved(schema, root)
    for name, part in schema.get("properties", {}).items():
        yield f"{at}.{name}"
        yield from _fields(part, root, f"{at}.{name}", seen)
    for part in (*schema.get("anyOf", ()), schema.get("items"), schema.get("additionalProperties")):
        if isinstance(part, dict):
            yield from _fields(part, root, at, seen)


def _values(schema: Schema) -> list[Any] | None:
    return [schema["const"]] if "const" in schema else schema.get("enum")


def _resolved(schema: Schema, root: Schema) -> Schema:
    reference = schema.get("$ref")
    if reference is None:
        return schema
    found: Schema = root["$defs"][reference.removeprefix("#/$defs/")]
    return found

"""No field of any record grows without end: each text, list, map and number has a bound."""

from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, StringConstraints

from agrajag.model import answers, events, health, jobs
from agrajag.model.wire_model import WireModel
from tests.model.wire_strategies import record_types

_MODULES = {module.__name__ for module in (answers, events, health, jobs)}
OURS = [record for record in record_types() if record.__module__ in _MODULES]
_BOUNDED_FORMATS = {"date-time", "duration"}

Short = Annotated[str, StringConstraints(max_length=8)]


def unbounded(record: type[BaseModel]) -> set[str]:
    """The places in this record and its parts, as paths, that have no bound."""
    schema = record.model_json_schema()
    parts = {record.__name__: schema} | schema.pop("$defs", {})
    return {place for name, part in parts.items() for place in _places(part, name)}


def _places(schema: dict[str, Any], place: str) -> Iterator[str]:
    for option in schema.get("anyOf", ()):
        yield from _places(option, place)
    for name, field in schema.get("properties", {}).items():
        yield from _places(field, f"{place}.{name}")
    if _is_open(schema):
        yield place
    if "items" in schema:
        yield from _places(schema["items"], f"{place}[]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from _places({"type": "string"} | schema.get("propertyNames", {}), f"{place}.keys")
        yield from _places(schema["additionalProperties"], f"{place}.values")


def _is_open(schema: dict[str, Any]) -> bool:
    if "enum" in schema or "const" in schema:
        return False
    match schema.get("type"):
        case "string":
            return "maxLength" not in schema and schema.get("format") not in _BOUNDED_FORMATS
        case "integer" | "number":
            return not ("minimum" in schema and "maximum" in schema)
        case "array":
            return "maxItems" not in schema
        case "object":
            return "properties" not in schema and "maxProperties" not in schema
        case "boolean" | "null":
            return False
        case _:
            return "$ref" not in schema and "anyOf" not in schema


@pytest.mark.parametrize("record", OURS, ids=lambda record: record.__name__)
def test_every_text_list_map_and_number_has_a_bound(record: type[WireModel]) -> None:
    assert unbounded(record) == set()


class Loose(BaseModel):
    """One field for each way in which a field can have no bound."""

    text: str
    maybe_text: Annotated[str, StringConstraints(min_length=1)] | None = None
    number: Annotated[int, Field(ge=0)]
    fraction: float
    anything: Any
    texts: Annotated[tuple[str, ...], Field(max_length=3)]
    many: tuple[Short, ...]
    keys: Annotated[dict[str, Short], Field(max_length=3)]
    values: Annotated[dict[Short, str], Field(max_length=3)]
    large: dict[Short, Short]


def test_a_field_without_a_bound_is_found_wherever_it_stands() -> None:
    single = {"text", "maybe_text", "number", "fraction", "anything"}
    several = {"texts[]", "many", "keys.keys", "values.values", "large"}
    assert unbounded(Loose) == {f"Loose.{name}" for name in single | several}

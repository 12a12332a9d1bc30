"""The JSON Schemas say of a record what the models say, to somebody who has only them."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from agrajag.model.wire_model import WireModel
from agrajag.schemas.examples import example_of
from agrajag.schemas.json_schema import model_schema, record_schema
from agrajag.schemas.records import RECORDS, Form, Record
from tests.model.wire_strategies import records

by_name = pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
OPEN = [record for record in RECORDS if record.open_to_others]


@cache
def validator(model: type[WireModel], form: Form) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(model_schema(model, form), validate_formats=True)


def properties(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every field of the record and of its parts."""
    for part in (schema, *schema.get("$defs", {}).values()):
        for name, described in part.get("properties", {}).items():
            yield f"{part['title']}.{name}", described


def holds(whole: Any, part: Any) -> bool:
    """Whether `whole` has everything that `part` has."""
    if isinstance(part, dict):
        return all(name in whole and holds(whole[name], value) for name, value in part.items())
    return bool(whole == part)


def mutations(value: Any) -> st.SearchStrategy[Any]:
    """`value` with something in it replaced, taken out or put in."""
    junk = st.sampled_from(JUNK)
    if isinstance(value, dict) and value:
        names = st.sampled_from(sorted(value))
        return st.one_of(
            names.flatmap(lambda name: mutations(value[name]).map(lambda new: {**value, name: new})),
            names.map(lambda gone: {name: kept for name, kept in value.items() if name != gone}),
            junk.map(lambda new: {**value, "unheardOf": new}),
            junk,
        )
    if isinstance(value, list) and value:
        return st.one_of(mutations(value[0]).map(lambda new: [new, *value[1:]]), junk)
    return junk


JUNK: tuple[Any, ...] = (
    None,
    True,
    0,
    1,
    -1,
    1.5,
    2**53 + 1,
    700,
    "",
    "x",
    "x" * 257,
    "x" * 901,
    "a\u0000b",
    "a\u200bb",
    "a\u2028b",
    "GLOBAL",
    "2026-05-23T12:00:00",
    "2026-05-23T12:00:00+02:00",
    "2026-13-01T00:00:00Z",
    "yesterday",
    "P",
    "PT",
    "PT1.5S",
    "-PT1S",
    "P1W2D",
    [],
    ["x"] * 17,
    ["x"] * 501,
    [None],
    {},
    {"x": "y"},
    {"x": 1},
    {"x" * 300: "y"},
    {str(number): "y" for number in range(70)},
)


@by_name
def test_every_schema_is_one_by_its_own_dialect(record: Record) -> None:
    schema = record_schema(record)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema_rs.meta.validate(schema)


@by_name
def test_the_example_is_valid_by_schema_and_model_and_nothing_of_it_is_lost(record: Record) -> None:
    value = example_of(record).value
    jsonschema_rs.Draft202012Validator(record_schema(record), validate_formats=True).validate(value)
    written = json.loads(record.model.from_json(json.dumps(value).encode()).to_json())
    assert holds(written, value)
    if record.form == "output":
        assert written == value


@by_name
@given(data=st.data())
@settings(max_examples=30)
def test_both_forms_accept_whatever_the_model_writes(record: Record, data: st.DataObject) -> None:
    written = json.loads(data.draw(records(record.model)).to_json())
    validator(record.model, "input").validate(written)
    validator(record.model, "output").validate(written)


@by_name
@given(data=st.data())
@settings(max_examples=80)
def test_the_input_form_accepts_exactly_what_the_model_reads_and_the_output_form_no_more(
    record: Record, data: st.DataObject
) -> None:
    changed = data.draw(mutations(data.draw(mutations(example_of(record).value))))
    try:
        record.model.from_json(json.dumps(changed).encode())
        is_read = True
    except ValidationError:
        is_read = False
    assert validator(record.model, "input").is_valid(changed) is is_read
    assert is_read or not validator(record.model, "output").is_valid(changed)


@by_name
def test_each_required_field_is_missed(record: Record) -> None:
    schema = record_schema(record)
    shown = example_of(record).value
    assert schema["required"]
    for name in schema["required"]:
        without = {kept: value for kept, value in shown.items() if kept != name}
        assert not validator(record.model, record.form).is_valid(without), name


@by_name
def test_fields_that_nobody_knows_yet_are_allowed_everywhere(record: Record) -> None:
    schema = record_schema(record)
    for part in (schema, *schema["$defs"].values()) if "$defs" in schema else (schema,):
        assert part.get("additionalProperties", True) is not False
        assert part.get("unevaluatedProperties", True) is not False


@pytest.mark.parametrize("record", OPEN, ids=lambda record: record.name)
def test_what_others_write_may_say_null_for_nothing(record: Record) -> None:
    optional = record_schema(record)["properties"].keys() - set(record_schema(record)["required"])
    for name in optional:
        field = {field.alias: field for field in record.model.model_fields.values()}[name]
        value = example_of(record).value | {name: None}
        assert validator(record.model, "input").is_valid(value) is (field.default is None), name


@by_name
def test_what_we_write_is_never_null(record: Record) -> None:
    assert '"null"' not in json.dumps(model_schema(record.model, "output"))


def test_a_health_document_always_says_its_status_and_a_reader_may_rely_on_it() -> None:
    health = next(record for record in RECORDS if record.name == "health-changed.v1")
    assert {"revision", "status", "cooldowns", "history"} <= set(record_schema(health)["required"])


@by_name
def test_every_record_and_part_says_what_it_is(record: Record) -> None:
    schema = record_schema(record)
    assert all(part["title"] and part["description"] for part in (schema, *schema.get("$defs", {}).values()))


@pytest.mark.parametrize("record", OPEN, ids=lambda record: record.name)
def test_fields_are_described_in_the_words_of_the_wire(record: Record) -> None:
    described = dict(properties(record_schema(record)))
    assert any("description" in field for field in described.values())
    assert not [word for word in ("reply_to", "tool_name", "event_id") if word in json.dumps(described)]


def test_a_field_of_an_error_says_what_it_means_and_not_only_its_type() -> None:
    error = next(record for record in RECORDS if record.name == "tool-call-error.v1")
    described = dict(properties(record_schema(error)))
    assert "never names a topic" in described["ToolCallError.replyTo"]["description"]
    assert "Retry-After" in described["ErrorReport.headers"]["description"]


def test_the_schemas_mean_the_same_in_draft_07_which_asyncapi_tools_read() -> None:
    text = json.dumps([record_schema(record) for record in RECORDS])
    for keyword in ("prefixItems", "unevaluated", "dependent", "$dynamicRef", "$anchor", "minContains"):
        assert f'"{keyword}' not in text
    for record in RECORDS:
        for name, described in properties(record_schema(record)):
            if "$ref" in described:  # draft-07 reads nothing beside a reference
                assert described.keys() <= {"$ref", "description", "default", "readOnly"}, name

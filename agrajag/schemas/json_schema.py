"""Makes the JSON Schema (2020-12) of a record, in the form that somebody outside needs.

The input form is what Agrajag reads: unknown fields are allowed and null means "not given". It is the strict form: what
`wire.repair` would mend, such as a text that is too long, is not in it. The output form is what Agrajag writes: null is
never written, and a field that always has a value is required. Readers ignore fields that they do not know.
"""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from agrajag.model.wire_model import WireModel
from agrajag.schemas.field_docs import field_doc, in_wire_words
from agrajag.schemas.records import Form, Record

_DURATION = r"^P(?=.)(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?$"
"""ISO 8601 with fractions of a second, which the format `duration` of JSON Schema does not have."""


def record_schema(record: Record) -> dict[str, Any]:
    """The schema of one kind of record, complete in itself."""
    schema = model_schema(record.model, record.form)
    return {"$schema": _Input.schema_dialect, "$id": f"urn:agrajag:schema:{record.name}"} | schema


def model_schema(model: type[WireModel], form: Form) -> dict[str, Any]:
    """The schema of `model` in one form, parts of it under `$defs`."""
    if form == "input":
        schema = model.model_json_schema(schema_generator=_Input, mode="validation")
    else:
        schema = model.model_json_schema(schema_generator=_Output, mode="serialization")
    return {"title": schema.pop("title"), "description": schema.pop("description"), **schema}


class _Input(GenerateJsonSchema):
    """Pydantic's schema with the words of the source and without what says nothing."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def timedelta_schema(self, schema: core_schema.TimedeltaSchema) -> JsonSchemaValue:
        return {"type": "string", "pattern": _DURATION}

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        if schema.get("default", ...) is None:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        described = super().model_schema(schema)
        model: type[BaseModel] = schema["cls"]
        described["description"] = in_wire_words(described["description"])
        names = {field.alias or name: name for name, field in model.model_fields.items()}
        for wire_name, value in described["properties"].items():
            doc = field_doc(model, names.get(wire_name, wire_name))
            if doc is not None:
                value["description"] = doc
        return described

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchemaValue:
        described = super().enum_schema(schema)
        described["description"] = in_wire_words(described["description"])
        return described


class _Output(_Input):
    """What is written: nothing is null, and what has a value is there."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,
    ) -> bool:
        inner: Any = field["schema"]
        while inner["type"] == "default":
            inner = inner["schema"]
        return bool(inner["type"] != "nullable")

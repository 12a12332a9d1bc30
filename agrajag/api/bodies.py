"""Reads the JSON of a request as strictly as that of a record, and says in OpenAPI what it has to look like.

The framework would read it laxly, a number for a time or a text for a number.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import ConfigDict, ValidationError

from agrajag.model.wire_model import WireModel

B = TypeVar("B", bound="Body")

JSON = "application/json"


class Body(WireModel):
    """What a request says; a field that is not known is refused, since it would not do what its sender meant."""

    model_config = ConfigDict(extra="forbid")


async def read_body(request: Request, model: type[B]) -> B:
    """The body of the request. Raises RequestValidationError."""
    try:
        return model.from_json(await request.body())
    except ValidationError as error:
        raise refused_body(error) from None


def refused_body(error: ValidationError, *place: str | int) -> RequestValidationError:
    """What is wrong with what stands at this place of the body."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return RequestValidationError([{**one, "loc": ("body", *place, *one["loc"])} for one in found])


def body_docs(schema: Mapping[str, Any], media_type: str = JSON) -> dict[str, Any]:
    """What OpenAPI says of a route whose body this is."""
    return {"requestBody": {"required": True, "content": {media_type: {"schema": schema}}}}


def schema_of(model: type[WireModel]) -> dict[str, Any]:
    """The schema of a model without references, as it may stand anywhere in OpenAPI."""
    schema = model.model_json_schema()
    parts: dict[str, Any] = schema.pop("$defs", {})
    whole: dict[str, Any] = _inlined(schema, parts)
    return whole


def _inlined(schema: Any, parts: Mapping[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_inlined(one, parts) for one in schema]
    if not isinstance(schema, dict):
        return schema
    name = schema.get("$ref")
    if name is None:
        return {key: _inlined(value, parts) for key, value in schema.items()}
    rest = {key: value for key, value in schema.items() if key != "$ref"}
    return {**_inlined(parts[name.rpartition("/")[2]], parts), **rest}

"""Says in JSON Schema what the model may write: generated from the types that check it, so that the two never differ.

Names and bounds are told, the words of our own docstrings are not: what fields are for is the prompt's to say.
"""

from collections.abc import Mapping
from typing import Any

from agrajag.investigation.draft import DiagnosisDraft
from agrajag.investigation.frozen_model import FrozenModel

_NOTES = frozenset({"title", "description"})
_BOUNDS = frozenset({"minLength", "maxLength", "pattern", "maxItems"})
"""What the API does not know in the schema of an output; the parser holds the answer to them all the same."""


def schema_of(model: type[FrozenModel]) -> dict[str, Any]:
    """The schema of one of our types, the same every time: no field but its own, nothing recursive."""
    return _without(_NOTES, model.model_json_schema())


def draft_schema() -> dict[str, Any]:
    """The schema of a draft, for the prompt (spec single-react: Diagnosis output). Every field is required."""
    return schema_of(DiagnosisDraft)


def draft_output_config() -> dict[str, Any]:
    """The `output_config` with which the API itself holds the answer to the schema, as far as it can."""
    return {"format": {"type": "json_schema", "schema": _without(_BOUNDS, draft_schema())}}


def _without(keywords: frozenset[str], schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _inside(keywords, key, value) for key, value in schema.items() if key not in keywords}


def _inside(keywords: frozenset[str], key: str, value: Any) -> Any:
    match key:
        case "properties" | "$defs":  # their keys are names of ours, never keywords
            return {name: _without(keywords, inner) for name, inner in value.items()}
        case "anyOf":
            return [_without(keywords, inner) for inner in value]
        case "items":
            return _without(keywords, value)
    return value

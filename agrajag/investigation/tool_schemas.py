"""The input schemas of the tools as the model is given them: what the envelopes check, without our notes in them."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from agrajag.investigation.envelope import Envelope

_NOTES = ("title", "description")


@cache
def input_schema(envelope: type[Envelope[Any]]) -> Mapping[str, Any]:
    """The schema, made once, so that it is the same byte for byte in every round of every run."""
    return {name: _plain(value) for name, value in envelope.model_json_schema().items() if name not in _NOTES}


def _plain(schema: Any) -> Any:
    """The schema without notes. The name of a property may be that of a note."""
    if isinstance(schema, list):
        return [_plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: {key: _plain(each) for key, each in value.items()}
        if name in ("properties", "$defs")
        else _plain(value)
        for name, value in schema.items()
        if name not in _NOTES
    }

"""The examples of pack rules as the errors that they stand for."""

import json
from collections.abc import Mapping
from typing import Any

from agrajag.model.events import ErrorReport, ToolCallError
from tests.builders import an_error

_REPORT = {field.alias or name for name, field in ErrorReport.model_fields.items()}
EXPECTED = ("classification", "cooldownSeconds")
"""What an example says about its verdict, beside the fields of the error."""


def error_of(example: Mapping[str, Any]) -> ToolCallError:
    """The error that an example shows: its fields by their names on the wire; a body may be given as its JSON."""
    given = {name: value for name, value in example.items() if name not in EXPECTED}
    body = given.get("body")
    if body is not None and not isinstance(body, str):
        given["body"] = json.dumps(body)
    report = {name: given.pop(name) for name in list(given) if name in _REPORT}
    known = {field.alias or name for name, field in ToolCallError.model_fields.items()}
    assert set(given) <= known, f"unknown fields: {sorted(set(given) - known)}"
    event = an_error().to_json()
    return ToolCallError.from_json(json.dumps({**json.loads(event), **given, "error": report}).encode())

"""Describes the routes as OpenAPI: with the form of problems, which no route returns as its own answer, and with
patterns that are read alike everywhere."""

import sys
from functools import cache
from itertools import groupby
from typing import Any
from unicodedata import category

from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic.alias_generators import to_camel

from agrajag.api.problems import Problem
from agrajag.model.wire_model import VISIBLE

_REF = "#/components/schemas/{model}"


def operation_id(route: APIRoute) -> str:
    """What generated clients call an operation: `listHealth`."""
    return to_camel(route.name)


def describe_problems(app: FastAPI) -> None:
    """Have the description of `app` hold the form of problems."""
    describe = app.openapi

    def described() -> dict[str, Any]:
        document: dict[str, Any] = describe()
        form = Problem.model_json_schema(mode="serialization", ref_template=_REF)
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas.update(form.pop("$defs", {}) | {"Problem": form})
        plain: dict[str, Any] = _with_plain_patterns(document)
        return plain

    app.openapi = described  # type: ignore[method-assign]  # the way that FastAPI documents


def _with_plain_patterns(part: Any) -> Any:
    if isinstance(part, dict):
        return {
            name: visible_pattern() if name == "pattern" and inner == VISIBLE else _with_plain_patterns(inner)
            for name, inner in part.items()
        }
    return [_with_plain_patterns(inner) for inner in part] if isinstance(part, list) else part


@cache
def visible_pattern() -> str:
    """The same as `VISIBLE` with the characters themselves: not every reader of patterns knows their classes."""
    refused = [
        point for point in range(sys.maxunicode + 1) if category(chr(point)) in {"Cc", "Cf", "Zl", "Zp"}
    ]
    runs = [
        [point for _, point in run]
        for _, run in groupby(enumerate(refused), key=lambda placed: placed[1] - placed[0])
    ]
    told = "".join(f"{_sign(run[0])}-{_sign(run[-1])}" if len(run) > 1 else _sign(run[0]) for run in runs)
    return f"^[^{told}]*$"


def _sign(point: int) -> str:
    return f"\\u{point:04x}" if point <= 0xFFFF else chr(point)

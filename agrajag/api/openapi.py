"""Describes the routes as OpenAPI: with the form of problems, which no route returns as its own answer."""

from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic.alias_generators import to_camel

from agrajag.api.problems import Problem

_REF = "#/components/schemas/{model}"


def operation_id(route: APIRoute) -> str:
    """What generated clients call an operation: `listHealth`."""
    return to_camel(route.name)


def describe_problems(app: FastAPI) -> None:
    """Have the description of `app` hold the form of problems."""
    describe = app.openapi

    def described() -> dict[str, Any]:
        document = describe()
        form = Problem.model_json_schema(mode="serialization", ref_template=_REF)
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas.update(form.pop("$defs", {}) | {"Problem": form})
        return document

    app.openapi = described  # type: ignore[method-assign]  # the way that FastAPI documents

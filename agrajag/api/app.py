"""Puts the routes together: one application over the parts that it is given."""

from collections.abc import Iterable
from itertools import chain

from fastapi import FastAPI
from starlette.routing import BaseRoute, Route

from agrajag import __version__
from agrajag.api import (
    audit,
    commands,
    cooldown_list,
    document_reads,
    document_writes,
    explaining,
    in_force,
    past,
    reads,
    reports,
)
from agrajag.api.changes import route as changes
from agrajag.api.edge import Edge
from agrajag.api.openapi import describe_problems, operation_id
from agrajag.api.page import page_routes
from agrajag.api.parts import Parts
from agrajag.api.problems import tell_problems

ROUTERS = (
    reads.router,
    cooldown_list.router,
    past.router,
    in_force.router,
    commands.router,
    reports.router,
    document_reads.router,
    document_writes.router,
    explaining.router,
    audit.router,
    changes.router,
)
"""Each module of routes."""


def create_app(parts: Parts) -> FastAPI:
    """The whole API over these parts; it opens and starts nothing."""
    app = FastAPI(
        title="Agrajag",
        version=__version__,
        summary="Whose fault a failing tool call is, and what is paused until when.",
        docs_url=None,  # the library's pages come from a foreign host
        redoc_url=None,
        openapi_url="/openapi.json",
        swagger_ui_oauth2_redirect_url=None,
        redirect_slashes=False,
        generate_unique_id_function=operation_id,
    )
    app.state.parts = parts
    pages = page_routes()
    tell_problems(app, lambda path: _methods_at(path, pages))
    describe_problems(app)
    for router in ROUTERS:
        app.include_router(router)
    app.router.routes.extend(pages)
    app.add_middleware(
        Edge, max_body_bytes=parts.values.max_body_bytes, request_seconds=parts.values.request_seconds
    )
    return app


def _methods_at(path: str, pages: Iterable[BaseRoute]) -> set[str]:
    """The methods of all routes at a path, as it was sent."""
    routes = (
        route for route in chain(pages, *(router.routes for router in ROUTERS)) if isinstance(route, Route)
    )
    return {method for route in routes if route.path_regex.match(path) for method in route.methods or ()}

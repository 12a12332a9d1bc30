"""Turns whatever goes wrong into `application/problem+json` (RFC 9457) of a closed set of types.

What a stranger sent, traces and addresses of ours are never in it: an error of the server is logged and told as such.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from http import HTTPStatus
from typing import Annotated, Any

import structlog
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import Field
from starlette.exceptions import HTTPException as StarletteHTTPException

from agrajag.core.shown import visible
from agrajag.errors import AgrajagError, InputError, PermanentError, TransientError
from agrajag.metrics import API_REFUSALS
from agrajag.model.wire_model import WireModel

log = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"
_URN = "urn:agrajag:problem:"
_MAX_ERRORS = 20
_MAX_TEXT = 300


class ProblemType(StrEnum):
    """What kind of thing is wrong; in a problem it stands as `urn:agrajag:problem:<type>`."""

    INVALID = "invalid"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not-found"
    METHOD_NOT_ALLOWED = "method-not-allowed"
    REFUSED = "refused"
    TOO_LARGE = "too-large"
    TOO_SLOW = "too-slow"
    TOO_MANY = "too-many"
    UNAVAILABLE = "unavailable"
    NOT_YET = "not-yet"
    INTERNAL = "internal"


class Missing(StrEnum):
    """What is away where something is unavailable."""

    KAFKA = "kafka"
    STORE = "store"
    WORKER = "worker"


_KINDS: Mapping[ProblemType, tuple[HTTPStatus, str]] = {
    ProblemType.INVALID: (HTTPStatus.UNPROCESSABLE_ENTITY, "The request says what cannot be meant"),
    ProblemType.UNAUTHENTICATED: (HTTPStatus.UNAUTHORIZED, "A valid bearer token is needed"),
    ProblemType.FORBIDDEN: (HTTPStatus.FORBIDDEN, "This token may not do that"),
    ProblemType.NOT_FOUND: (HTTPStatus.NOT_FOUND, "There is no such thing"),
    ProblemType.METHOD_NOT_ALLOWED: (HTTPStatus.METHOD_NOT_ALLOWED, "Not with this method"),
    ProblemType.REFUSED: (HTTPStatus.CONFLICT, "What was asked for was refused"),
    ProblemType.TOO_LARGE: (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request is too large"),
    ProblemType.TOO_SLOW: (HTTPStatus.REQUEST_TIMEOUT, "The request came too slowly"),
    ProblemType.TOO_MANY: (HTTPStatus.TOO_MANY_REQUESTS, "Too many requests"),
    ProblemType.UNAVAILABLE: (HTTPStatus.SERVICE_UNAVAILABLE, "Something that is needed is away"),
    ProblemType.NOT_YET: (HTTPStatus.SERVICE_UNAVAILABLE, "What was asked for cannot be seen yet"),
    ProblemType.INTERNAL: (HTTPStatus.INTERNAL_SERVER_ERROR, "Something is wrong with the server"),
}
_BY_STATUS = {
    **{status.value: kind for kind, (status, _) in _KINDS.items() if kind is not ProblemType.NOT_YET},
    HTTPStatus.BAD_REQUEST.value: ProblemType.INVALID,
}


class FieldProblem(WireModel):
    """One field that is wrong: where it stands, and why."""

    field: str
    reason: str


class Problem(WireModel):
    """What is wrong with a request (RFC 9457)."""

    type: Annotated[str, Field(pattern=f"^{_URN}[a-z-]+$")]
    """Which kind of problem it is, from a closed set."""
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: str | None = None
    """What is wrong this time."""
    errors: tuple[FieldProblem, ...] = ()
    """Each field that is wrong."""
    missing: Missing | None = None
    """What is away."""


class Refused(HTTPException):
    """An answer that is a problem. `detail` is shown to whoever asked."""

    def __init__(
        self,
        kind: ProblemType,
        detail: str,
        *,
        errors: Sequence[FieldProblem] = (),
        missing: Missing | None = None,
        headers: Mapping[str, str] | None = None,
        status: int | None = None,
    ) -> None:
        """`status` is that of the kind, unless another is given."""
        super().__init__(status or _KINDS[kind][0], detail, dict(headers or {}))
        self.kind = kind
        self.errors = tuple(errors)
        self.missing = missing

    def response(self) -> Response:
        """The problem as an answer."""
        API_REFUSALS.labels(self.kind).inc()
        problem = Problem(
            type=_URN + self.kind,
            title=_KINDS[self.kind][1],
            status=self.status_code,
            detail=_told(self.detail) or None,
            errors=self.errors,
            missing=self.missing,
        )
        return Response(problem.to_json(), self.status_code, self.headers, MEDIA_TYPE)


def not_found(what: str) -> Refused:
    """There is none, or none that whoever asks may know of."""
    return Refused(ProblemType.NOT_FOUND, f"there is no such {what}")


@contextmanager
def needing(missing: Missing) -> Iterator[None]:
    """Turns what is away, or says no, into a 503 that names it; the reason is logged, not told."""
    try:
        yield
    except (TransientError, PermanentError) as error:
        log.warning("api_lacks", missing=missing, reason=str(error))
        away = f"the {missing} does not answer"
        raise Refused(ProblemType.UNAVAILABLE, away, missing=missing, headers={"Retry-After": "5"}) from error


def problem_responses(*kinds: ProblemType) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI tells of these problems, and of those that every route has."""
    every = (ProblemType.INVALID, ProblemType.UNAUTHENTICATED, ProblemType.FORBIDDEN, ProblemType.NOT_FOUND)
    told: dict[int | str, dict[str, Any]] = {}
    for kind in (*every, *kinds):
        status, title = _KINDS[kind]
        schema = {"$ref": "#/components/schemas/Problem"}
        told[status.value] = {"description": title, "content": {MEDIA_TYPE: {"schema": schema}}}
    return told


def tell_problems(app: FastAPI, methods_at: Callable[[str], Collection[str]]) -> None:
    """Have every error of `app` told as a problem; `methods_at` tells all methods that there are at a path."""

    @app.exception_handler(RequestValidationError)
    async def _invalid(_request: Request, error: RequestValidationError) -> Response:
        found = [FieldProblem(field=_field(one), reason=_told(one["msg"])) for one in error.errors()]
        detail = "; ".join(f"{one.field}: {one.reason}" for one in found[:3])
        return Refused(ProblemType.INVALID, detail, errors=found[:_MAX_ERRORS]).response()

    @app.exception_handler(StarletteHTTPException)
    async def _refused(request: Request, error: StarletteHTTPException) -> Response:
        if not isinstance(error, Refused):
            kind = _BY_STATUS.get(error.status_code, ProblemType.INTERNAL)
            headers = error.headers
            if kind is ProblemType.METHOD_NOT_ALLOWED:  # the library names those of one route alone
                headers = {"Allow": ", ".join(sorted(methods_at(request.url.path)))}
            error = Refused(kind, error.detail, headers=headers, status=error.status_code)
        return error.response()

    @app.exception_handler(AgrajagError)
    async def _ours(_request: Request, error: AgrajagError) -> Response:
        if isinstance(error, InputError):
            return Refused(ProblemType.INVALID, str(error)).response()
        log.error("api_request_failed", exc_info=error)
        if isinstance(error, TransientError):
            return Refused(ProblemType.UNAVAILABLE, "try again later").response()
        return Refused(ProblemType.INTERNAL, "").response()


def internal_problem() -> Response:
    """What is told of an error that nobody expected."""
    return Refused(ProblemType.INTERNAL, "").response()


def _field(error: Mapping[str, Any]) -> str:
    return _told(".".join(str(part) for part in error["loc"]))


def _told(text: str) -> str:
    return visible(text)[:_MAX_TEXT]

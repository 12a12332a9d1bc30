"""Stands before the routes: bounds what a request may bring and how long it takes, hardens and counts every answer."""

import asyncio
import time
from collections.abc import Mapping

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agrajag.api.problems import ProblemType, Refused, internal_problem
from agrajag.api.segments import with_sent_path
from agrajag.metrics import API_REQUESTS, API_SECONDS, StatusClass

log = structlog.get_logger(__name__)

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

HEADERS: Mapping[str, str] = {
    # The page's own files and answers, and nothing of another host, of no inline script.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Edge:
    """The outermost application."""

    def __init__(self, app: ASGIApp, *, max_body_bytes: int, request_seconds: float) -> None:
        self._app = app
        self._max_body_bytes = max_body_bytes
        self._request_seconds = request_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answered(with_sent_path(scope), receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._app(scope, receive, send)

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = time.monotonic()
        started = False

        async def hardened(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                API_SECONDS.observe(time.monotonic() - began)
                _count(scope, message["status"])
            await send(message)

        try:
            declared = Headers(scope=scope).get("content-length", "")
            if declared.isdecimal() and int(declared[:20]) > self._max_body_bytes:
                await self._too_large().response()(scope, receive, hardened)
            else:
                await self._app(scope, self._bounded(receive), hardened)
        except Exception as error:
            log.error("api_request_crashed", exc_info=error)
            if started:
                raise  # the connection ends; what was sent of the answer cannot be taken back
            await internal_problem()(scope, receive, hardened)

    def _bounded(self, receive: Receive) -> Receive:
        """The request's messages, of which the body may not be too long, nor take too long to come."""
        deadline = asyncio.get_running_loop().time() + self._request_seconds
        received = 0
        whole = False

        async def bounded() -> Message:
            nonlocal received, whole
            if whole:  # then it is waited for the client to go away, as long as the answer takes
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                reason = f"the body has to come within {self._request_seconds:g} s"
                raise Refused(ProblemType.TOO_SLOW, reason, headers={"Connection": "close"}) from None
            received += len(message.get("body", b""))
            if received > self._max_body_bytes:
                raise self._too_large()
            whole = message["type"] != "http.request" or not message.get("more_body", False)
            return message

        return bounded

    def _too_large(self) -> Refused:
        reason = f"at most {self._max_body_bytes:,} bytes are read"
        return Refused(ProblemType.TOO_LARGE, reason, headers={"Connection": "close"})


def _count(scope: Scope, status: int) -> None:
    method = scope["method"] if scope["method"] in METHODS else "other"
    route = getattr(scope.get("route"), "path_format", "none")
    API_REQUESTS.labels(route, method, StatusClass(f"{status // 100}xx")).inc()

"""Serves `/metrics`, `/healthz` and `/readyz` from threads of its own, which answer while the event loop cannot.

`/healthz` fails only where starting the process again would help, so that a broker or store that is away restarts
nobody; `/readyz` says with its reasons whether the role does its work. Nothing here waits for anybody.
"""

import json
import socket
import sys
from collections.abc import Callable, Iterable
from hmac import compare_digest
from http import HTTPStatus
from socketserver import TCPServer, ThreadingMixIn
from threading import Thread
from types import TracebackType
from typing import Any, Self
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

import structlog
from prometheus_client import CollectorRegistry, make_wsgi_app

from agrajag.errors import ConfigError
from agrajag.monitor.pulse import Pulse

log = structlog.get_logger(__name__)

StartResponse = Callable[[str, list[tuple[str, str]]], Any]
Answer = tuple[HTTPStatus, dict[str, Any]]


class MonitorServer:
    """Listens while it is entered; port 0 stands for any free one. With a `token` all but its bearers are refused."""

    def __init__(
        self, host: str, port: int, pulse: Pulse, registry: CollectorRegistry, token: str | None = None
    ) -> None:
        """Raises ConfigError where nothing can listen there, above all where somebody else does."""
        try:
            self._server = _server_class(host)((host, port), _Handler)
        except OSError as error:
            raise ConfigError(
                f"monitor: cannot listen on {host}:{port}: {error.strerror or error}; "
                "choose another port, or 0 for any free one"
            ) from error
        self._server.set_app(_Application(pulse, registry, token))
        self._thread = Thread(target=self._server.serve_forever, name="monitor", daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        host, port = self._server.server_address[:2]
        return f"http://[{host!s}]:{port}" if ":" in str(host) else f"http://{host!s}:{port}"

    def __enter__(self) -> Self:
        self._thread.start()
        log.info("monitor_listens", url=self.url)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Application:
    """The three paths, as WSGI."""

    def __init__(self, pulse: Pulse, registry: CollectorRegistry, token: str | None) -> None:
        self._pulse = pulse
        self._metrics = make_wsgi_app(registry)
        self._authorization = None if token is None else f"Bearer {token}".encode()

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        body = self._answered(environ, start_response)
        return () if environ["REQUEST_METHOD"] == "HEAD" else body

    def _answered(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return _told((HTTPStatus.METHOD_NOT_ALLOWED, {"error": "only GET and HEAD"}), start_response)
        if not self._may_ask(environ):
            return _told((HTTPStatus.UNAUTHORIZED, {"error": "needs the bearer token"}), start_response)
        match environ["PATH_INFO"]:
            case "/metrics":
                asked = environ | {"REQUEST_METHOD": "GET"}  # the library's knows no HEAD
                answered: Iterable[bytes] = self._metrics(asked, start_response)
                return answered
            case "/healthz":
                return _told(self._health(), start_response)
            case "/readyz":
                return _told(self._readiness(), start_response)
            case _:
                there = {"error": "there are /metrics, /healthz and /readyz"}
                return _told((HTTPStatus.NOT_FOUND, there), start_response)

    def _may_ask(self, environ: dict[str, Any]) -> bool:
        if self._authorization is None:
            return True
        given = environ.get("HTTP_AUTHORIZATION", "").encode("latin-1", "replace")
        return compare_digest(given, self._authorization)

    def _health(self) -> Answer:
        stall = self._pulse.stall()
        if stall is None:
            return HTTPStatus.OK, {"healthy": True}
        return HTTPStatus.SERVICE_UNAVAILABLE, {"healthy": False, "reason": stall}

    def _readiness(self) -> Answer:
        found = self._pulse.readiness()
        return (HTTPStatus.OK if found.ready else HTTPStatus.SERVICE_UNAVAILABLE), found.to_json()


def _told(answer: Answer, start_response: StartResponse) -> Iterable[bytes]:
    status, content = answer
    body = json.dumps(content).encode() + b"\n"
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    if status is HTTPStatus.UNAUTHORIZED:
        headers.append(("WWW-Authenticate", "Bearer"))
    start_response(f"{status.value} {status.phrase}", headers)
    return [body]


class _Handler(WSGIRequestHandler):
    """Quiet, and without patience for a client that asks nothing."""

    timeout = 10

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the library's
        """Probes come every few seconds; nobody reads about them."""


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def server_bind(self) -> None:
        """Without the look-up of the host's name in the library's, which can take as long as a name server does."""
        TCPServer.server_bind(self)
        host, port = self.server_address[:2]
        self.server_name, self.server_port = str(host), int(port)
        self.setup_environ()

    def handle_error(self, _request: Any, _client_address: Any) -> None:
        """One line, where the library's would print a trace for every client that went away."""
        log.warning("monitor_request_failed", error=repr(sys.exception()))


def _server_class(host: str) -> type[_Server]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return type("_FamilyServer", (_Server,), {"address_family": family})

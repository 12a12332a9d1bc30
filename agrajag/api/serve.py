"""Serves the application under uvicorn, on a socket of ours, until it is cancelled."""

import asyncio
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
import uvicorn
from starlette.types import ASGIApp

from agrajag.api.parts import ApiValues
from agrajag.errors import ConfigError

log = structlog.get_logger(__name__)

_MAX_HEAD_BYTES = 65_536
_IDLE_SECONDS = 60
_UNTAKEN_MS = 60_000


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 stands for any free one. Raises ConfigError where that is not possible."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        there = socket.create_server((host, port), family=family, backlog=1_024)
    except OSError as error:
        raise ConfigError(
            f"api: cannot listen on {host}:{port}: {error.strerror or error}; "
            "choose another port, or 0 for any free one"
        ) from error
    if sys.platform == "linux":
        # Else the connection of a client that takes nothing more would stay, with what is written to it, for hours.
        there.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNTAKEN_MS)
    return there


def url_of(there: socket.socket) -> str:
    """Where a socket listens."""
    host, port = there.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def serve(app: ASGIApp, there: socket.socket, values: ApiValues, ending: asyncio.Event) -> None:
    """Answer requests until cancelled; then `ending` is set, and what is being answered has a few seconds to end."""
    server = _Server(
        uvicorn.Config(
            app,
            lifespan="off",
            ws="none",
            http="h11",  # the one that bounds the head of a request
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=values.connections,
            timeout_keep_alive=_IDLE_SECONDS,
            timeout_graceful_shutdown=max(1, round(values.ending_seconds)),
            h11_max_incomplete_event_size=_MAX_HEAD_BYTES,
        )
    )
    serving = asyncio.create_task(server.serve(sockets=[there]))
    log.info("api_listens", url=url_of(there))
    try:
        await asyncio.shield(serving)
    finally:
        ending.set()
        server.should_exit = True
        await serving
        log.info("api_ended")


class _Server(uvicorn.Server):
    """Leaves the signals to whoever runs it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

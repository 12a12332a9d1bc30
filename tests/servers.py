"""Embedded servers of a test, ended without the time that a stop in good order takes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from agrajag.embedded.server import EmbeddedServer

Server = TypeVar("Server", bound=EmbeddedServer)


@contextmanager
def thrown_away(server: Server) -> Iterator[Server]:
    """The server while it runs; killed in the end, which is quicker than to stop it, since nobody reads its files."""
    server.start()
    try:
        yield server
    finally:
        server.kill()
        server.stop()

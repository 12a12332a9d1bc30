"""The processes of a test: servers that end without the time that a stop in good order takes, and what others get."""

import os
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


def unmeasured() -> dict[str, str]:
    """The environment for processes that are there to be killed, without coverage: it costs them half of their speed.

    What is killed tells nothing, and what they run is measured where it runs in the test's own process or as a role.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}

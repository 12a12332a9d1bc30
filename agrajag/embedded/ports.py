"""Picks loopback ports for the embedded servers.

Ports come from below the range that the system gives to outgoing connections. A client that reconnects in a
loop to a server that is down may otherwise be given the server's own port, connect to itself, and keep the
server from coming back.
"""

import errno
import random
import socket
from collections.abc import Collection

LOOPBACK = "127.0.0.1"
_FIRST_PORT = 15_000
_LAST_PORT = 30_000  # Linux hands out 32768 and up, macOS 49152 and up


def is_free(port: int) -> bool:
    """Whether a server can listen on the loopback port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # A server just ended leaves connections in TIME_WAIT; they must not count as somebody's port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen(1)
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
    return True


def pick_free(avoid: Collection[int] = ()) -> int:
    """A free loopback port at random, so that several programs that pick at once rarely meet."""
    while True:
        port = random.randint(_FIRST_PORT, _LAST_PORT)  # noqa: S311 - no secret
        if port not in avoid and is_free(port):
            return port


def accepts(port: int) -> bool:
    """Whether something listens on the loopback port."""
    try:
        socket.create_connection((LOOPBACK, port), timeout=1).close()
    except OSError:
        return False
    return True

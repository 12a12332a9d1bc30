"""Small servers for what all embedded servers have in common: they start in a moment."""

import socket
import sys

from agrajag.embedded import ports
from agrajag.embedded.server import EmbeddedServer


class MuteServer(EmbeddedServer):
    """Runs and never answers."""

    name = "mute"
    port_names = ("only",)

    def _prepare(self) -> None:
        pass

    def _command(self) -> list[str]:
        return [sys.executable, "-c", "import time; print('here I am', flush=True); time.sleep(600)"]

    def _answers(self, pid: int) -> bool:
        return False


class AnsweringServer(MuteServer):
    """Tells its pid to whoever connects."""

    name = "answering"
    _PROGRAM = """
import os, socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    server.accept()[0].sendall(b"%d" % os.getpid())
"""

    def _command(self) -> list[str]:
        return [sys.executable, "-c", self._PROGRAM, str(self.port)]

    def _answers(self, pid: int) -> bool:
        try:
            with socket.create_connection((ports.LOOPBACK, self.port), timeout=0.5) as connection:
                return connection.recv(16) == b"%d" % pid
        except OSError:
            return False

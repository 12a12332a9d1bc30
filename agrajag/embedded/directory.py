"""The data directory of one embedded server: one owner at a time, private if it was new, with room on the disk.

The lock is a `flock` on `agrajag.lock`, shared with the server process: it is held as long as either of
them lives, so a file left behind means nothing, and a server that outlives its parent for a moment still
protects its data.
"""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from agrajag.embedded.watchdog import TERM_GRACE_SECONDS
from agrajag.errors import ConfigError

MINIMUM_FREE_BYTES = 500 * 1024 * 1024
_POLL_SECONDS = 0.05


def disk_free_bytes(path: Path) -> int:
    """Bytes an unprivileged process may still write on the disk that holds `path`."""
    return shutil.disk_usage(path).free


class DataDirectory:
    """A server's own directory; `acquire` before use, `release` after."""

    def __init__(self, path: Path, *, free_bytes: Callable[[Path], int] = disk_free_bytes) -> None:
        self.path = path.absolute()
        self._free_bytes = free_bytes
        self._lock_fd: int | None = None

    @property
    def lock_fd(self) -> int:
        """The open, locked file; only while acquired."""
        if self._lock_fd is None:
            raise RuntimeError(f"{self.path} is not acquired")
        return self._lock_fd

    def acquire(self) -> None:
        """Creates, locks and checks the directory; does nothing if it is held already. An empty one becomes private.

        Raises ConfigError, naming the directory and the reason, if it is in use, cannot be written, or its
        disk has less than 500 MB left.
        """
        if self._lock_fd is not None:
            return
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not any(self.path.iterdir()):  # somebody else's files keep the rights they have
                self.path.chmod(0o700)
            fd = os.open(self.path / "agrajag.lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise ConfigError(f"{self.path}: cannot be used as a data directory: {error.strerror}") from error
        try:
            self._lock(fd)
            self._check_room()
        except BaseException:
            os.close(fd)
            raise
        self._lock_fd = fd

    def release(self) -> None:
        """Lets others use the directory; does nothing if it is not held."""
        if self._lock_fd is not None:
            os.close(self._lock_fd)
            self._lock_fd = None

    def remembered_ports(self) -> dict[str, int]:
        """The ports of the last run; empty for a new directory."""
        try:
            ports = json.loads((self.path / "ports.json").read_text())
            return {str(name): int(port) for name, port in ports.items()}
        except FileNotFoundError:
            return {}
        except (ValueError, AttributeError, TypeError):
            return {}  # cut off by a full disk: new ports are as good

    def remember_ports(self, ports: Mapping[str, int]) -> None:
        """Keeps the ports for the next start."""
        (self.path / "ports.json").write_text(json.dumps(dict(ports)))

    def _lock(self, fd: int) -> None:
        deadline = time.monotonic() + 2 * TERM_GRACE_SECONDS
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                owner = os.pread(fd, 32, 0).decode(errors="replace").strip()
                # The owner is dead but its server still winds down: the watchdog sees to it that this ends.
                if _is_running(owner) or time.monotonic() > deadline:
                    raise ConfigError(
                        f"{self.path}: in use by another process (pid {owner or 'unknown'});"
                        " end that one or choose another data directory"
                    ) from None
                time.sleep(_POLL_SECONDS)
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)

    def _check_room(self) -> None:
        free_bytes = self._free_bytes(self.path)
        if free_bytes < MINIMUM_FREE_BYTES:
            raise ConfigError(
                f"{self.path}: only {free_bytes // 1024**2} MB free on this disk,"
                f" at least {MINIMUM_FREE_BYTES // 1024**2} MB are needed"
            )


def _is_running(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True

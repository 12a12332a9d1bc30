"""A worker or sink of this very installation as a child process."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agrajag import bootstrap
from agrajag.errors import ConfigError, TransientError

if TYPE_CHECKING:
    from agrajag.embedded.child import Child

_WRONG_SETUP = 2
_STOP_TIMEOUT_SECONDS = 10.0


class RoleProcess:
    """`agrajag <name>` with an environment of its own; its output goes to `log_file`.

    `lock_fd` is the lock of the data directory, which the process holds for as long as it lives.
    """

    def __init__(self, name: str, environment: Mapping[str, str], log_file: Path, lock_fd: int) -> None:
        self._name = name
        self._environment = environment
        self._lock_fd = lock_fd
        self._child: Child | None = None
        self.log_file = log_file

    @property
    def name(self) -> str:
        """The role, as the command line calls it."""
        return self._name

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._child is not None and self._child.exit_code() is None

    def start(self) -> None:
        """Start the process; whether it comes to work is seen later."""
        self._child = bootstrap.start_role(self._name, self._environment, self.log_file, self._lock_fd)

    def stop(self) -> None:
        """SIGTERM, and SIGKILL if it takes longer than ten seconds."""
        if self._child is not None and self.alive:
            self._child.stop(_STOP_TIMEOUT_SECONDS)

    def check(self) -> None:
        """Raises if the process has ended: ConfigError where it said that its setup is wrong, else TransientError."""
        code = self._child.exit_code() if self._child is not None else None
        if self._child is None or code is None:
            return
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        told = f"{self._name}: ended {how}; last log line: {self._child.last_words()}; log: {self.log_file}"
        raise ConfigError(told) if code == _WRONG_SETUP else TransientError(told)

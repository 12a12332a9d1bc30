"""What the embedded Kafka and the embedded store share: a server's life from start to stop.

A server is ready when it has answered a request of its own protocol; an open port is not enough. All
methods block and may be called from any thread; an asyncio program uses `asyncio.to_thread`.
"""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Self

import structlog

from agrajag.embedded import ports
from agrajag.embedded.child import Child
from agrajag.embedded.directory import DataDirectory, disk_free_bytes
from agrajag.errors import ConfigError, TransientError

log = structlog.get_logger(__name__)

_POLL_SECONDS = 0.05
_PORT_TRIES = 3


class EmbeddedServer(ABC):
    """A server process on a loopback port with a data directory of its own; also a context manager.

    Port 0 means: the one of the last run with this directory if it is free, else any. A port given and
    taken is a ConfigError, and so is that of a server which has run before: its clients know no other.
    Data survive `stop`, `kill` and the end of the parent process, with which the server ends too.
    """

    name: ClassVar[str]
    port_names: ClassVar[tuple[str, ...]]  # the first one is the one that clients use

    def __init__(
        self,
        data_dir: Path,
        *,
        port: int = 0,
        start_timeout_seconds: float = 120.0,
        stop_timeout_seconds: float = 20.0,
        free_bytes: Callable[[Path], int] = disk_free_bytes,
    ) -> None:
        self._directory = DataDirectory(data_dir, free_bytes=free_bytes)
        self._asked_port = port
        self._ports: dict[str, int] = {}
        self._has_run = False
        self._start_timeout_seconds = start_timeout_seconds
        self._stop_timeout_seconds = stop_timeout_seconds
        self._child: Child | None = None
        self._lifecycle = threading.RLock()
        self._stop_asked = threading.Event()

    @property
    def data_dir(self) -> Path:
        return self._directory.path

    @property
    def log_file(self) -> Path:
        return self.data_dir / f"{self.name}.log"

    @property
    def port(self) -> int:
        """The port for clients; 0 before the first start unless one was given."""
        return self._ports.get(self.port_names[0], self._asked_port)

    @property
    def pid(self) -> int | None:
        """The server's process id, None when it does not run."""
        child = self._child
        return child.pid if child is not None and child.exit_code() is None else None

    @property
    def alive(self) -> bool:
        """Whether the server process runs."""
        return self.pid is not None

    def check(self) -> None:
        """Raises TransientError, with the last line of the log, if the server was started and has died."""
        child = self._child
        if child is not None and (code := child.exit_code()) is not None:
            raise TransientError(self._obituary(child, code))

    def start(self) -> None:
        """Returns when the server answers; does nothing if it runs already.

        Raises ConfigError if the directory, disk, port or installation is wrong or the server dies at once,
        TransientError if it does not answer in time or `stop` is called meanwhile. Nothing is left running
        then.
        """
        with self._lifecycle:
            if self.alive:
                return
            self._stop_asked.clear()
            started_at = time.monotonic()
            self._directory.acquire()
            try:
                self._prepare()
                self._launch()
            except BaseException as error:
                self._end_child()
                self._directory.release()
                if isinstance(error, OSError):
                    raise ConfigError(f"{self.name}: cannot be started: {error}") from error
                raise
            log.info(
                "embedded_server_ready",
                server=self.name,
                pid=self.pid,
                port=self.port,
                took_seconds=round(time.monotonic() - started_at, 2),
            )

    def stop(self) -> None:
        """Ends the server in order, by force after the timeout; releases the directory. Raises nothing."""
        self._stop_asked.set()
        with self._lifecycle:
            self._end_child()
            self._directory.release()

    def kill(self) -> None:
        """SIGKILL, as a crash would; port and directory stay reserved for `restart`."""
        with self._lifecycle:
            if self._child is not None:
                self._child.kill()

    def restart(self) -> None:
        """Stops the server if it runs and starts it again on the same port and data."""
        with self._lifecycle:
            self._end_child()
            self.start()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()

    @abstractmethod
    def _prepare(self) -> None:
        """Makes sure that all the server needs is there; the directory is held."""

    @abstractmethod
    def _command(self) -> list[str]:
        """The command line for the chosen ports, having written the files it names."""

    @abstractmethod
    def _answers(self, pid: int) -> bool:
        """Whether this very server, and no other on its port, answers a request in its own protocol."""

    def _launch(self) -> None:
        for tries_left in reversed(range(_PORT_TRIES)):
            self._choose_ports()
            try:
                self._child = Child(
                    self._command(),
                    directory=self.data_dir,
                    log_file=self.log_file,
                    inherited_fd=self._directory.lock_fd,
                )
                self._await_ready(self._child)
                break
            except ConfigError:
                if not tries_left or all(ports.is_free(port) for port in self._ports.values()):
                    raise
        self._has_run = True
        self._directory.remember_ports(self._ports)

    def _choose_ports(self) -> None:
        remembered = self._ports or self._directory.remembered_ports()
        chosen: dict[str, int] = {}
        for name in self.port_names:
            port = remembered.get(name, 0)
            if name == self.port_names[0] and (self._asked_port or self._has_run):
                port = self._asked_port or port
                if not ports.is_free(port):
                    raise ConfigError(f"{self.name}: port {port} on {ports.LOOPBACK} is taken")
            elif not port or port in chosen.values() or not ports.is_free(port):
                port = ports.pick_free(avoid={*chosen.values(), self._asked_port})
            chosen[name] = port
        self._ports = chosen

    def _await_ready(self, child: Child) -> None:
        deadline = time.monotonic() + self._start_timeout_seconds
        while True:
            answered = self._answers(child.pid)
            if (code := child.exit_code()) is not None:
                raise ConfigError(self._obituary(child, code))
            if answered:
                return
            if self._stop_asked.is_set():
                raise TransientError(f"{self.name}: stopped while it started")
            if time.monotonic() > deadline:
                raise TransientError(
                    f"{self.name}: no answer on port {self.port} within {self._start_timeout_seconds:g} s;"
                    f" last log line: {child.last_words()}; log: {self.log_file}"
                )
            time.sleep(_POLL_SECONDS)

    def _end_child(self) -> None:
        if self._child is None:
            return
        if self._child.exit_code() is None and not self._child.stop(self._stop_timeout_seconds):
            log.warning("embedded_server_killed", server=self.name, after_seconds=self._stop_timeout_seconds)
        self._child = None

    def _obituary(self, child: Child, code: int) -> str:
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        return (
            f"{self.name}: the process (pid {child.pid}) ended {how};"
            f" last log line: {child.last_words()}; log: {self.log_file}"
        )

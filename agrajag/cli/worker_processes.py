"""Several workers of this very installation under one supervisor, which ends them with itself.

Each is `agrajag worker` with an environment of its own and the supervisor's output. Its standard input is a pipe that
the supervisor holds: when that ends, however the supervisor ended, the worker ends in good order.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping

import structlog

from agrajag.cli.supervision import Supervisor
from agrajag.errors import ConfigError, TransientError
from agrajag.settings import Settings

log = structlog.get_logger(__name__)

_PORT = "AGRAJAG_MONITOR_WORKER_PORT"
_HIGHEST_PORT = 65_535
_WRONG_SETUP = 2
_STOP_TIMEOUT_SECONDS = 30.0  # a worker gives itself 20


class WorkerProcess:
    """`agrajag worker` as a child process, to be kept by a `Supervisor`."""

    def __init__(self, number: int, environment: Mapping[str, str]) -> None:
        self._number = number
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def name(self) -> str:
        """Which of the workers it is, from 0."""
        return f"worker {self._number}"

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the process; whether it comes to work is seen later."""
        command = [sys.executable, "-m", "agrajag", "worker", "--end-with-input"]
        self._process = subprocess.Popen(command, env=self._environment, stdin=subprocess.PIPE)
        log.info("worker_process_started", number=self._number, pid=self._process.pid)

    def stop(self) -> None:
        """SIGTERM, and SIGKILL if it takes longer than 30 seconds."""
        process = self._process
        if process is None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        finally:
            _close_input(process)

    def check(self) -> None:
        """Raises if the process has ended: ConfigError where it said that its setup is wrong, else TransientError."""
        code = self._process.poll() if self._process is not None else None
        if self._process is None or code is None:
            return
        _close_input(self._process)
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        told = f"{self.name}: ended {how}"
        raise ConfigError(told) if code == _WRONG_SETUP else TransientError(told)


def environments(settings: Settings, count: int, inherited: Mapping[str, str]) -> list[dict[str, str]]:
    """The environment of each worker: the inherited one, but for a monitor port of its own.

    The ports follow on the setting's; 0, any free one, stays. Raises ConfigError if they do not fit below 65536.
    """
    first = settings.monitor.worker_port
    if first == 0 or not settings.monitor.enabled:
        return [dict(inherited)] * count
    if first + count - 1 > _HIGHEST_PORT:
        raise ConfigError(f"{_PORT}={first}: {count} workers need ports above {_HIGHEST_PORT}")
    return [{**inherited, _PORT: str(first + number)} for number in range(count)]


async def run_workers(settings: Settings, count: int) -> None:
    """Keep `count` workers running until cancelled, then end all. Raises ConfigError if one says its setup is wrong."""
    supervisor = Supervisor(_tell, gives_up=False)
    parts = [
        WorkerProcess(number, environment)
        for number, environment in enumerate(environments(settings, count, os.environ))
    ]
    try:
        await supervisor.start(*parts)
        await supervisor.watch()
    finally:
        await supervisor.stop()


def end_with_input() -> None:
    """SIGTERM to this process when its standard input ends."""

    def wait_for_end() -> None:
        while os.read(sys.stdin.fileno(), 1_024):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait_for_end, name="end-with-input", daemon=True).start()


def _tell(line: str) -> None:
    log.warning("worker_process", told=line)


def _close_input(process: "subprocess.Popen[bytes]") -> None:
    if process.stdin is not None:
        process.stdin.close()

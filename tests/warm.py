"""Starts modules as processes that find everything imported: in milliseconds, where `python -m` takes seconds.

For each process of the tests an interpreter waits that has imported what workers and sinks need. For each start it
forks, and the child runs the module as its main one, with an environment, a directory and streams of its own. Such a
process is not measured for coverage.
"""

import gc
import json
import os
import random
import runpy
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from tests.servers import unmeasured

_IMPORTED = (
    "agrajag.bootstrap.asking",
    "agrajag.bootstrap.sink",
    "agrajag.bootstrap.worker",
    "agrajag.cli.app",
    "agrajag.cli.start",
    "agrajag.cli.tables",
    "agrajag.documents.checking",
    "agrajag.documents.live",
    "agrajag.documents.pushing",
    "agrajag.monitor.server",
    "agrajag.stream.monitoring",
    "agrajag.bootstrap.diagnosis",
    "agrajag.diagnosis.engine",
    "agrajag.service.worker",
    "agrajag.settings",
    "agrajag.diagnosis.mcp_target",
    "agrajag.wire.asking",
    "agrajag.wire.letter_box",
    "agrajag.wire.past_errors",
    "rich.table",
    "tests.pipeline.process",
    "tests.sink.running",
    "tests.stream.counting",
)
_ROOT = Path(__file__).parents[1]
_MESSAGE_BYTES = 1 << 20


class WarmProcess:
    """A started process, with as much of `subprocess.Popen` as tests use."""

    def __init__(self, starter: "_Starter", pid: int) -> None:
        self._starter = starter
        self.pid = pid

    @property
    def returncode(self) -> int | None:
        """How it ended, as `Popen` says it; None while nobody has noticed that."""
        return self._starter.codes.get(self.pid)

    def poll(self) -> int | None:
        """How it ended; None while it runs."""
        self._starter.hear(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end. Raises TimeoutExpired."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            self._starter.hear(left)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)


class Streams(NamedTuple):
    """The files of a process; without `error` both outputs go to one."""

    output: Path = Path(os.devnull)
    error: Path | None = None
    input: Path = Path(os.devnull)


def start_module(
    module: str, *arguments: str, log: Path | None = None, environment: Mapping[str, str] | None = None
) -> WarmProcess:
    """`python -m module arguments`, in the project's directory; its output goes to `log`, else nowhere."""
    whole = unmeasured() | dict(environment or {})
    return start_exactly([module, *arguments], whole, Streams(log or Path(os.devnull)))


def start_exactly(
    command: Sequence[str], environment: Mapping[str, str], streams: Streams, directory: Path = _ROOT
) -> WarmProcess:
    """`python -m` with this module and its arguments, in this environment and no other."""
    return _starter().start(command, environment, streams, directory)


class _Starter:
    """The interpreter that waits, as its user sees it."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            number = theirs.fileno()
            command = [sys.executable, "-m", "tests.warm", str(number)]
            self._process = subprocess.Popen(command, cwd=_ROOT, env=unmeasured(), pass_fds=[number])
        self._started: list[int] = []
        self.codes: dict[int, int] = {}

    def start(
        self, command: Sequence[str], environment: Mapping[str, str], streams: Streams, directory: Path
    ) -> WarmProcess:
        files = [str(streams.input), str(streams.output), str(streams.error or streams.output)]
        for file in files[1:]:
            Path(file).touch()  # whoever reads it need not know that the process may not have begun
        self._socket.send(json.dumps([list(command), dict(environment), files, str(directory)]).encode())
        while not self._started:
            self.hear(None)
        return WarmProcess(self, self._started.pop())

    def hear(self, timeout: float | None) -> None:
        """Take in what has happened, waiting for it for at most `timeout` seconds."""
        while select.select([self._socket], [], [], timeout)[0]:
            message = self._socket.recv(_MESSAGE_BYTES)
            if not message:
                raise RuntimeError(f"the interpreter that starts processes ended with {self._process.wait()}")
            pid, code = json.loads(message)
            if code is None:
                self._started.append(pid)
            else:
                self.codes[pid] = code
            timeout = 0


@cache
def _starter() -> _Starter:
    return _Starter()


def _serve(connection: socket.socket) -> list[str]:
    """Fork for each request until nobody asks any more; returns in each child, with what it is to run."""
    wakened, waking = socket.socketpair()
    wakened.setblocking(False)
    waking.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(waking.fileno())
    running: set[int] = set()
    while True:
        ready, _, _ = select.select([connection, wakened], [], [])
        if wakened in ready:
            wakened.recv(_MESSAGE_BYTES)
        for pid in list(running):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                running.discard(pid)
                connection.send(json.dumps([pid, os.waitstatus_to_exitcode(status)]).encode())
        if connection in ready:
            request = connection.recv(_MESSAGE_BYTES)
            if not request:
                sys.exit()
            pid = os.fork()
            if not pid:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for ours in (connection, wakened, waking):
                    ours.close()
                return _made_itself(*json.loads(request))
            running.add(pid)
            connection.send(json.dumps([pid, None]).encode())


def _made_itself(
    command: list[str], environment: dict[str, str], files: list[str], directory: str
) -> list[str]:
    """Make this process the one that was asked for."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(directory)
    reading, *written = files
    given = os.open(reading, os.O_RDONLY)
    os.dup2(given, 0)
    os.close(given)
    for number, file in enumerate(written, 1):
        # Appending, since both outputs may go to one file.
        taking = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
        os.dup2(taking, number)
        os.close(taking)
    random.seed()
    return command


if __name__ == "__main__":
    for name in _IMPORTED:
        import_module(name)
    gc.freeze()  # so that the children share what nobody changes
    with socket.socket(fileno=int(sys.argv[1])) as asking:
        sys.argv = _serve(asking)
    sys.modules.pop(sys.argv[0], None)
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)

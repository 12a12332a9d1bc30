"""One server as a child process: started in a session of its own, watched over, ended in order or at once.

The server gets its own session, so that a Ctrl-C in the terminal reaches the parent alone and the parent
can end its parts in the right order. A watchdog process ends the server if the parent dies without doing
so.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from agrajag.embedded import watchdog
from agrajag.errors import ConfigError

_LOG_KEEP_BYTES = 5 * 1024 * 1024
_LOG_TAIL_BYTES = 64 * 1024


class Child:
    """A running server process; the constructor starts it. Raises ConfigError if program or log file cannot be opened.

    `inherited_fd` stays open in the server, so that a lock on it is held until the server too has ended.
    `environment` stands in for this process's own.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        directory: Path,
        log_file: Path,
        inherited_fd: int,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.log_file = log_file
        try:
            _rotate(log_file)
            self._log_start_bytes = log_file.stat().st_size if log_file.exists() else 0
            self._watchdog = _Watchdog()
            self._process = self._started(command, directory, inherited_fd, environment)
        except OSError as error:
            raise ConfigError(f"{Path(command[0]).name}: cannot be started: {error}") from error

    def _started(
        self,
        command: Sequence[str],
        directory: Path,
        inherited_fd: int,
        environment: Mapping[str, str] | None,
    ) -> "subprocess.Popen[bytes]":
        process: subprocess.Popen[bytes] | None = None
        try:
            with self.log_file.open("ab") as log_stream:
                process = subprocess.Popen(
                    command,
                    cwd=directory,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log_stream,
                    stderr=subprocess.STDOUT,
                    pass_fds=(inherited_fd,),
                    umask=0o077,
                    start_new_session=True,
                )
            self._watchdog.watch(process.pid)
        except BaseException:
            if process is not None:
                process.kill()
            self._watchdog.dismiss()
            raise
        return process

    @property
    def pid(self) -> int:
        return self._process.pid

    def exit_code(self) -> int | None:
        """None while the server runs; negative for a signal, as subprocess has it."""
        code = self._process.poll()
        if code is not None:
            self._watchdog.dismiss()
        return code

    def stop(self, timeout_seconds: float) -> bool:
        """SIGTERM, then SIGKILL after the timeout. True if the server ended by itself in time."""
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return False
        self._watchdog.dismiss()
        return True

    def kill(self) -> None:
        """SIGKILL, and waits until the process is gone."""
        self._process.kill()
        self._process.wait()
        self._watchdog.dismiss()

    def last_words(self) -> str:
        """The last message in this run's log."""
        with self.log_file.open("rb") as stream:
            size_bytes = stream.seek(0, os.SEEK_END)
            stream.seek(max(self._log_start_bytes, size_bytes - _LOG_TAIL_BYTES))
            return last_message(stream.read().decode(errors="replace"))


def last_message(output: str) -> str:
    """The last line of a program's output that is neither a stack frame nor a complaint of the JVM's own."""
    lines = (line for line in output.splitlines() if line.strip())
    told = [line for line in lines if not line.startswith((" ", "\t", "WARNING: "))]
    return told[-1].strip() if told else "(nothing)"


class _Watchdog:
    """The process that ends the server when this process has ended (agrajag.embedded.watchdog)."""

    def __init__(self) -> None:
        read_end, write_end = os.pipe()  # neither is inherited, except as stdin below
        self._pipe = os.fdopen(write_end, "wb", buffering=0)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", watchdog.__file__],
                stdin=read_end,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        finally:
            os.close(read_end)

    def watch(self, pid: int) -> None:
        self._pipe.write(f"{pid}\n".encode())

    def dismiss(self) -> None:
        """Ends the watch; from then on the pid may belong to another process."""
        self._process.kill()
        self._process.wait()
        self._pipe.close()


def _rotate(log_file: Path) -> None:
    if log_file.exists() and log_file.stat().st_size > _LOG_KEEP_BYTES:
        log_file.replace(log_file.with_suffix(".log.1"))

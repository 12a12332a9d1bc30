"""Runs the program as a user does: as a process of its own, with an environment of its own."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from coverage import Coverage

from tests.waiting import eventually_blocking
from tests.warm import Streams, WarmProcess, start_exactly

ROOT = Path(__file__).parents[2]


FREE_PORTS = {f"AGRAJAG_MONITOR_{role}_PORT": "0" for role in ("WORKER", "SINK", "DIAGNOSIS", "API")}


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without any setting of Agrajag, and with these; ports that nobody else has."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AGRAJAG_")}
    return {**inherited, **FREE_PORTS, **variables, "PYTHONPATH": str(ROOT)}


def is_running(pid: int) -> bool:
    """False for a zombie too, which nobody may be there to reap."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except FileNotFoundError:
        return False


def agrajag(*arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run the program to its end."""
    return fed("", *arguments, **variables)


def fed(text: str, /, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run the program to its end, with `text` on its standard input."""
    with tempfile.TemporaryDirectory() as directory:
        given, out, err = (Path(directory) / name for name in ("in", "out", "err"))
        given.write_text(text)
        process = _started(arguments, environment(variables), Streams(out, err, given), ROOT)
        try:
            code = process.wait(120)
        finally:
            process.kill()
        return subprocess.CompletedProcess(list(arguments), code, out.read_text(), err.read_text())


def _started(
    arguments: Sequence[str], variables: Mapping[str, str], streams: Streams, directory: Path
) -> "WarmProcess | subprocess.Popen[bytes]":
    """The program, without the seconds that its imports take; as a user starts it where lines are being counted."""
    command = ["agrajag", *arguments]
    if Coverage.current() is None:
        return start_exactly(command, variables, streams, directory)
    with (
        streams.input.open("rb") as given,
        streams.output.open("wb") as out,
        (streams.error or streams.output).open("ab") as err,
    ):
        return subprocess.Popen(
            [sys.executable, "-m", *command],
            env=variables,
            cwd=directory,
            stdin=given,
            stdout=out,
            stderr=err,
        )


@dataclass
class Program:
    """A running program whose output goes to files."""

    process: "WarmProcess | subprocess.Popen[bytes]"
    out_path: Path
    err_path: Path

    @property
    def out(self) -> str:
        return self.out_path.read_text()

    @property
    def err(self) -> str:
        return self.err_path.read_text()

    def says(self, text: str, timeout: float = 90.0) -> None:
        """Wait until it has said `text`, wherever."""

        def said() -> bool:
            if text in self.out + self.err:
                return True
            if self.process.poll() is not None:
                raise RuntimeError(f"ended with {self.process.returncode}:\n{self.out}\n{self.err}")
            return False

        eventually_blocking(said, timeout)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal; the exit code."""
        self.process.send_signal(number)
        return self.process.wait(60)


@contextmanager
def running(directory: Path, *arguments: str, **variables: str) -> Iterator[Program]:
    """The program while it runs; killed in the end if it still does."""
    out_path, err_path = directory / "out.txt", directory / "err.txt"
    process = _started(arguments, environment(variables), Streams(out_path, err_path), directory)
    try:
        yield Program(process, out_path, err_path)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def url_of(program: Program) -> str:
    """Where its monitor listens, as its log says."""
    program.says("monitor_listens")
    found = re.search(r"http://127\.0\.0\.1:\d+", program.err)
    assert found is not None
    return found[0]

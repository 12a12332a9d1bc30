"""A server ends with the process that started it, even where that one is killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agrajag.embedded import EmbeddedKafka, EmbeddedStore
from tests.embedded.servers import AnsweringServer
from tests.servers import thrown_away
from tests.waiting import eventually_blocking

# The server is started in a thread that ends, as asyncio.to_thread's may.
_PARENT = """
import sys, threading
from pathlib import Path
from agrajag.embedded import EmbeddedKafka, EmbeddedStore
server = {"kafka": EmbeddedKafka, "store": EmbeddedStore}[sys.argv[1]](Path(sys.argv[2]))
starting = threading.Thread(target=server.start)
starting.start()
starting.join()
print("server", server.pid, flush=True)
sys.stdin.read()
"""


def _is_running(pid: int) -> bool:
    """False for a zombie too, which nobody may be there to reap."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("server", [EmbeddedKafka, EmbeddedStore])
def test_a_killed_parent_takes_its_server_along_and_the_directory_is_free_at_once(
    server: type[EmbeddedKafka] | type[EmbeddedStore], tmp_path: Path
) -> None:
    command = [sys.executable, "-c", _PARENT, server.name, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(next(line for line in parent.stdout if line.startswith("server")).split()[1])
        assert _is_running(pid)
        os.kill(parent.pid, signal.SIGKILL)
    with thrown_away(server(tmp_path)) as again:
        assert not _is_running(pid)
        assert again.alive


def test_a_server_that_its_parent_has_ended_is_no_longer_watched(tmp_path: Path) -> None:
    of_other_servers = _children_running("watchdog.py")
    with AnsweringServer(tmp_path):
        watchdogs = _children_running("watchdog.py") - of_other_servers
        assert watchdogs
    eventually_blocking(lambda: not watchdogs & _children_running("watchdog.py"))


def test_a_ctrl_c_in_the_terminal_reaches_the_parent_alone(store: EmbeddedStore) -> None:
    assert store.pid is not None
    assert os.getsid(store.pid) == store.pid != os.getsid(0)


def _children_running(script: str) -> set[int]:
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return {int(pid) for pid in children if script in Path(f"/proc/{pid}/cmdline").read_text()}

"""What the embedded servers say when they cannot run, and that they leave nothing running then."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agrajag.embedded import EmbeddedKafka, EmbeddedStore, ports
from agrajag.embedded.directory import DataDirectory
from agrajag.errors import ConfigError, TransientError
from tests.embedded.servers import AnsweringServer, MuteServer
from tests.servers import thrown_away
from tests.waiting import eventually_blocking


class BeatenServer(AnsweringServer):
    """Finds its port taken once, by a program that was quicker after the port was chosen."""

    def __init__(self, data_dir: Path) -> None:
        super().__init__(data_dir)
        self.quicker: socket.socket | None = None

    def _command(self) -> list[str]:
        if self.quicker is None:
            self.quicker = socket.create_server((ports.LOOPBACK, self.port))
        return super()._command()


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server((ports.LOOPBACK, ports.pick_free())) as listener:
        yield listener.getsockname()[1]


@pytest.mark.parametrize("server", [EmbeddedKafka, EmbeddedStore])
def test_a_port_that_was_asked_for_and_is_taken_is_named(
    server: type[EmbeddedKafka] | type[EmbeddedStore], tmp_path: Path, taken_port: int
) -> None:
    with pytest.raises(ConfigError, match=f"{server.name}: port {taken_port} on 127.0.0.1 is taken"):
        server(tmp_path, port=taken_port).start()


def test_a_remembered_port_that_is_taken_gives_way_to_another(tmp_path: Path) -> None:
    with AnsweringServer(tmp_path) as server:
        port = server.port
    with socket.create_server((ports.LOOPBACK, port)), AnsweringServer(tmp_path) as again:
        assert again.port != port


def test_the_port_is_remembered_for_the_next_program(tmp_path: Path) -> None:
    with AnsweringServer(tmp_path) as first:
        pass
    with AnsweringServer(tmp_path) as second:
        assert second.port == first.port


def test_a_server_that_loses_its_port_to_a_quicker_program_takes_another(tmp_path: Path) -> None:
    with BeatenServer(tmp_path) as server:
        assert server.quicker is not None
        assert server.port != server.quicker.getsockname()[1]
        server.quicker.close()


def test_a_server_that_has_run_does_not_move_to_another_port(tmp_path: Path) -> None:
    server = AnsweringServer(tmp_path)
    with server:
        port = server.port
    with (
        socket.create_server((ports.LOOPBACK, port)),
        pytest.raises(ConfigError, match=f"answering: port {port} on 127.0.0.1 is taken"),
    ):
        server.start()
    with server:
        assert server.port == port


def test_files_that_are_in_the_way_are_named(tmp_path: Path) -> None:
    server = AnsweringServer(tmp_path)
    server.log_file.mkdir()
    with pytest.raises(ConfigError, match=rf"cannot be started: .*Is a directory: '{server.log_file}'"):
        server.start()
    server.log_file.rmdir()
    (tmp_path / "ports.json").mkdir()
    with pytest.raises(ConfigError, match=r"answering: cannot be started: .*ports\.json"):
        server.start()
    assert server.pid is None


def test_a_directory_with_files_keeps_its_rights_and_an_empty_one_becomes_private(tmp_path: Path) -> None:
    shared, new = tmp_path / "shared", tmp_path / "new" / "data"
    shared.mkdir()
    shared.chmod(0o777)
    (shared / "of somebody else").touch()
    empty = tmp_path / "empty"
    empty.mkdir(mode=0o755)
    for path, mode in ((shared, 0o777), (new, 0o700), (empty, 0o700)):
        directory = DataDirectory(path)
        directory.acquire()
        directory.release()
        assert path.stat().st_mode & 0o777 == mode, path


def test_a_directory_in_use_is_refused_with_the_pid_of_its_user(store: EmbeddedStore) -> None:
    told = f"{store.data_dir}: in use by another process \\(pid {os.getpid()}\\)"
    with pytest.raises(ConfigError, match=told):
        EmbeddedStore(store.data_dir).start()
    assert store.alive


def test_the_lock_of_a_process_that_is_gone_is_no_hindrance(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (tmp_path / "agrajag.lock").write_text(f"{gone.pid}\n")
    with AnsweringServer(tmp_path) as server:
        assert server.alive


def test_a_disk_that_is_nearly_full_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="only 499 MB free on this disk, at least 500 MB are needed"):
        AnsweringServer(tmp_path, free_bytes=lambda _path: 500 * 1024**2 - 1).start()
    with AnsweringServer(tmp_path, free_bytes=lambda _path: 500 * 1024**2) as server:
        assert server.alive


def test_a_data_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="file/data: cannot be used as a data directory: Not a directory"):
        EmbeddedStore(tmp_path / "file" / "data").start()


def test_kafka_that_dies_at_the_start_says_why(tmp_path: Path) -> None:
    kafka = EmbeddedKafka(tmp_path, properties={"log.retention.hours": "never"})
    with pytest.raises(ConfigError, match=r"cannot be formatted: .*never.*log\.retention\.hours"):
        kafka.start()
    assert not kafka.alive


def test_a_store_with_spoilt_files_says_so_and_gives_the_directory_back(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path)
    with thrown_away(store):
        pass
    turtle = tmp_path / "data" / "WiredTiger.turtle"
    sound = turtle.read_text()
    turtle.write_text("spoilt")
    with pytest.raises(ConfigError, match=r"exit code 1; last log line: .*corruption.*; log: .*store\.log"):
        store.start()
    turtle.write_text(sound)
    with thrown_away(EmbeddedStore(tmp_path)) as again:
        assert again.alive


def test_a_server_that_dies_later_is_noticed(own_store: Callable[[], EmbeddedStore]) -> None:
    store = own_store()
    store.check()
    pid = store.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    eventually_blocking(lambda: not store.alive)
    assert store.pid is None
    with pytest.raises(TransientError, match=rf"store: the process \(pid {pid}\) ended by signal 9"):
        store.check()
    store.restart()
    store.check()


def test_a_server_that_does_not_answer_in_time_is_ended(tmp_path: Path) -> None:
    server = MuteServer(tmp_path, start_timeout_seconds=0.5)
    with pytest.raises(
        TransientError, match=r"mute: no answer on port \d+ within 0.5 s; last log line: here I am"
    ):
        server.start()
    assert server.pid is None


def test_a_stop_from_another_thread_ends_a_start(tmp_path: Path) -> None:
    server = MuteServer(tmp_path)
    raised: list[BaseException] = []

    def start() -> None:
        try:
            server.start()
        except TransientError as error:
            raised.append(error)

    starting = threading.Thread(target=start)
    starting.start()
    eventually_blocking(lambda: server.alive)
    server.stop()
    starting.join()
    assert [str(error) for error in raised] == ["mute: stopped while it started"]
    assert not server.alive


async def test_a_server_started_in_a_thread_outlives_it(tmp_path: Path) -> None:
    server = AnsweringServer(tmp_path)
    starting = threading.Thread(target=server.start)
    starting.start()
    await asyncio.to_thread(starting.join)
    assert server.alive
    await asyncio.to_thread(server.stop)
    assert not server.alive


def test_the_data_are_for_the_user_alone(store: EmbeddedStore) -> None:
    assert store.data_dir.stat().st_mode & 0o777 == 0o700
    readable = [path for path in (store.data_dir / "data").rglob("*") if path.stat().st_mode & 0o077]
    assert readable == []

"""The jars: only the listed ones, fetched once, from wherever the user says."""

import hashlib
import multiprocessing
import os
import pty
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from agrajag.embedded import ports
from agrajag.embedded.jars import Jar, default_cache_dir, listed_jars, prepare_jars
from agrajag.errors import ConfigError, TransientError


class Repository:
    """A Maven repository on loopback that holds two jars and counts what it is asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.asked: Counter[str] = Counter()
        self.jars = tuple(
            self._publish(name, f"content of {name}".encode() * 1000) for name in ("one", "two")
        )
        repository = self

        class Handler(SimpleHTTPRequestHandler):
            def __init__(self, *args: Any) -> None:
                super().__init__(*args, directory=str(root))

            def log_message(self, *_args: object) -> None:
                repository.asked[self.path.rpartition("/")[2]] += 1

        self._server = ThreadingHTTPServer((ports.LOOPBACK, 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)

    @property
    def repositories(self) -> dict[str, str]:
        return {"test": f"http://{ports.LOOPBACK}:{self._server.server_port}"}

    def path(self, jar: Jar) -> Path:
        return self.root / jar.group.replace(".", "/") / jar.artifact / jar.version / jar.file_name

    def _publish(self, name: str, content: bytes) -> Jar:
        jar = Jar("org.example", name, "1.0", hashlib.sha256(content).hexdigest(), len(content))
        self.path(jar).parent.mkdir(parents=True)
        self.path(jar).write_bytes(content)
        return jar

    def __enter__(self) -> "Repository":
        self._thread.start()
        return self

    def __exit__(self, *_exc_info: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    with Repository(tmp_path / "repository") as running:
        yield running


def test_the_list_names_every_jar_once_and_kafka_itself() -> None:
    jars = listed_jars()
    assert len({jar.file_name for jar in jars}) == len(jars) == 46
    assert {len(jar.sha256) for jar in jars} == {64}
    assert "kafka_2.13-4.3.1.jar" in {jar.file_name for jar in jars}


def test_the_jars_in_use_are_the_listed_ones() -> None:
    prepare_jars()
    assert [
        jar.file_name for jar in listed_jars() if not jar.is_at(default_cache_dir() / jar.file_name)
    ] == []


def test_jars_are_fetched_once(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = tmp_path / "cache"
    class_path = prepare_jars(cache, repository.repositories, repository.jars)
    assert [path.read_bytes() for path in class_path] == [
        repository.path(jar).read_bytes() for jar in repository.jars
    ]
    shown = capsys.readouterr().err.splitlines()
    assert shown[0] == "Apache Kafka: fetching 2 jars, 0 MB"
    assert len(shown) > 1
    repository.asked.clear()
    assert prepare_jars(cache, repository.repositories, repository.jars) == class_path
    assert repository.asked.total() == 0
    assert capsys.readouterr().err == ""
    assert {path.name for path in cache.iterdir()} == {
        "one-1.0.jar",
        "two-1.0.jar",
        "verified.json",
        "fetch.lock",
    }


def test_a_terminal_is_shown_a_progress_bar(repository: Repository, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from agrajag.embedded.jars import Jar, prepare_jars;"
        f"prepare_jars(Path({str(tmp_path / 'cache')!r}), {repository.repositories!r}, {repository.jars!r})"
    )
    ours, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen([sys.executable, "-c", program], stderr=terminal, env=environment) as fetching:
        os.close(terminal)
        shown = _read_terminal(ours)
    assert fetching.returncode == 0
    assert "Apache Kafka, 2 jars" in shown
    assert "28.0/28.0 kB" in shown


def _read_terminal(fd: int) -> str:
    chunks = []
    with suppress(OSError), os.fdopen(fd, "rb", buffering=0) as stream:  # Linux ends a terminal with EIO
        while chunk := stream.read(4096):
            chunks.append(chunk)
    return b"".join(chunks).decode()


def test_two_first_starts_at_once_fetch_each_jar_once(repository: Repository, tmp_path: Path) -> None:
    arguments = (tmp_path / "cache", repository.repositories, repository.jars)
    starts = [
        multiprocessing.get_context("spawn").Process(target=prepare_jars, args=arguments) for _ in range(2)
    ]
    for start in starts:
        start.start()
    for start in starts:
        start.join()
    assert [start.exitcode for start in starts] == [0, 0]
    assert (repository.asked["one-1.0.jar"], repository.asked["two-1.0.jar"]) == (1, 1)


def test_a_repository_that_sends_something_else_is_refused(repository: Repository, tmp_path: Path) -> None:
    repository.path(repository.jars[1]).write_bytes(b"something else")
    with pytest.raises(ConfigError, match=r"the repository's two-1\.0\.jar is not the listed one"):
        prepare_jars(tmp_path / "cache", repository.repositories, repository.jars)
    assert not (tmp_path / "cache" / "two-1.0.jar").exists()


def test_a_jar_that_no_repository_has_may_come_later_and_no_address_is_told(
    repository: Repository, tmp_path: Path
) -> None:
    content = repository.path(repository.jars[0]).read_bytes()
    repository.path(repository.jars[0]).unlink()
    with pytest.raises(TransientError, match=r"^kafka: one-1\.0\.jar is in none of the repositories$"):
        prepare_jars(tmp_path / "cache", repository.repositories, repository.jars)
    repository.path(repository.jars[0]).write_bytes(content)
    assert len(prepare_jars(tmp_path / "cache", repository.repositories, repository.jars)) == 2


def test_a_repository_that_is_away_is_transient(repository: Repository, tmp_path: Path) -> None:
    away = {"away": f"http://{ports.LOOPBACK}:{ports.pick_free()}"}
    with pytest.raises(TransientError, match=r"one-1\.0\.jar cannot be fetched"):
        prepare_jars(tmp_path / "cache", away, repository.jars)


def test_a_jar_that_was_changed_after_it_was_verified_is_refused(
    repository: Repository, tmp_path: Path
) -> None:
    class_path = prepare_jars(tmp_path / "cache", repository.repositories, repository.jars)
    content = class_path[1].read_bytes()
    class_path[1].write_bytes(content[:-1] + b"X")
    with pytest.raises(ConfigError, match=r"two-1\.0\.jar: its SHA-256 is not the listed one"):
        prepare_jars(tmp_path / "cache", repository.repositories, repository.jars)
    class_path[1].unlink()
    assert prepare_jars(tmp_path / "cache", repository.repositories, repository.jars) == class_path
    assert class_path[1].read_bytes() == content


def test_a_cache_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="file/cache: cannot be used as jar cache"):
        prepare_jars(tmp_path / "file" / "cache")


@pytest.mark.parametrize("in_the_way", ["verified.json", "fetch.lock"])
def test_a_cache_that_cannot_be_written_is_named(
    repository: Repository, tmp_path: Path, in_the_way: str
) -> None:
    (tmp_path / "cache" / in_the_way).mkdir(parents=True)
    with pytest.raises(ConfigError, match="cache: cannot be used as jar cache: Is a directory"):
        prepare_jars(tmp_path / "cache", repository.repositories, repository.jars)


def test_prepare_tells_what_is_missing_by_its_exit_code(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agrajag.embedded", "prepare"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split(" in ")[0]) == (0, "Apache Kafka is ready: 46 jars")
    away = [f"--cache-dir={tmp_path}", f"--repository=http://{ports.LOOPBACK}:{ports.pick_free()}"]
    failed = subprocess.run([*command, *away], capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    assert "lz4-java-1.10.2.jar cannot be fetched" in failed.stderr
    (tmp_path / "file").touch()
    refused = subprocess.run(
        [*command, f"--cache-dir={tmp_path}/file/cache"], capture_output=True, check=False
    )
    assert refused.returncode == 2


def test_a_given_java_that_is_too_old_or_none_is_refused(tmp_path: Path) -> None:
    from agrajag.embedded.java import find_java

    old = tmp_path / "java"
    old.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    old.chmod(0o700)
    with pytest.raises(ConfigError, match=f"{old} is Java 11, 17 is needed"):
        find_java(old)
    with pytest.raises(ConfigError, match="is Java unknown, 17 is needed"):
        find_java(Path(os.devnull))
    assert find_java(find_java()) == find_java()

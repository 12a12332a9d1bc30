"""The jars Apache Kafka runs from: exactly those of jars.txt, each with the SHA-256 written there.

They are kept per user and shared by all data directories. The jars are hashed when they arrive and again
whenever the size or time of a file is not what it was then; a jar that does not match is refused by name.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import structlog

from agrajag.errors import ConfigError

log = structlog.get_logger(__name__)

KAFKA_VERSION = "4.3.1"


@dataclass(frozen=True)
class Jar:
    """One line of jars.txt."""

    group: str
    artifact: str
    version: str
    sha256: str
    size_bytes: int

    @property
    def file_name(self) -> str:
        return f"{self.artifact}-{self.version}.jar"

    def is_at(self, path: Path) -> bool:
        """Whether the file at `path` is this jar, by its SHA-256."""
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == self.sha256


def listed_jars() -> tuple[Jar, ...]:
    """The jars of the bundled list, in class path order."""
    lines = files("agrajag.embedded").joinpath("jars.txt").read_text().splitlines()
    return tuple(_parse(line) for line in lines if line and not line.startswith("#"))


def _parse(line: str) -> Jar:
    sha256, size_bytes, coordinates = line.split()
    group, artifact, version = coordinates.split(":")
    return Jar(group, artifact, version, sha256, int(size_bytes))


def default_cache_dir() -> Path:
    """The user's cache directory for the jars, by the XDG rule."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "agrajag", f"kafka-{KAFKA_VERSION}")


def prepare_jars(
    cache_dir: Path | None = None,
    repositories: Mapping[str, str] | None = None,
    jars: tuple[Jar, ...] | None = None,
) -> list[Path]:
    """Returns the class path, after fetching what is missing and verifying what is new.

    `repositories` (name to URL) stand in for the public Maven repository. Several processes may call this
    at once: one fetches, the others wait. Raises ConfigError for a jar that is not the listed one and for a
    cache that cannot be read or written, TransientError if a repository cannot be reached.
    """
    cache = cache_dir or default_cache_dir()
    wanted = listed_jars() if jars is None else jars
    try:
        cache.mkdir(parents=True, exist_ok=True)
        marker = cache / "verified.json"
        if not _is_verified(cache, marker, wanted):
            with _exclusive(cache / "fetch.lock"):
                _fetch_and_verify(cache, wanted, repositories)
                marker.write_text(json.dumps(_fingerprint(cache, wanted)))
    except OSError as error:
        raise ConfigError(f"{cache}: cannot be used as jar cache: {error.strerror or error}") from error
    return [cache / jar.file_name for jar in wanted]


def _fetch_and_verify(cache: Path, wanted: tuple[Jar, ...], repositories: Mapping[str, str] | None) -> None:
    missing = [jar for jar in wanted if not (cache / jar.file_name).exists()]
    if missing:
        # Here, so that a start from a full cache needs neither jgo nor its time to load.
        try:
            from agrajag.embedded.download import fetch_jars
        except ImportError as error:
            raise ConfigError("kafka: jgo is not installed; pip install 'agrajag[embedded]'") from error
        fetch_jars(missing, cache, repositories)
    wrong = [jar for jar in wanted if not jar.is_at(cache / jar.file_name)]
    if wrong:
        raise ConfigError(*(_refusal(jar, cache) for jar in wrong))


def _refusal(jar: Jar, cache: Path) -> str:
    return (
        f"{cache / jar.file_name}: its SHA-256 is not the listed one ({jar.sha256});"
        " remove the file to have it fetched again"
    )


def _fingerprint(cache: Path, wanted: tuple[Jar, ...]) -> dict[str, list[object]]:
    stats = {jar: (cache / jar.file_name).stat() for jar in wanted}
    return {jar.file_name: [jar.sha256, stat.st_size, stat.st_mtime_ns] for jar, stat in stats.items()}


def _is_verified(cache: Path, marker: Path, wanted: tuple[Jar, ...]) -> bool:
    try:
        return bool(json.loads(marker.read_text()) == _fingerprint(cache, wanted))
    except (FileNotFoundError, ValueError):
        return False


@contextmanager
def _exclusive(lock_file: Path) -> Iterator[None]:
    with lock_file.open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.info("embedded_jars_wait", lock=str(lock_file))
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield

"""Fetches jars from a Maven repository with jgo and shows how far it is."""

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import structlog
from jgo.maven import MavenContext, PythonResolver
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from agrajag.embedded.jars import Jar
from agrajag.errors import AgrajagError, ConfigError, TransientError

log = structlog.get_logger(__name__)

_TRIES = 3
_PLAIN_STEPS = 4  # lines printed where there is no terminal


def fetch_jars(jars: Sequence[Jar], into: Path, repositories: Mapping[str, str] | None) -> None:
    """Puts each jar into the directory, complete and verified or not at all.

    Raises ConfigError if a repository sends something else, TransientError if none can be reached.
    """
    with tempfile.TemporaryDirectory(dir=into, prefix="fetch-") as staging, _progress(jars) as advance:
        context = MavenContext(
            resolver=PythonResolver(progress_callback=lambda _name, _size_bytes: nullcontext(advance)),
            repo_cache=Path(staging),
            remote_repos=dict(repositories) if repositories else None,
        )
        for jar in jars:
            _fetch(context, jar).replace(into / jar.file_name)


def _fetch(context: MavenContext, jar: Jar) -> Path:
    for _ in range(_TRIES - 1):
        try:
            return _fetch_once(context, jar)
        except AgrajagError as error:
            log.info("embedded_jar_not_fetched", jar=jar.file_name, error=str(error))
    return _fetch_once(context, jar)


def _fetch_once(context: MavenContext, jar: Jar) -> Path:
    artifact = context.project(jar.group, jar.artifact).at_version(jar.version).artifact()
    if (leftover := artifact.cached_path) is not None:
        leftover.unlink(missing_ok=True)
    try:
        path = artifact.resolve()
    except RuntimeError:
        # Its text shows the repositories, which may hold a password.
        raise TransientError(f"kafka: {jar.file_name} is in none of the repositories") from None
    except OSError as error:
        raise TransientError(f"kafka: {jar.file_name} cannot be fetched: {error}") from error
    if not jar.is_at(path):
        raise ConfigError(f"kafka: the repository's {jar.file_name} is not the listed one (SHA-256)")
    return path


@contextmanager
def _progress(jars: Sequence[Jar]) -> Iterator[Callable[[int], None]]:
    total_bytes = sum(jar.size_bytes for jar in jars)
    console = Console(stderr=True)
    if console.is_terminal:
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
        with Progress(*columns, console=console) as progress:
            task = progress.add_task(f"Apache Kafka, {len(jars)} jars", total=total_bytes)
            yield lambda count: progress.advance(task, count)
    else:
        yield _plain_progress(len(jars), total_bytes)


def _plain_progress(jar_count: int, total_bytes: int) -> Callable[[int], None]:
    done_bytes = 0
    print(f"Apache Kafka: fetching {jar_count} jars, {total_bytes / 1e6:.0f} MB", file=sys.stderr)

    def advance(count: int) -> None:
        nonlocal done_bytes
        step_before = _PLAIN_STEPS * done_bytes // total_bytes
        done_bytes += count
        if _PLAIN_STEPS * done_bytes // total_bytes > step_before:
            print(f"Apache Kafka: {done_bytes / 1e6:.0f} of {total_bytes / 1e6:.0f} MB", file=sys.stderr)

    return advance

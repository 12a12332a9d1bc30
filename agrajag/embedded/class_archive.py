"""An archive of the classes that a broker loads, with which others start in half the processor time.

It lies beside the jars, one for each Java and class path. It is a matter of speed alone: where there is none,
or Java finds that it does not fit, the broker starts without it.
"""

import hashlib
import subprocess
from collections.abc import Sequence
from pathlib import Path

import structlog

log = structlog.get_logger(__name__)

_DUMP_TIMEOUT_SECONDS = 300
_KEPT_ARCHIVES = 3  # each virtual environment has a Java of its own, and an archive takes 64 MB


def archive_file(java: Path, class_path: Sequence[Path]) -> Path:
    """Where the archive for this Java and these jars is, or would be."""
    program = java.resolve()
    identity = "\n".join([f"{program} {program.stat().st_mtime_ns}", *map(str, class_path)])
    return class_path[0].parent / f"classes-{hashlib.sha256(identity.encode()).hexdigest()[:16]}.jsa"


def recording_option(class_list: Path) -> str:
    """The JVM option that makes a broker write down what it loads, complete when it has ended."""
    return f"-XX:DumpLoadedClassList={class_list}"


def make_archive(java: Path, class_path: Sequence[Path], class_list: Path) -> None:
    """Makes the archive from a recorded list; a Java that cannot do so is logged and leaves none."""
    target = archive_file(java, class_path)
    unfinished = class_list.with_suffix(".jsa")
    command = [
        str(java),
        "-Xshare:dump",
        "-XX:+UseSerialGC",  # as the broker runs, or the archived objects are left aside
        f"-XX:SharedClassListFile={class_list}",
        f"-XX:SharedArchiveFile={unfinished}",
        "-cp",
        ":".join(map(str, class_path)),
    ]
    try:
        subprocess.run(command, capture_output=True, timeout=_DUMP_TIMEOUT_SECONDS, check=True)
        unfinished.replace(target)
        _drop_old(target.parent)
    except (OSError, subprocess.SubprocessError) as error:
        log.warning("embedded_class_archive_not_made", error=type(error).__name__)


def _drop_old(directory: Path) -> None:
    newest_first = sorted(
        directory.glob("classes-*.jsa"), key=lambda path: path.stat().st_mtime, reverse=True
    )
    for path in newest_first[_KEPT_ARCHIVES:]:
        path.unlink(missing_ok=True)

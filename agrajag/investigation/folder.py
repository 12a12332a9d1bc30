"""Lists the files below a folder, and opens them: ordinary files that stand inside it, and nothing else.

Names that begin with a dot are not looked at. A link to a file is followed where it stays inside the folder, as in a
mounted ConfigMap; a link to a folder never is, so that there are no circles.
"""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from agrajag.investigation.left_out import LeftOut
from agrajag.metrics import LeftOutKind

MAX_DEPTH = 10
_FRESH_NS = 2_000_000_000


class Stamp(NamedTuple):
    """What changes when a file does."""

    inode: int
    size_bytes: int
    modified_ns: int
    changed_ns: int

    def is_settled(self, read_at_ns: int) -> bool:
        """Whether what was read then is what the stamp stands for: a file may change twice in one tick of its clock."""
        return max(self.modified_ns, self.changed_ns) < read_at_ns - _FRESH_NS


class FolderFile(NamedTuple):
    """A file as it was seen. `name` is its place below the folder, with `/`; `path` has no link in its last part."""

    name: str
    path: str
    stamp: Stamp


def files_below(
    folder: Path, is_wanted: Callable[[str], bool], max_files: int, left_out: LeftOut
) -> list[FolderFile]:
    """The files whose last name is wanted, in the order of their names; what comes after `max_files` is not looked at.

    Raises OSError if the folder itself cannot be read.
    """
    found: list[FolderFile] = []
    root = os.path.realpath(folder, strict=True)
    for entry, name in _entries(root, is_wanted, left_out):
        file = _judged(entry, name, root, left_out)
        if file is None:
            continue
        if len(found) == max_files:
            left_out.add(LeftOutKind.TOO_MANY, name)
            break
        found.append(file)
    return sorted(found)


def opened(file: FolderFile) -> BinaryIO:
    """The file for reading, unbuffered. Raises OSError where it cannot be read, or another stands in its place."""
    # Without O_NONBLOCK, opening a pipe that has come in its place would wait for a writer.
    descriptor = os.open(file.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    reader = os.fdopen(descriptor, "rb", buffering=0)
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode) or state.st_ino != file.stamp.inode:
        reader.close()
        raise FileNotFoundError("another file has come in its place")
    return reader


def _entries(
    root: str, is_wanted: Callable[[str], bool], left_out: LeftOut
) -> Iterator[tuple[os.DirEntry[str], str]]:
    """Wanted entries that are no folders, with their names below the root."""
    waiting = [(root, "", 0)]
    while waiting:
        path, prefix, depth = waiting.pop()
        try:
            with os.scandir(path) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name)
        except OSError:
            if path == root:
                raise
            left_out.add(LeftOutKind.UNREADABLE, prefix)
            continue
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                if depth < MAX_DEPTH:
                    waiting.append((entry.path, f"{prefix}{entry.name}/", depth + 1))
                else:
                    left_out.add(LeftOutKind.TOO_MANY, prefix + entry.name)
            elif is_wanted(entry.name):
                yield entry, prefix + entry.name


def _judged(entry: os.DirEntry[str], name: str, root: str, left_out: LeftOut) -> FolderFile | None:
    try:
        path = os.path.realpath(entry.path, strict=True) if entry.is_symlink() else entry.path
        state = os.stat(path, follow_symlinks=False)
    except OSError:
        left_out.add(LeftOutKind.UNREADABLE, name)
        return None
    if os.path.commonpath((path, root)) != root:
        left_out.add(LeftOutKind.OUTSIDE, name)
    elif not stat.S_ISREG(state.st_mode) or not _is_text(name):
        left_out.add(LeftOutKind.UNREADABLE, name)
    else:
        stamp = Stamp(state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
        return FolderFile(name, path, stamp)
    return None


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:  # a name that is no UTF-8
        return False
    return True

"""Reads the documents of a directory: `<tenant>/<project or _tenant>/<path>`, such as
`acme/_tenant/_vance/agrajag/error-patterns.yaml`.

Of a tenant or project that a folder cannot be called after, the characters that stand in the way are percent-encoded
(`a%2Fb` is `a/b`; a project `_tenant` is `%5Ftenant`). Names that begin with a dot are not looked at, nor files that
are no `.yaml` or `.yml`. Everything else that is not read is a problem that names it; a link out of the directory is
not followed.
"""

import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from pydantic import TypeAdapter, ValidationError

from agrajag.core.rules import Problem
from agrajag.core.shown import visible
from agrajag.documents.cascade import TENANT_LEVEL, DocumentName
from agrajag.errors import ConfigError
from agrajag.model.answers import MAX_CONTENT, DocumentPath
from agrajag.model.wire_model import Id

ROOT_FOLDER = "_vance"
"""What every path of a document begins with."""
MAX_DEPTH = 10
MAX_FILES = 100_000

_SUFFIXES = (".yaml", ".yml")
_MAX_FILE_BYTES = 4 * MAX_CONTENT
_ID: TypeAdapter[str] = TypeAdapter(Id)
_PATH: TypeAdapter[str] = TypeAdapter(DocumentPath)
_NOT_IN_A_FOLDER_NAME = re.compile(r'[%/\\<>:"|?*\x00-\x1f]|^\.|^_(?=tenant$)|[. ]$')


class FileState(NamedTuple):
    """What changes when a file does."""

    inode: int
    size: int
    modified_ns: int


@dataclass
class DirectoryReading:
    """What a directory holds: documents, and what could not be read.

    `refused` are the documents whose file is there and cannot be read. `tenants` are those that have a folder.
    """

    documents: dict[DocumentName, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    refused: set[DocumentName] = field(default_factory=set)
    tenants: set[str] = field(default_factory=set)


def folder_name(part: str) -> str:
    """What the folder of a tenant or project is called."""
    return _NOT_IN_A_FOLDER_NAME.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), part
    )


def file_of(root: Path, name: DocumentName) -> Path:
    """Where the document stands below `root`."""
    project = TENANT_LEVEL if name.project_id is None else folder_name(name.project_id)
    return root / folder_name(name.tenant_id) / project / name.path


def read_directory(root: Path) -> DirectoryReading:
    """All documents below `root`. Raises ConfigError if it is no directory that can be read."""
    reading = DirectoryReading()
    for file in _Walk(root, reading).files():
        name = _name(file, reading)
        if name is None:
            continue
        try:
            content = read_text(root / file)
        except (OSError, ValueError) as error:
            reading.problems.append(Problem(visible(str(file)), None, "file", _told(error)))
            reading.refused.add(name)
            continue
        if name in reading.documents or name in reading.refused:
            reading.problems.append(
                Problem(visible(str(file)), None, "path", f"{name} stands twice in the directory")
            )
        else:
            reading.documents[name] = content
    return reading


def directory_state(root: Path) -> Mapping[Path, FileState]:
    """What changes when any document below `root` does. Raises ConfigError as `read_directory`."""
    found = {}
    for file in _Walk(root, DirectoryReading()).files():
        try:
            state = (root / file).stat()
        except OSError:
            continue
        found[file] = FileState(state.st_ino, state.st_size, state.st_mtime_ns)
    return found


class _Walk:
    """Goes through the files below a directory that may be documents, in the order of their names."""

    def __init__(self, root: Path, reading: DirectoryReading) -> None:
        self._root = root
        self._reading = reading
        self._count = 0
        try:
            self._real_root = root.resolve(strict=True)
            entries = sorted(root.iterdir())
        except (OSError, RuntimeError) as error:
            raise ConfigError(
                f"documents: {root} is no directory that can be read: {_told(error)}"
            ) from error
        self._entries = entries

    def files(self) -> Iterator[Path]:
        for entry in self._entries:
            yield from self._below(entry, 1)

    def _below(self, entry: Path, depth: int) -> Iterator[Path]:
        if entry.name.startswith("."):
            return
        shown = entry.relative_to(self._root)
        try:
            mode = entry.stat().st_mode
            real = entry.resolve(strict=True)
            if not real.is_relative_to(self._real_root) or entry.parent.resolve().is_relative_to(real):
                self._refuse(shown, "is a link out of the directory or in a circle, and is not followed")
                return
            entries = sorted(entry.iterdir()) if stat.S_ISDIR(mode) else None
        except (OSError, RuntimeError) as error:
            self._refuse(shown, _told(error))
            return
        if entries is None:
            if entry.suffix in _SUFFIXES:
                yield from self._file(shown, mode)
        elif depth > MAX_DEPTH:
            self._refuse(shown, f"stands more than {MAX_DEPTH} folders deep")
        else:
            for inner in entries:
                yield from self._below(inner, depth + 1)

    def _file(self, shown: Path, mode: int) -> Iterator[Path]:
        self._count += 1
        if not stat.S_ISREG(mode):
            self._refuse(shown, "is no ordinary file")
        elif self._count > MAX_FILES:
            if self._count == MAX_FILES + 1:
                self._refuse(shown, f"this and what follows is not read: more than {MAX_FILES:,} files")
        else:
            yield shown

    def _refuse(self, shown: Path, reason: str) -> None:
        self._reading.problems.append(Problem(visible(str(shown)), None, "file", reason))


def _name(file: Path, reading: DirectoryReading) -> DocumentName | None:
    """What the file at this place is called; None, with a problem, where it is no document."""
    tenant, project, *path = file.parts if len(file.parts) > 2 else (*file.parts, "", "")[:2]
    try:
        if not path or path[0] != ROOT_FOLDER:
            raise ValueError(f"is no <tenant>/<project or {TENANT_LEVEL}>/{ROOT_FOLDER}/...")
        name = DocumentName(
            _ID.validate_python(_unescaped(tenant)),
            None if project == TENANT_LEVEL else _ID.validate_python(_unescaped(project)),
            _PATH.validate_python("/".join(path)),
        )
    except ValidationError:
        problem = Problem(
            visible(str(file)), None, "path", "has a name that is too long or holds what cannot be seen"
        )
    except ValueError as error:
        problem = Problem(visible(str(file)), None, "path", _told(error))
    else:
        reading.tenants.add(name.tenant_id)
        return name
    reading.problems.append(problem)
    return None


def _unescaped(folder: str) -> str:
    try:
        return unquote_to_bytes(folder).decode()
    except UnicodeError:
        raise ValueError("has a name that is no UTF-8") from None


def read_text(file: Path) -> str:
    """The text of one document. Raises OSError, and ValueError for what is too long or no UTF-8."""
    with file.open("rb") as opened:
        raw = opened.read(_MAX_FILE_BYTES + 1)
    if len(raw) > _MAX_FILE_BYTES:
        raise ValueError(f"is longer than the {MAX_CONTENT:,} characters that are read")
    try:
        content = raw.decode("utf-8-sig")
    except UnicodeError:
        raise ValueError("is no UTF-8") from None
    if len(content) > MAX_CONTENT:
        raise ValueError(f"has {len(content):,} characters; at most {MAX_CONTENT:,} are read")
    return content


def _told(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)

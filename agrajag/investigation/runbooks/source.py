"""Looks for words in a folder of Markdown files, as `lookup_knowledge` asks.

Each look first takes in what has changed in the folder since the last one. What is indexed is redacted already, because
an excerpt may cut a secret in two, and its halves would not be recognised.
"""

import threading
import time
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import structlog

from agrajag.core.redact import redacted
from agrajag.harness import Failed
from agrajag.investigation.evidence import CallIds, Found, Scope
from agrajag.investigation.folder import FolderFile, Stamp, files_below, opened
from agrajag.investigation.left_out import LeftOut
from agrajag.investigation.off_loop import Reading, TimeIsUp, beside_the_loop
from agrajag.investigation.requests import KnowledgeRequest
from agrajag.investigation.runbooks.index import Hit, RunbookIndex
from agrajag.investigation.runbooks.markdown_sections import sections
from agrajag.investigation.runbooks.search_words import Wanted, wanted
from agrajag.investigation.source_codes import SourceCode
from agrajag.metrics import LeftOutKind

log = structlog.get_logger(__name__)

SOURCE = "runbooks"
_SUFFIXES = (".md", ".markdown")


@dataclass(frozen=True, slots=True)
class RunbookLimits:
    """How much is taken in, and how long one look may take."""

    seconds: float = 5.0
    files: int = 2_000
    file_bytes: int = 1_000_000
    excerpt_characters: int = 800


class Runbooks:
    """The runbooks of one folder; many looks may be made side by side."""

    def __init__(self, folder: Path, limits: RunbookLimits | None = None) -> None:
        self._folder = folder
        self._limits = limits or RunbookLimits()
        self._index = RunbookIndex(self._limits.excerpt_characters)
        self._taken: dict[str, Stamp | None] = {}
        self._unusable: dict[str, LeftOutKind] = {}
        self._turn = threading.Lock()

    async def look(self, ids: CallIds, asked: KnowledgeRequest) -> Found | Failed:
        """The sections that say something of what was asked, the best first, each as {document, heading, text}.

        Failed NO_WORDS, SOURCE_UNAVAILABLE or SOURCE_TIMEOUT; after the last, the next look goes on where it ended.
        """
        looked_for = wanted(unicodedata.normalize("NFC", asked.query))
        if not looked_for.pieces:
            return Failed(SourceCode.NO_WORDS)
        try:
            hits, is_cut = await beside_the_loop(
                lambda reading: self._looked(looked_for, asked.limit, reading), self._limits.seconds
            )
        except TimeIsUp:
            return Failed(SourceCode.SOURCE_TIMEOUT)
        except OSError as error:
            log.warning("runbooks_unavailable", error=type(error).__name__, run_id=ids.run_id)
            return Failed(SourceCode.SOURCE_UNAVAILABLE)
        documents = tuple(dict.fromkeys(hit.document for hit in hits))
        scope = Scope(source=SOURCE, subjects=documents or (self._folder.name,))
        return Found([hit._asdict() for hit in hits], scope, is_cut)

    def close(self) -> None:
        """Give the index's memory back, as soon as no look is on. Blocks until then."""
        with self._turn:
            self._index.close()

    def _looked(self, looked_for: Wanted, limit: int, reading: Reading) -> tuple[list[Hit], bool]:
        if not self._turn.acquire(timeout=reading.left_seconds):
            raise TimeIsUp
        try:
            left_out = LeftOut()
            self._follow(files_below(self._folder, _is_runbook, self._limits.files, left_out), reading)
            for name, kind in self._unusable.items():
                left_out.add(kind, name)
            left_out.tell(SOURCE)
            return self._index.find(looked_for, limit, reading)
        finally:
            self._turn.release()

    def _follow(self, files: list[FolderFile], reading: Reading) -> None:
        """Make the index say what the folder says. Raises TimeIsUp; what is done by then stays done."""
        for name in self._taken.keys() - {file.name for file in files}:
            self._index.replace(name, (), reading)
            del self._taken[name]
            self._unusable.pop(name, None)
        for file in files:
            if self._taken.get(file.name) == file.stamp:
                continue
            if reading.is_over:
                raise TimeIsUp
            read_at = time.time_ns()
            text = self._text(file)
            if isinstance(text, LeftOutKind):
                self._unusable[file.name] = text
                self._index.replace(file.name, (), reading)
            else:
                self._unusable.pop(file.name, None)
                self._index.replace(file.name, sections(redacted(text)), reading)
            is_known = file.stamp.is_settled(read_at) and text != LeftOutKind.UNREADABLE
            self._taken[file.name] = file.stamp if is_known else None

    def _text(self, file: FolderFile) -> str | LeftOutKind:
        """What the file says, or why it is left out."""
        if file.stamp.size_bytes > self._limits.file_bytes:
            return LeftOutKind.TOO_LARGE
        try:
            with opened(file) as reader:
                raw = reader.read(self._limits.file_bytes + 1)
        except OSError:
            return LeftOutKind.UNREADABLE
        if len(raw) > self._limits.file_bytes:
            return LeftOutKind.TOO_LARGE
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            return LeftOutKind.NOT_TEXT
        return LeftOutKind.NOT_TEXT if "\0" in text else unicodedata.normalize("NFC", text)


def _is_runbook(name: str) -> bool:
    return name.lower().endswith(_SUFFIXES)

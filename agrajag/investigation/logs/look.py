"""One look through the files of a log: which of them are read, how far, and what is found.

What is kept are the newest lines, the newest first: an investigation is asked for while the trouble is on, a log is
cheapest to read at its end, and who wants what was before asks again until the oldest that was shown.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from agrajag.investigation.folder import FolderFile
from agrajag.investigation.left_out import LeftOut
from agrajag.investigation.logs.files import Allowance, LogFile, PieceSizes, RawLine, well_after, well_before
from agrajag.investigation.logs.lines import LogFields, dated, read_record
from agrajag.investigation.logs.names import LogName, log_name
from agrajag.investigation.logs.search import Fit, LogSearch, Newest
from agrajag.metrics import LeftOutKind


class Head(NamedTuple):
    """What the first lines of a file say: when it begins, and whose lines it holds."""

    size_bytes: int
    begins_at: datetime
    services: frozenset[str]


@dataclass
class LogLook:
    """A look and what comes of it."""

    search: LogSearch
    names: LogFields
    sizes: PieceSizes
    allowance: Allowance
    newest: Newest
    left_out: LeftOut = field(default_factory=LeftOut)
    heads: dict[str, Head] = field(default_factory=dict)
    services: set[str] = field(default_factory=set)
    """Whose lines were seen in the window."""
    lines: Counter[Fit] = field(default_factory=Counter)
    is_incomplete: bool = False
    """A file that may hold the window could not be read."""

    def through(self, files: Sequence[FolderFile], known: Mapping[str, Head]) -> None:
        """Look through the files. `known`: heads that were seen before, by name."""
        for file in files:
            head = known.get(file.name)
            if head is None or head.size_bytes > file.stamp.size_bytes:  # it has begun anew
                head = self._head(file)
            if head is not None:
                self.heads[file.name] = head
        for file in sorted(files, key=lambda file: (-file.stamp.modified_ns, file.name)):
            if self.allowance.is_spent or _ended_before(file, well_before(self._since)):
                break
            if self._may_hold(file):
                self._read(file)

    @property
    def _since(self) -> datetime:
        """What is older does not matter."""
        return max(self.search.asked.since, self.newest.floor or self.search.asked.since)

    def _may_hold(self, file: FolderFile) -> bool:
        asked, head = self.search.asked, self.heads.get(file.name)
        if head is not None and head.begins_at > well_after(asked.until):
            return False
        return log_name(file.name).may_hold(asked.since, asked.until)

    def _head(self, file: FolderFile) -> Head | None:
        name = log_name(file.name)
        try:
            opened = LogFile(file, name.is_packed, self.allowance, self.sizes)
        except OSError:
            return None
        try:
            lines = [
                read_record(record, self.names, name.service)
                for _, raw in opened.head()
                if (record := dated(raw, self.names)) is not None
            ]
        except OSError:
            return None
        finally:
            opened.close()
        if not lines:
            return None
        services = frozenset(line.service for line in lines if line.service is not None)
        return Head(file.stamp.size_bytes, min(line.at for line in lines), services)

    def _read(self, file: FolderFile) -> None:
        name = log_name(file.name)
        try:
            opened = LogFile(file, name.is_packed, self.allowance, self.sizes)
        except OSError:
            self._unreadable(file)
            return
        try:
            for piece in opened.pieces(lambda lines: self._all_after(lines, self.search.asked.until)):
                times = self._taken(file, name, piece)
                if len(times) > 1 and self._is_beyond(times, name):
                    break
        except OSError:
            self._unreadable(file)
        finally:
            opened.close()
        for _ in range(opened.too_long):
            self.left_out.add(LeftOutKind.TOO_LARGE, file.name)

    def _taken(self, file: FolderFile, name: LogName, piece: Sequence[RawLine]) -> list[datetime]:
        """When the lines of a piece were written, each judged as long as there is time: a pattern may take long."""
        times: list[datetime] = []
        for offset, raw in piece:
            if not self.allowance.permits(0):
                break
            at = self._take(file, name, offset, raw)
            if at is not None:
                times.append(at)
        return times

    def _is_beyond(self, times: Sequence[datetime], name: LogName) -> bool:
        """Whether what comes after a piece is out of the window altogether."""
        if name.is_packed:
            return min(times) > well_after(self.search.asked.until)
        return max(times) < well_before(self._since)

    def _take(self, file: FolderFile, name: LogName, offset: int, raw: bytes) -> datetime | None:
        """Keep the line if it is one of those looked for; when it was written."""
        record = dated(raw, self.names)
        if record is None:
            self.left_out.add(LeftOutKind.BROKEN_LINE, file.name)
            return None
        at, asked = record.at, self.search.asked
        if not asked.since <= at < asked.until:
            self.lines[Fit.NOT] += 1
            return at
        line = read_record(record, self.names, name.service)
        if line.service is not None:
            self.services.add(line.service)
        fit = self.search.fit(line)
        self.lines[fit] += 1
        if fit is Fit.FITS:
            self.newest.add(line, (file.name, offset))
        return at

    def _all_after(self, lines: Sequence[RawLine], until: datetime) -> bool:
        times = [record.at for _, raw in lines if (record := dated(raw, self.names)) is not None]
        return len(times) > 1 and min(times) > well_after(until)

    def _unreadable(self, file: FolderFile) -> None:
        self.is_incomplete = True
        self.left_out.add(LeftOutKind.UNREADABLE, file.name)


def _ended_before(file: FolderFile, at: datetime) -> bool:
    """Whether the file was written to for the last time before that."""
    return file.stamp.modified_ns < at.timestamp() * 1e9

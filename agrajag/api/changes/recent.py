"""Keeps the last changes of what the view shows, in the order in which this process read them, each with its place.

Whoever follows is somewhere in that order; where a client comes back from another process or another day, its cursor
says what it knows. From here nothing is told that is incomplete: what fell out of memory, and where the log itself had
been compacted, is remembered as the place before which nothing can be promised.
"""

import asyncio
from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

from agrajag.api.changes.cursor import Cursor, cursor_text, has_reached, log_name
from agrajag.api.changes.told import Told
from agrajag.metrics import StreamReset
from agrajag.view.listening import News
from agrajag.wire.following import Log

_BYTES_BESIDE = 1_500
_COPIES = 3  # the document as it came, and what is said of it, to one or two kinds of hearers


class Change:
    """What a record changed. `number` counts the changes of this process, `offsets` is where it had come to then."""

    __slots__ = ("_id", "_log", "number", "offset", "offsets", "partition", "told")

    def __init__(self, number: int, partition: int, offset: int, cursor: Cursor, news: News) -> None:
        self.number = number
        self.partition = partition
        self.offset = offset
        self.offsets = cursor.offsets
        self.told = Told(news)
        self._log = cursor.log
        self._id: str | None = None

    @property
    def id(self) -> str:
        """The text of the cursor of whoever has followed to here."""
        if self._id is None:
            self._id = cursor_text(Cursor(self._log, self.offsets))
        return self._id

    @property
    def bytes(self) -> int:
        """About what it takes in memory."""
        return _COPIES * len(self.told.value or b"") + _BYTES_BESIDE


class RecentChanges:
    """A `LogListener` that remembers some `max_bytes` of changes. Everything here is for one event loop."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._log: bytes | None = None
        self._next: list[int] = []
        self._read_to: list[int] = []
        self._complete_from: list[int] = []
        self._compacted_before: list[int] = []
        self._changes: deque[Change] = deque()
        self._of_tenant: defaultdict[str, deque[Change]] = defaultdict(deque)
        self._dropped: dict[str, int] = {}
        self._bytes = 0
        self._number = 0
        self._forgotten = 0
        self._shown_number = 0
        self._shown = Cursor(b"", ())
        self._told_to: set[str] = set()
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self.gaps = 0
        """How often something was missing between two records that were read."""

    # What the view tells

    def reading_begins(self, log: Log) -> None:
        """A log that is not the one that was read, or that is shorter now, has nothing to do with what is known."""
        name = log_name(log)
        if name != self._log or not has_reached(log.ends, self._next):
            self._forget(name, len(log.ends))
        self._read_to = [-1] * len(log.ends)

    def read(self, partition: int, offset: int, news: News | None) -> None:
        """Remember a change. What was read before, and is read again after an outage, is no news."""
        if offset <= self._read_to[partition]:  # the log was made anew beneath its reader
            self._forget(self._log, len(self._next))
        self._read_to[partition] = offset
        if offset < self._next[partition]:
            return
        if offset > self._next[partition]:
            self.gaps += 1
            self._complete_from[partition] = self._compacted_before[partition] = offset
        self._next[partition] = offset + 1
        if news is not None:
            self._number += 1
            cursor = Cursor(self._log or b"", tuple(self._next))
            self._remember(Change(self._number, partition, offset, cursor, news))

    def shown(self) -> None:
        """Let everybody hear of what the view shows now."""
        self._shown_number, self._shown = self._number, Cursor(self._log or b"", tuple(self._next))
        told_to, self._told_to = self._told_to, set()
        for tenant_id in told_to:
            for waiting in self._waiting.get(tenant_id, ()):
                waiting.set()

    # What is asked

    @property
    def number(self) -> int:
        """That of the last change that is shown."""
        return self._shown_number

    @property
    def cursor(self) -> Cursor:
        """The place up to which everything is shown."""
        return self._shown

    def first(self, tenant_id: str) -> int:
        """The number behind which all changes of the tenant are still here."""
        return max(self._dropped.get(tenant_id, 0), self._forgotten)

    def known(self, tenant_id: str, cursor: Cursor) -> int:
        """The number up to which a usable cursor knows every change of the tenant; of later ones it knows some where it
        was given by another process, which read them in another order."""
        changes = self._of_tenant.get(tenant_id, deque())
        index = bisect_left(changes, True, key=lambda change: not has_reached(cursor.offsets, change.offsets))
        return changes[index - 1].number if index else self.first(tenant_id)

    def unusable(self, cursor: Cursor) -> StreamReset | None:
        """Why not every change after `cursor` is known here; None where each is."""
        if cursor.log != self._shown.log or len(cursor.offsets) != len(self._shown.offsets):
            return StreamReset.FOREIGN
        if not has_reached(cursor.offsets, self._complete_from):
            return StreamReset.TOO_OLD
        return None if has_reached(self._shown.offsets, cursor.offsets) else StreamReset.AHEAD

    def is_gapless(self, cursor: Cursor) -> bool:
        """Whether nothing was missing in the log itself behind a cursor up to which everything was told."""
        return cursor.log == self._log and has_reached(cursor.offsets, self._compacted_before)

    def after(self, tenant_id: str, number: int, limit: int) -> list[Change] | None:
        """The next changes of the tenant, at most `limit`; None where some of them are no longer here."""
        if number < self.first(tenant_id):
            return None
        changes = self._of_tenant.get(tenant_id)
        if not changes or changes[-1].number <= number:
            return []
        begin = bisect_right(changes, number, key=lambda change: change.number)
        found = islice(changes, begin, begin + limit)
        return [change for change in found if change.number <= self._shown_number]

    @contextmanager
    def waking(self, tenant_id: str, event: asyncio.Event) -> Iterator[None]:
        """Set `event` at each change of the tenant that is shown meanwhile."""
        self._waiting[tenant_id].add(event)
        try:
            yield
        finally:
            self._waiting[tenant_id].discard(event)
            if not self._waiting[tenant_id]:
                del self._waiting[tenant_id]

    def _remember(self, change: Change) -> None:
        self._changes.append(change)
        self._of_tenant[change.told.tenant_id].append(change)
        self._told_to.add(change.told.tenant_id)
        self._bytes += change.bytes
        while self._bytes > self._max_bytes:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        change = self._changes.popleft()
        self._bytes -= change.bytes
        self._complete_from[change.partition] = max(self._complete_from[change.partition], change.offset + 1)
        self._dropped[change.told.tenant_id] = change.number
        of_tenant = self._of_tenant[change.told.tenant_id]
        of_tenant.popleft()
        if not of_tenant:
            del self._of_tenant[change.told.tenant_id]

    def _forget(self, name: bytes | None, partitions: int) -> None:
        """Begin with nothing; whoever follows is told that it lost its place."""
        self._log = name
        self._next = [0] * partitions
        self._read_to = [-1] * partitions
        self._complete_from = [0] * partitions
        self._compacted_before = [0] * partitions
        self._changes.clear()
        self._of_tenant.clear()
        self._dropped.clear()
        self._bytes = 0
        self._number += 1
        self._forgotten = self._number
        self._told_to.update(self._waiting)

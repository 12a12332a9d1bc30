"""Holds the table's values in memory, partition by partition, so that a partition can leave as a whole.

What comes from the changelog is accepted unless it is older than what is held: a late record of a previous
owner may stand behind a newer one. It is decoded when it is first read. How old a value is stands in its
first bytes (`{"revision":123,`), for a tombstone in the record's header `revision`.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from agrajag.wire.outputs import REVISION_HEADER

V = TypeVar("V")

UNTOLD_HEADER = "untold"
"""The header of a changelog record whose value its readers have not been told yet."""

_HEAD = b'{"revision":'


def revision_of(value: bytes) -> int:
    """The revision in the first bytes of an encoded value. ValueError if it does not begin with one."""
    if not value.startswith(_HEAD):
        raise ValueError("a table value must begin with its revision")
    return int(value[len(_HEAD) : value.index(b",", len(_HEAD))])


class _Entry(Generic[V]):
    """A value with its revision; `raw` until it is first read.

    `due_at` is when somebody should look at it, `told_at` when a value of this key was last told to readers.
    """

    __slots__ = ("due_at", "raw", "revision", "told_at", "value", "written_at")

    def __init__(self, revision: int, written_at: float, value: V | None, raw: bytes | None) -> None:
        self.revision = revision
        self.written_at = written_at
        self.value = value
        self.raw = raw
        self.due_at = written_at
        self.told_at = written_at


class PartitionView(Generic[V]):
    """The values of one partition, to be read by a step."""

    __slots__ = ("_decode", "_entries", "_untold")

    def __init__(
        self, entries: dict[bytes, _Entry[V]], untold: set[bytes], decode: Callable[[bytes], V]
    ) -> None:
        self._entries = entries
        self._untold = untold
        self._decode = decode

    def get(self, key: bytes) -> V | None:
        """The value of `key`, or None."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        if entry.raw is not None:
            entry.value, entry.raw = self._decode(entry.raw), None
        return entry.value

    def revision(self, key: bytes) -> int | None:
        """The revision of `key`'s value, without decoding it."""
        entry = self._entries.get(key)
        return None if entry is None else entry.revision

    def peek(self, key: bytes) -> V | None:
        """The value of `key`, without keeping what had to be decoded: for those who go through all of them."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        return entry.value if entry.raw is None else self._decode(entry.raw)

    def written_at(self, key: bytes) -> float:
        """When the value of `key`, which must be there, was written, in seconds of Unix time."""
        return self._entries[key].written_at

    def due(self, unix_seconds: float) -> list[bytes]:
        """The keys that came into being before then and were not put off beyond it."""
        return [key for key, entry in self._entries.items() if entry.due_at <= unix_seconds]

    def put_off(self, key: bytes, unix_seconds: float) -> None:
        """Let `key` not be due before then, however often its value changes."""
        self._entries[key].due_at = unix_seconds

    def told_at(self, key: bytes) -> float:
        """When a value of `key` was last told, in seconds of Unix time; 0 where that is not known."""
        entry = self._entries.get(key)
        return 0.0 if entry is None else entry.told_at

    def untold(self, told_before: float) -> list[bytes]:
        """The keys whose value is not told yet, and of which none was told since `told_before`."""
        return [key for key in self._untold if self._entries[key].told_at <= told_before]

    def written_since(self, unix_seconds: float) -> list[bytes]:
        """The keys whose value was written, by this worker or its predecessor, at or after `unix_seconds`."""
        return [key for key, entry in self._entries.items() if entry.written_at >= unix_seconds]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: object) -> bool:
        return key in self._entries


class PartitionedMemory(Generic[V]):
    """Values by partition and key."""

    def __init__(self, decode: Callable[[bytes], V]) -> None:
        self._decode = decode
        self._partitions: dict[int, dict[bytes, _Entry[V]]] = {}
        self._untold: dict[int, set[bytes]] = {}
        self._buried: dict[tuple[int, bytes], int] = {}  # tombstones met in recovery, with their revisions
        self.stale = 0  # records that recovery ignored because something newer was held

    def view(self, partition: int) -> PartitionView[V]:
        """A live view; it goes stale when the partition leaves."""
        entries = self._partitions.setdefault(partition, {})
        return PartitionView(entries, self._untold.setdefault(partition, set()), self._decode)

    def __len__(self) -> int:
        return sum(map(len, self._partitions.values()))

    def merge(
        self,
        partition: int,
        changes: Mapping[bytes, tuple[int, V | None]],
        written_at: float,
        untold: Collection[bytes] = (),
    ) -> None:
        """Take over live changes: revision and value, or None for a key that is gone.

        A change of unchanged revision is a repetition and leaves the time of writing as it was. All but those of
        `untold` were told just now.
        """
        entries = self._partitions.setdefault(partition, {})
        for key, (revision, value) in changes.items():
            if value is None:
                self._drop(partition, key)
                continue
            known = entries.get(key)
            since = known.written_at if known is not None and known.revision == revision else written_at
            told_at = written_at
            if key in untold:
                told_at = known.told_at if known is not None else 0.0
            self._put(partition, key, _Entry(revision, since, value, None), told_at, key in untold)

    def _put(self, partition: int, key: bytes, entry: _Entry[V], told_at: float, is_untold: bool) -> None:
        entries = self._partitions.setdefault(partition, {})
        known = entries.get(key)
        if known is not None:
            entry.due_at = known.due_at
        entry.told_at = told_at
        entries[key] = entry
        untold = self._untold.setdefault(partition, set())
        if is_untold:
            untold.add(key)
        else:
            untold.discard(key)

    def _drop(self, partition: int, key: bytes) -> None:
        self._partitions.setdefault(partition, {}).pop(key, None)
        self._untold.setdefault(partition, set()).discard(key)

    def recover(
        self,
        partition: int,
        key: bytes,
        value: bytes | None,
        headers: Iterable[tuple[str, bytes]],
        written_at: float,
    ) -> None:
        """Take over a changelog record, unless it is older than what is held. ValueError: no revision."""
        known = self._partitions.setdefault(partition, {}).get(key)
        held = known.revision if known is not None else self._buried.get((partition, key), 0)
        named = dict(headers)
        revision = int(named.get(REVISION_HEADER, held)) if value is None else revision_of(value)
        if revision < held:
            self.stale += 1
        elif value is None:
            self._drop(partition, key)
            self._buried[partition, key] = revision
        else:
            is_untold = UNTOLD_HEADER in named
            entry: _Entry[V] = _Entry(revision, written_at, None, value)
            self._put(partition, key, entry, 0.0 if is_untold else written_at, is_untold)

    def keep_only(self, partitions: Sequence[int]) -> None:
        """Recovery is over, and these are the partitions that this worker holds now."""
        for gone in self._partitions.keys() - set(partitions):
            del self._partitions[gone]
            self._untold.pop(gone, None)
        self._buried.clear()

"""Turns table entries into bytes and back.

The public document stands inside the entry exactly as it goes out on `health-changed`, so it is written to
JSON once for both. The revision comes first, where the table looks for it.
"""

from collections.abc import Callable
from typing import TypeVar

from agrajag.model.health import HealthEntry, ToolHealth

R = TypeVar("R")

_KEPT = 4_096


class EntryCodec:
    """Encodes entries and their documents, and keeps what it has encoded lately: each is needed twice in a step."""

    def __init__(self) -> None:
        self._documents: dict[int, tuple[ToolHealth, bytes]] = {}
        self._entries: dict[int, tuple[HealthEntry, bytes]] = {}

    def document(self, health: ToolHealth) -> bytes:
        """The public document as JSON."""
        return _kept(self._documents, health, ToolHealth.to_json)

    def encode(self, entry: HealthEntry) -> bytes:
        """The entry as JSON: its revision, then its document, then what only the table's owner needs."""
        return _kept(self._entries, entry, self._encoded)

    def _encoded(self, entry: HealthEntry) -> bytes:
        if entry.health is None:
            return entry.to_json()
        _, _, private = entry.with_changes(health=None).to_json().partition(b",")
        return b'{"revision":%d,"health":%b,%b' % (entry.revision, self.document(entry.health), private)

    @staticmethod
    def decode(raw: bytes) -> HealthEntry:
        """The entry that `raw` holds. ValueError where it holds none."""
        return HealthEntry.model_validate_json(raw)


def _kept(memo: dict[int, tuple[R, bytes]], record: R, encode: Callable[[R], bytes]) -> bytes:
    """What `encode` makes of this very record, made once as long as the memo holds it."""
    kept = memo.get(id(record))
    if kept is not None and kept[0] is record:
        return kept[1]
    if len(memo) >= _KEPT:
        memo.clear()
    raw = encode(record)
    memo[id(record)] = (record, raw)
    return raw

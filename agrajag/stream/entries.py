"""Turns table entries into bytes and back.

The public document stands inside the entry exactly as it goes out on `health-changed`, so it is written to
JSON once for both. The revision comes first, where the table looks for it.
"""

from agrajag.model.health import HealthEntry, ToolHealth

_KEPT = 4_096


class EntryCodec:
    """Encodes entries and their documents, and keeps what it has encoded lately: each is needed twice in a step."""

    def __init__(self) -> None:
        self._documents: dict[int, tuple[ToolHealth, bytes]] = {}
        self._entries: dict[int, tuple[HealthEntry, bytes]] = {}

    def document(self, health: ToolHealth) -> bytes:
        """The public document as JSON."""
        kept = self._documents.get(id(health))
        if kept is not None and kept[0] is health:
            return kept[1]
        if len(self._documents) >= _KEPT:
            self._documents.clear()
        raw = health.to_json()
        self._documents[id(health)] = (health, raw)
        return raw

    def encode(self, entry: HealthEntry) -> bytes:
        """The entry as JSON: its revision, then its document, then what only the table's owner needs."""
        kept = self._entries.get(id(entry))
        if kept is not None and kept[0] is entry:
            return kept[1]
        if len(self._entries) >= _KEPT:
            self._entries.clear()
        raw = self._encoded(entry)
        self._entries[id(entry)] = (entry, raw)
        return raw

    def _encoded(self, entry: HealthEntry) -> bytes:
        if entry.health is None:
            return entry.to_json()
        _, _, private = entry.with_changes(health=None).to_json().partition(b",")
        return b'{"revision":%d,"health":%b,%b' % (entry.revision, self.document(entry.health), private)

    @staticmethod
    def decode(raw: bytes) -> HealthEntry:
        """The entry that `raw` holds. ValueError where it holds none."""
        return HealthEntry.model_validate_json(raw)

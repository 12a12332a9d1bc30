"""All working copies of one step: at most one per key, each read from the table once.

What the table holds is never touched; `Drafts.touched` is the step's result.
"""

from collections.abc import Callable, Iterable, Iterator

from agrajag.core.draft import Draft
from agrajag.model.health import HealthEntry

_UNREAD = Draft("", None)


class Drafts:
    """The drafts of one step over `read`, which returns what the table holds under a key."""

    def __init__(self, read: Callable[[str], HealthEntry | None]) -> None:
        self._read = read
        self._drafts: dict[str, Draft | None] = {}

    def find(self, key: str) -> Draft | None:
        """The draft of a document that exists, or that this step has made."""
        draft = self._drafts.get(key, _UNREAD)
        if draft is not _UNREAD:
            return draft
        entry = self._read(key)
        draft = self._drafts[key] = None if entry is None else Draft(key, entry)
        return draft

    def present(self, keys: Iterable[str]) -> list[Draft]:
        """The drafts of those documents that exist, in the order given."""
        return [draft for key in keys if (draft := self.find(key)) is not None]

    def make(self, key: str) -> Draft:
        """The draft of a document, new if there is none."""
        draft = self.find(key)
        if draft is None:
            draft = self._drafts[key] = Draft(key, None)
        return draft

    def touched(self) -> Iterator[Draft]:
        """The drafts that the step has changed."""
        return (
            draft for draft in self._drafts.values() if draft is not None and draft.touched_at is not None
        )

"""Decides what stands under a key of which much is told: the highest revision, in whatever order and however often.

That something is gone is told with a revision too, and remembered: what is older and comes late does not bring it back.
"""

from collections.abc import Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Standing(NamedTuple, Generic[K, V]):
    """What stands under one key, as of a revision."""

    key: K
    revision: int
    value: V


class Newest(Generic[K, V]):
    """The newest that was told of each key. A value None says that it is gone."""

    def __init__(self) -> None:
        self._newest: dict[K, tuple[int, V | None]] = {}
        self._standing = 0

    def __len__(self) -> int:
        """How many keys have something that stands; those that are gone do not count."""
        return self._standing

    def __iter__(self) -> Iterator[Standing[K, V]]:
        """All that stands, in the order in which the keys were first heard of."""
        for key, (revision, value) in self._newest.items():
            if value is not None:
                yield Standing(key, revision, value)

    def take(self, key: K, revision: int, value: V | None) -> bool:
        """Take in what was told; False where it is not newer than what is known, and so changes nothing."""
        known = self._newest.get(key)
        if known is not None and revision <= known[0]:
            return False
        self._standing += (value is not None) - (known is not None and known[1] is not None)
        self._newest[key] = revision, value
        return True

    def get(self, key: K) -> V | None:
        """What stands under the key; None where nothing does."""
        known = self._newest.get(key)
        return None if known is None else known[1]

    def told(self, key: K) -> tuple[int, V | None] | None:
        """The newest revision with what stands as of it, None for gone; None where nothing was told of the key."""
        return self._newest.get(key)

    def told_of(self, keys: Iterable[K]) -> list[tuple[K, int, V]]:
        """Those of these keys under which something stands, with revision and value, in the order given."""
        newest = self._newest
        return [
            (key, told[0], told[1])
            for key in keys
            if (told := newest.get(key)) is not None and told[1] is not None
        ]

    def revision(self, key: K) -> int | None:
        """The newest revision that was told, be it that the key is gone; None where nothing was."""
        known = self._newest.get(key)
        return None if known is None else known[0]

    def forget(self, key: K, revision: int) -> None:
        """Forget that the key is gone, if it is and that revision is the newest; what stands stays."""
        if self._newest.get(key) == (revision, None):
            del self._newest[key]

    def strike(self, key: K, revision: int) -> None:
        """Take back what was told with that revision, if it is the newest: as if nothing had been told of the key."""
        known = self._newest.get(key)
        if known is not None and known[0] == revision:
            self._standing -= known[1] is not None
            del self._newest[key]

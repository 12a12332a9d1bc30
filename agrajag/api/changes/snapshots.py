"""What a tenant's documents are at one moment, and the place in the log at which they are that.

Of many clients that begin at once, as after a restart, those who are told the same are told what was written for the
first of them.
"""

import asyncio
from collections.abc import Iterator
from typing import NamedTuple

from agrajag.api.changes.cursor import Cursor
from agrajag.api.changes.recent import RecentChanges
from agrajag.api.changes.told import Told
from agrajag.core.newest import Standing
from agrajag.view import HealthView
from agrajag.view.listening import News

_KEPT_SECONDS = 5.0
_MAX_KEPT = 2_000


class Snapshot(NamedTuple):
    """All documents of a tenant after the change of this `number`; `cursor` goes on from there."""

    number: int
    cursor: Cursor
    standing: list[Standing[str, bytes]]
    kept: dict[str, Told]

    def documents(self) -> Iterator[Told]:
        """Each document. Of few, what is written for one client is kept for the next."""
        for key, revision, value in self.standing:
            told = self.kept.get(key)
            if told is None or told.revision != revision:
                told = Told(News(key, revision, value))
                if len(self.kept) < _MAX_KEPT or key in self.kept:
                    self.kept[key] = told
            yield told


class Snapshots:
    """Takes snapshots. Everything here is for the event loop of the view."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, Told]] = {}

    def take(self, view: HealthView, recent: RecentChanges, tenant_id: str) -> Snapshot:
        """What is shown of the tenant now."""
        kept = self._kept.get(tenant_id)
        if kept is None:
            kept = self._kept[tenant_id] = {}
            asyncio.get_running_loop().call_later(_KEPT_SECONDS, self._kept.pop, tenant_id)
        return Snapshot(recent.number, recent.cursor, view.standing(tenant_id), kept)

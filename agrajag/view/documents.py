"""Keeps all health documents small in memory, and says which of them speaks for a caller.

A document is kept as its JSON and read when somebody asks: 100,000 documents of 1.1 kB are 150 MB. As objects they are
a gigabyte, which the garbage collector visits again and again.
"""

from collections import deque
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache

from agrajag.core.lookup import Caller, speaks_for
from agrajag.core.newest import Newest
from agrajag.core.policy import Policy
from agrajag.model.enums import Scope
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key
from agrajag.wire.health_records import HealthChange

GONE_FOR_SECONDS = 24 * 3600.0
"""How long it is remembered that a document is gone: as long as the workers remember it."""

_READ_DOCUMENTS = 1_024


class HealthDocuments:
    """The newest revision of each document, from changes in any order and any number of times."""

    def __init__(self) -> None:
        self._newest: Newest[str, bytes] = Newest()
        self._gone: deque[tuple[float, str, int]] = deque()
        self._read: Callable[[bytes], ToolHealth] = lru_cache(_READ_DOCUMENTS)(ToolHealth.from_json)

    def __len__(self) -> int:
        """How many documents there are."""
        return len(self._newest)

    def take(self, change: HealthChange, now_seconds: float) -> bool:
        """Take a change in; False where it is not newer than what is known. `now_seconds` of a clock that only grows
        says when a deletion was heard of."""
        self._forget_gone(now_seconds)
        known = self._newest.revision(change.key)
        if known is not None and change.revision <= known:
            return False
        if change.health is None:
            self._gone.append((now_seconds, change.key, change.revision))
        value = None if change.health is None else change.health.to_json()
        return self._newest.take(change.key, change.revision, value)

    def find(self, tenant_id: str, scope: Scope, scope_id: str, tool_name: str) -> ToolHealth | None:
        """Exactly this document."""
        return self._get(health_key(tenant_id, scope, scope_id, tool_name))

    def nearest(self, caller: Caller, tool_name: str, now: datetime, policy: Policy) -> ToolHealth | None:
        """The document that speaks for the caller (`core.lookup.speaks_for`), else the narrowest that there is."""
        found = [document for key in caller.keys(tool_name) if (document := self._get(key)) is not None]
        return speaks_for(found, now, policy) or next(iter(found), None)

    def _get(self, key: str) -> ToolHealth | None:
        value = self._newest.get(key)
        return None if value is None else self._read(value)

    def _forget_gone(self, now_seconds: float) -> None:
        while self._gone and now_seconds - self._gone[0][0] >= GONE_FOR_SECONDS:
            _, key, revision = self._gone.popleft()
            self._newest.forget(key, revision)

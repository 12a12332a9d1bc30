"""Keeps all health documents small in memory, and finds those that apply to a caller.

A document is kept as the JSON that came and read when somebody asks: 100,000 documents of 1.1 kB are 150 MB. As objects
they are a gigabyte, which the garbage collector visits again and again, and reading them all takes five seconds. What
turns out to be none when it is read is as if it had never come. So that this is always so, a record that would take the
place of another is read before it does.

One thread takes changes in, any number may ask meanwhile.
"""

from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache
from threading import RLock

import structlog

from agrajag.core.lookup import Caller, speaks_for
from agrajag.core.newest import Newest, Standing
from agrajag.core.policy import Policy
from agrajag.errors import InputError
from agrajag.metrics import VIEW_SKIPPED
from agrajag.model.enums import Scope
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key, parts, tenant_prefix
from agrajag.wire.health_records import HealthRecord, read_health

log = structlog.get_logger(__name__)

GONE_FOR_SECONDS = 24 * 3600.0
"""How long it is remembered that a document is gone: as long as the workers remember it."""

_READ_DOCUMENTS = 1_024
_BEHIND_ALL_KEYS = "\U0010ffff"


class HealthDocuments:
    """The newest revision of each document, from records in any order and any number of times."""

    def __init__(self) -> None:
        self._newest: Newest[str, bytes] = Newest()
        self._gone: deque[tuple[float, str, int]] = deque()
        self._sorted: list[str] | None = None
        self._changing = RLock()
        self._read: Callable[[str, int, bytes], ToolHealth] = lru_cache(_READ_DOCUMENTS)(read_health)

    def __len__(self) -> int:
        """How many documents there are, as far as is known without reading them."""
        return len(self._newest)

    def take(self, record: HealthRecord, now_seconds: float, *, read_first: bool = False) -> bool:
        """Take a record in; False where it is not newer than what is known. `now_seconds` of a clock that only grows
        says when a deletion was heard of.

        Raises InputError, and changes nothing, for one that holds no document: where it would take the place of
        another, and always with `read_first`.
        """
        key, revision, value, is_read = record
        with self._changing:
            if self._gone:
                self._forget_gone(now_seconds)
            known = self._newest.told(key)
            if known is not None and revision <= known[0] and not self._is_broken(key):
                return False
            if (known is not None or read_first) and value is not None and not is_read:
                self._read(key, revision, value)
            if value is None:
                self._gone.append((now_seconds, key, revision))
            if self._sorted is not None:
                self._keep_sorted(self._sorted, key, self._newest.get(key) is not None, value is not None)
            return self._newest.take(key, revision, value)

    def revision(self, key: str) -> int | None:
        """The newest revision that is known of a document, be it that it is gone; None where nothing is."""
        return self._newest.revision(key)

    def at(self, key: str) -> ToolHealth | None:
        """The document under a `health_key`."""
        return next(iter(self._at((key,))), None)

    def raw(self, key: str) -> bytes | None:
        """The document under a key as it came; perhaps it is none."""
        return self._newest.get(key)

    def find(self, tenant_id: str, scope: Scope, scope_id: str, tool_name: str) -> ToolHealth | None:
        """Exactly this document."""
        return self.at(health_key(tenant_id, scope, scope_id, tool_name))

    def of(self, caller: Caller, tool_name: str) -> list[ToolHealth]:
        """The documents that apply to the caller, narrowest first."""
        return self._at(caller.keys(tool_name))

    def nearest(self, caller: Caller, tool_name: str, now: datetime, policy: Policy) -> ToolHealth | None:
        """The document that speaks for the caller (`core.lookup.speaks_for`), else the narrowest that there is."""
        found = self.of(caller, tool_name)
        return speaks_for(found, now, policy) or next(iter(found), None)

    def keys_of(self, tenant_id: str, after: str, count: int) -> list[str]:
        """The next `count` keys of a tenant behind `after`, in their order."""
        prefix = tenant_prefix(tenant_id)
        with self._changing:
            keys = self._in_order()
            first = max(bisect_right(keys, after), bisect_left(keys, prefix))
            found = keys[first : first + count]
        return found[: bisect_left(found, prefix + _BEHIND_ALL_KEYS)]

    def tenants(self, count: int) -> list[str]:
        """The first `count` tenants that have a document, in the order of their keys."""
        found: list[str] = []
        with self._changing:
            keys = self._in_order()
            first = 0
            while first < len(keys) and len(found) < count:
                found.append(parts(keys[first])[0])
                first = bisect_left(keys, tenant_prefix(found[-1]) + _BEHIND_ALL_KEYS)
        return found

    def standing(self, tenant_id: str) -> list[Standing[str, bytes]]:
        """All documents of a tenant as they came, in the order of their keys; perhaps some are none."""
        told = ((key, self._newest.told(key)) for key in self.keys_of(tenant_id, "", len(self._newest)))
        return [Standing(key, one[0], one[1]) for key, one in told if one is not None and one[1] is not None]

    def differing_from(self, other: "HealthDocuments") -> list[str]:
        """The keys under which another revision stands here than there, or something in one of both only."""
        ours = {standing.key: standing.revision for standing in self._newest}
        theirs = {standing.key: standing.revision for standing in other._newest}
        return [key for key in {**theirs, **ours} if ours.get(key) != theirs.get(key)]

    def _in_order(self) -> list[str]:
        if self._sorted is None:
            self._sorted = sorted(standing.key for standing in self._newest)
        return self._sorted

    def _at(self, keys: Iterable[str]) -> list[ToolHealth]:
        """The documents under these keys that are there, in their order."""
        told = self._newest.told_of(keys)
        if not told:
            return []
        try:
            return [self._read(*one) for one in told]
        except InputError:
            return [document for one in told if (document := self._read_or_set_aside(*one)) is not None]

    def _read_or_set_aside(self, key: str, revision: int, value: bytes) -> ToolHealth | None:
        try:
            return self._read(key, revision, value)
        except InputError as error:
            self._set_aside(key, revision, error)
            return None

    def _is_broken(self, key: str) -> bool:
        """Whether what stands there is no document; then nothing stands there any more."""
        return self._newest.get(key) is not None and self.at(key) is None

    def _set_aside(self, key: str, revision: int, error: InputError) -> None:
        with self._changing:
            if self._newest.revision(key) == revision:
                self._newest.strike(key, revision)
                if self._sorted is not None:
                    self._keep_sorted(self._sorted, key, was_there=True, is_there=False)
                VIEW_SKIPPED.labels(error.reason).inc()
                log.warning("health_record_skipped", key=key, revision=revision, reason=str(error))

    @staticmethod
    def _keep_sorted(keys: list[str], key: str, was_there: bool, is_there: bool) -> None:
        if is_there and not was_there:
            insort(keys, key)
        elif was_there and not is_there:
            del keys[bisect_left(keys, key)]

    def _forget_gone(self, now_seconds: float) -> None:
        while self._gone and now_seconds - self._gone[0][0] >= GONE_FOR_SECONDS:
            _, key, revision = self._gone.popleft()
            self._newest.forget(key, revision)

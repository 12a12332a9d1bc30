"""Decides which documents of a tenant belong to a list, and reads no more of them than it has to.

The key tells scope and tool; and the text of a document that was written by us tells, unread, that it cannot be DOWN or
DEGRADED, and that it has no cooldown. What that leaves is read.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from agrajag.model.enums import Scope, Status
from agrajag.model.health import ToolHealth
from agrajag.model.keys import parts

MAX_SELECTED = 500
"""The longest page of a list."""

_SIGNS = {
    Status.DOWN: (b'"status":"DOWN"', b'"downSince":'),
    Status.DEGRADED: (b'"status":"DEGRADED"',),
}
_HAS_COOLDOWNS = b'"cooldowns":[{'


class Selection(NamedTuple):
    """A page of a list, in the order of keys. `next_after` is the key behind which the next page begins, if any."""

    documents: tuple[ToolHealth, ...]
    next_after: str | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which documents belong to a list; None and an empty text stand for all of them.

    `tool_part` is a part of the tool's name, in any case. `statuses` are those that a document may show, before
    anybody doubts it: whether it is believed is for whoever reads it to say. `seen` says of which scopes and ids the
    list may be at all.
    """

    scope: Scope | None = None
    scope_id: str | None = None
    tool_part: str = ""
    statuses: frozenset[Status] | None = None
    with_cooldowns: bool = False
    seen: Callable[[Scope, str], bool] | None = None

    def may_be(self, key: str, value: bytes) -> bool:
        """Whether the document under this key may belong to the list, by its key and by what its text holds."""
        return self._fits_key(key) and self._fits_text(value)

    def _fits_key(self, key: str) -> bool:
        if self.scope is None and self.scope_id is None and not self.tool_part and self.seen is None:
            return True
        _, scope, scope_id, tool_name = parts(key)
        return (
            (self.scope is None or scope == self.scope)
            and (self.scope_id is None or scope_id == self.scope_id)
            and (self.seen is None or self.seen(Scope(scope), scope_id))
            and self.tool_part.casefold() in tool_name.casefold()
        )

    def _fits_text(self, value: bytes) -> bool:
        if self.with_cooldowns and _HAS_COOLDOWNS not in value:
            return False
        if self.statuses is None or Status.OK in self.statuses:
            return True
        return any(sign in value for status in self.statuses for sign in _SIGNS[status])

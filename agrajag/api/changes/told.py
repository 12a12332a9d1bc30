"""A health document as of a revision, and what is said of it to those who may see it.

What is said depends on the moment and, where the document names users, on who hears it. It is written once for all who
are told the same, not once for each of a thousand connections.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeAlias

from agrajag.api.permissions import Act, Principal, Whose, may_see_scope, refusal
from agrajag.errors import InputError
from agrajag.model.enums import Scope
from agrajag.model.health import ToolHealth
from agrajag.model.keys import parts
from agrajag.model.reading import HealthReading
from agrajag.model.wire_model import Count, WireModel
from agrajag.view.listening import News
from agrajag.wire.health_records import read_health

Show: TypeAlias = Callable[[Principal, ToolHealth], HealthReading]
"""A document as of now, as the principal may see it."""

_FRESH = timedelta(seconds=5)
"""How long what was written is said again: a status may lapse by time alone."""

_MAX_VERSIONS = 8
_ALL = "all"
_ALL_BUT_USERS = "all but users"


class Gone(WireModel):
    """What is said of a document that was deleted."""

    key: str
    revision: Count


class Told:
    """One document as of one revision. `value` is None where it is gone."""

    __slots__ = ("_named", "_versions", "key", "revision", "scope", "scope_id", "tenant_id", "value")

    def __init__(self, news: News) -> None:
        self.key, self.revision, self.value = news
        self.tenant_id, self.scope, self.scope_id = _whose(news.key)
        self._named: frozenset[str] | None = None
        self._versions: dict[str, tuple[datetime, bytes]] = {}

    def may_be_told(self, principal: Principal) -> bool:
        """Whether the principal may hear of it at all."""
        if self.scope is None or not principal.belongs_to(self.tenant_id):
            return False
        return may_see_scope(principal, self.scope, self.scope_id)

    def data(self, principal: Principal, now: datetime, show: Show) -> bytes | None:
        """What `show` makes of it for the principal, or a `Gone`, as JSON in one line; None for a value that is none.

        It is as of `now`, or of a few seconds before, and the same for all whom the same may be shown.
        """
        if self.value is None:
            return Gone(key=self.key, revision=self.revision).to_json()
        if self._named is not None:
            written = self._versions.get(self._version(principal))
            if written is not None and now - written[0] < _FRESH:
                return written[1]
        try:
            document = read_health(self.key, self.revision, self.value)
        except InputError:
            return None  # the view finds out by itself, and counts it
        self._named = _named(document)
        data = show(principal, document).to_json()
        if len(self._versions) >= _MAX_VERSIONS:
            self._versions.clear()
        self._versions[self._version(principal)] = now, data
        return data

    def _version(self, principal: Principal) -> str:
        """The same for all who are told the same."""
        if refusal(principal, Act.READ_HEALTH, Whose.ANOTHERS) is None:
            return _ALL
        return f"={principal.user}" if principal.user in (self._named or ()) else _ALL_BUT_USERS


def _whose(key: str) -> tuple[str, Scope | None, str]:
    """Tenant, scope and scope id; no scope for what is no key of a document."""
    try:
        tenant_id, scope, scope_id, _ = parts(key)
        return tenant_id, Scope(scope), scope_id
    except ValueError:
        return "", None, ""


def _named(document: ToolHealth) -> frozenset[str]:
    users = {cooldown.user_id for cooldown in document.cooldowns}
    if document.last_diagnosis is not None:
        users.add(document.last_diagnosis.user_id)
    return frozenset(user for user in users if user is not None)

"""Events of connections applied one after the other to a table in a dictionary, for tests of what they do."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from agrajag.core.drafts import Drafts
from agrajag.core.link import Linked, link
from agrajag.core.policy import Policy
from agrajag.core.verdicts import Arrival, Repeat
from agrajag.model.enums import LinkEffect, LinkKind, Scope
from agrajag.model.events import ToolLink
from agrajag.model.health import HealthEntry, LinkFacet, ToolHealth
from agrajag.model.keys import health_key
from tests.builders import NOW


def a_tool_link(**overrides: Any) -> ToolLink:
    """The only connection of the MCP link that carries `search` came up."""
    given: dict[str, Any] = {
        "link_event_id": "tool-link-1",
        "occurred_at": NOW,
        "kind": LinkKind.MCP_CONNECTED,
        "tenant_id": "acme",
        "scope": Scope.PROJECT,
        "scope_id": "essays",
        "tool_name": "search",
        "link_id": "mcp-search",
        "connection_id": "connection-1",
        "seq": 1,
    }
    return ToolLink(**(given | overrides))


class Links:
    """One partition's documents. Every event gets the next offset and a step of its own."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.table: dict[str, HealthEntry] = {}
        self.policy = policy or Policy()
        self.offset = 0

    def arrival(self, event: ToolLink, at: datetime | None = None) -> Arrival[ToolLink]:
        """`event` as the next record, appended at `at` or when it happened."""
        self.offset += 1
        appended = at or event.occurred_at
        appended_ms = int(appended.timestamp() * 1000)
        return Arrival(event, event.link_event_id, "tool-links-0", self.offset, appended, appended_ms)

    def take(self, arrival: Arrival[ToolLink]) -> Linked | Repeat:
        drafts = Drafts(self.table.get)
        decided = link(arrival, drafts, self.policy)
        self.table.update({draft.key: draft.frozen() for draft in drafts.touched()})
        return decided

    def hear(self, kind: LinkKind, connection: str = "connection-1", **overrides: Any) -> LinkEffect:
        """One event of a connection; what it did."""
        event = a_tool_link(kind=kind, connection_id=connection, **overrides)
        decided = self.take(self.arrival(event))
        assert isinstance(decided, Linked)
        return decided.effect

    def entry(self, scope: Scope = Scope.PROJECT, scope_id: str = "essays") -> HealthEntry:
        return self.table[health_key("acme", scope, scope_id, "search")]

    def health(self, scope: Scope = Scope.PROJECT, scope_id: str = "essays") -> ToolHealth:
        """The document of the tool; it must exist."""
        health = self.entry(scope, scope_id).health
        assert health is not None
        return health

    def put(self, health: ToolHealth | None, **fields: Any) -> None:
        """Set the project's document as something else would have left it; None for one that is gone."""
        key = health_key("acme", Scope.PROJECT, "essays", "search")
        self.table[key] = HealthEntry(revision=health.revision if health else 1, health=health, **fields)


def facet_after(events: Iterable[ToolLink]) -> LinkFacet:
    """What the events amount to in a document of their own; the facet of none where they made no document."""
    links = Links()
    for event in events:
        links.take(links.arrival(event, NOW.replace(hour=23)))
    return links.health().link if links.table else LinkFacet()

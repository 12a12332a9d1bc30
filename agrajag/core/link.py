"""What it means for a tool that a connection came up or was closed (spec agrajag §4.2, §9).

No rule is asked: a tool is gone when the last connection that carried it was closed, and back with the next one. Of
each connection the event of the highest `seq` counts, not the last arrival, and a close counts only for a connection
that was heard to come up. So one of ten connections closing is no outage, the late close of an old one is nothing, and
neither order nor repetition of the events changes what they amount to. Verdict, override and cooldowns are never
touched.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from agrajag.core.draft import NO_LINK, Draft
from agrajag.core.drafts import Drafts
from agrajag.core.health import Marking, remembered
from agrajag.core.jobs import derived_id
from agrajag.core.lookup import CLIENT_TOOL_PREFIX
from agrajag.core.policy import Policy
from agrajag.core.redact import redacted_line
from agrajag.core.repeats import repeat_of
from agrajag.core.times import milliseconds
from agrajag.core.verdicts import Arrival, Repeat
from agrajag.model.enums import Classification, LinkEffect, LinkKind, Scope, Status
from agrajag.model.events import SystemEvent, ToolLink
from agrajag.model.health import MAX_CLOSED, MAX_CONNECTIONS, Connection, LinkFacet
from agrajag.model.keys import health_key
from agrajag.model.wire_model import MAX_CAUSE

_OPENS = frozenset({LinkKind.FOOT_CONNECTED, LinkKind.MCP_CONNECTED})
_FOOT = frozenset({LinkKind.FOOT_CONNECTED, LinkKind.FOOT_DISCONNECTED})
_MCP = frozenset({LinkKind.MCP_CONNECTED, LinkKind.MCP_CLOSED})
_BY = {Scope.SESSION: "ws-disconnect", Scope.PROJECT: "mcp-close"}


class Linked(NamedTuple):
    """What one event did to one tool. `forgotten`: how many open connections had no room any more."""

    effect: LinkEffect
    forgotten: int = 0


def scope_of(kind: LinkKind) -> Scope:
    """Whom a link of this kind concerns: a foot and its tools are one session's, an MCP connection is a project's."""
    return Scope.PROJECT if kind in _MCP else Scope.SESSION


def scope_id_of(event: SystemEvent) -> str:
    """The session or project that the event concerns; empty where it does not say which."""
    return (event.project_id if scope_of(event.kind) is Scope.PROJECT else event.session_id) or ""


def tools_of(event: SystemEvent) -> tuple[str, ...]:
    """Each tool that the event is about, once: a foot carries `client_` tools only, whatever it names."""
    names = dict.fromkeys(event.tool_names)
    if event.kind in _FOOT:
        return tuple(name for name in names if name.startswith(CLIENT_TOOL_PREFIX))
    return tuple(names)


def tool_links(event: SystemEvent, event_id: str, now: datetime) -> Iterator[ToolLink]:
    """What the event means for each of its tools; the same event gives the same records, ids included."""
    cause = None if event.cause is None else redacted_line(event.cause, MAX_CAUSE)
    for tool_name in tools_of(event):
        yield ToolLink(
            link_event_id=derived_id("link", event_id, tool_name),
            occurred_at=now,
            kind=event.kind,
            tenant_id=event.tenant_id,
            scope=scope_of(event.kind),
            scope_id=scope_id_of(event),
            tool_name=tool_name,
            link_id=event.link_id,
            connection_id=event.connection_id,
            seq=event.seq,
            cause=cause,
        )


def link(arrival: Arrival[ToolLink], drafts: Drafts, policy: Policy) -> Linked | Repeat:
    """Apply one event to the document of its tool.

    An event that says nothing new leaves the document untouched. A close alone makes no document come back that is
    gone.
    """
    event = arrival.event
    key = health_key(event.tenant_id, event.scope, event.scope_id, event.tool_name)
    draft = drafts.find(key)
    if draft is not None and (repeat := repeat_of(arrival, [draft])) is not None:
        return repeat
    # The agent `links` has held the event's time to its record's; how long it waited since then is no matter of it.
    now = milliseconds(min(event.occurred_at, arrival.appended_at))
    if event.kind is LinkKind.SESSION_ENDED:
        return _ended(arrival, draft, now)
    if draft is not None and not draft.stands and not _revives(draft, event, now):
        return Linked(LinkEffect.NOTHING)
    before = draft.link if draft is not None else NO_LINK
    known = _with(before.connections, _heard(event, now))
    after = _facet(known)
    forgotten = max(0, sum(one.is_open for one in known) - MAX_CONNECTIONS)
    if after == before:
        return Linked(LinkEffect.NOTHING, forgotten)
    draft = drafts.make(key)
    draft.link = after
    draft.touch(arrival.origin, arrival.offset, now, arrival.appended_ms)
    if event.kind in _OPENS and draft.ended_at is not None and now > draft.ended_at:
        draft.ended_at = None
    return Linked(_moved(draft, event.scope, before, after, policy), forgotten)


def joined(facet: LinkFacet, heard: Connection) -> LinkFacet:
    """`facet` with what was heard of one connection: the same whatever the order, however often it is told.

    Only beyond `MAX_CONNECTIONS` open connections, where the oldest is forgotten, or `MAX_CLOSED` closed ones can the
    order matter.
    """
    return _facet(_with(facet.connections, heard))


def _revives(draft: Draft, event: ToolLink, now: datetime) -> bool:
    """Whether the event brings back a document that is gone: a connection that came up after that."""
    if event.kind not in _OPENS or draft.is_deleted_since(now):
        return False
    return draft.ended_at is None or now > draft.ended_at


def _ended(arrival: Arrival[ToolLink], draft: Draft | None, now: datetime) -> Linked:
    """The session is over, unless it is known to have gone on: what was kept for it may go."""
    if draft is None or not draft.stands or (draft.ended_at is not None and now <= draft.ended_at):
        return Linked(LinkEffect.NOTHING)
    if any(one.is_open and one.at > now for one in draft.link.connections):
        return Linked(LinkEffect.NOTHING)
    draft.ended_at = now
    draft.touch(arrival.origin, arrival.offset, now, arrival.appended_ms)
    return Linked(LinkEffect.ENDED)


def _heard(event: ToolLink, now: datetime) -> Connection:
    opens = event.kind in _OPENS
    return Connection(
        link_id=event.link_id,
        connection_id=event.connection_id,
        seq=event.seq,
        at=now,
        is_open=opens,
        was_open=opens,
        cause=event.cause,
    )


def _with(connections: Iterable[Connection], heard: Connection) -> list[Connection]:
    """The connections with the newer of what was known and what was heard of one of them; a close wins a tie."""
    known = {(one.link_id, one.connection_id): one for one in connections}
    key = heard.link_id, heard.connection_id
    before = known.get(key)
    if before is not None:
        newest = max(before, heard, key=lambda one: (one.seq, not one.is_open))
        heard = newest.with_changes(was_open=before.was_open or heard.was_open)
    known[key] = heard
    return list(known.values())


def _facet(connections: Iterable[Connection]) -> LinkFacet:
    """The facet of these connections in one order, the newest first."""
    newest_first = sorted(connections, key=lambda one: (one.at, one.link_id, one.connection_id), reverse=True)
    opened = [one for one in newest_first if one.is_open][:MAX_CONNECTIONS]
    closed = [one for one in newest_first if not one.is_open]
    last = next((one for one in closed if one.was_open), None)
    if last is None:
        return LinkFacet(connections=(*opened, *closed[:MAX_CLOSED]))
    # The close that took the tool down stays, whatever closes without a beginning have come since.
    others = [one for one in closed if one is not last]
    kept = (*opened, last, *others[: MAX_CLOSED - 1])
    if opened:
        return LinkFacet(connections=kept)
    return LinkFacet(connections=kept, down_since=last.at, cause=last.cause)


def _moved(draft: Draft, scope: Scope, before: LinkFacet, after: LinkFacet, policy: Policy) -> LinkEffect:
    """What the change of the facet amounts to; only that a tool went down is history."""
    if before.down_since is None and after.down_since is not None:
        marking = Marking(Status.DOWN, Classification.TECHNICALLY_BROKEN, None, after.cause, _BY[scope])
        draft.history = remembered(draft.history, marking, after.down_since, policy)
        return LinkEffect.WENT_DOWN
    if before.down_since is not None and after.down_since is None:
        return LinkEffect.CAME_BACK
    return LinkEffect.NOTED

"""Connections that come and go: when a tool is down, and what order, delay and repetition may not change."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.drafts import Drafts
from agrajag.core.link import Linked, link
from agrajag.core.policy import Policy
from agrajag.core.verdicts import Repeat
from agrajag.model.enums import Classification, LinkEffect, LinkKind, Scope, Status
from agrajag.model.events import ToolLink
from agrajag.model.health import MAX_CLOSED, MAX_CONNECTIONS, OverrideFacet
from tests.builders import NOW, a_cooldown, a_health
from tests.core.linking import Links, a_tool_link, facet_after

UP, CLOSED = LinkKind.MCP_CONNECTED, LinkKind.MCP_CLOSED
FOOT_UP, FOOT_GONE, ENDED = LinkKind.FOOT_CONNECTED, LinkKind.FOOT_DISCONNECTED, LinkKind.SESSION_ENDED


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def test_a_tool_is_down_since_its_only_connection_was_closed_and_back_with_the_next() -> None:
    links = Links()
    assert links.hear(UP, occurred_at=at(0)) is LinkEffect.NOTED
    assert links.health().status is Status.OK
    assert links.hear(CLOSED, seq=2, occurred_at=at(1), cause="reset") is LinkEffect.WENT_DOWN
    health = links.health()
    assert (health.status, health.link.down_since, health.link.cause) == (Status.DOWN, at(1), "reset")
    assert links.hear(UP, "connection-2", occurred_at=at(2)) is LinkEffect.CAME_BACK
    health = links.health()
    assert (health.status, health.link.down_since, health.link.cause) == (Status.OK, None, None)


def test_one_of_ten_connections_that_closes_is_no_outage_and_the_last_of_them_is() -> None:
    links = Links()
    for number in range(10):
        links.hear(UP, f"pod-{number}")
    effects = [links.hear(CLOSED, f"pod-{number}", seq=2) for number in range(10)]
    assert effects == [LinkEffect.NOTED] * 9 + [LinkEffect.WENT_DOWN]


def test_the_late_close_of_an_old_connection_is_nothing_to_its_tool() -> None:
    links = Links()
    links.hear(UP, "old")
    links.hear(UP, "new", occurred_at=at(1))
    links.hear(CLOSED, "old", seq=2, occurred_at=at(2))
    assert links.health().status is Status.OK
    assert links.hear(CLOSED, "old", seq=2, occurred_at=at(2)) is LinkEffect.NOTHING


def test_the_close_of_a_connection_that_nobody_heard_come_up_marks_nothing() -> None:
    links = Links()
    assert links.hear(CLOSED, seq=2) is LinkEffect.NOTED
    assert links.health().status is Status.OK
    assert links.health().history == ()


def test_a_connection_whose_beginning_comes_after_its_close_is_closed() -> None:
    links = Links()
    links.hear(CLOSED, seq=2, occurred_at=at(5), cause="reset")
    assert links.hear(UP, seq=1, occurred_at=at(0)) is LinkEffect.WENT_DOWN
    assert (links.health().link.down_since, links.health().link.cause) == (at(5), "reset")
    assert links.health().history[0].at == at(5)


def test_connections_of_two_links_with_one_name_are_two() -> None:
    links = Links()
    links.hear(UP, "1", link_id="one")
    links.hear(UP, "1", link_id="other")
    links.hear(CLOSED, "1", link_id="one", seq=2)
    assert links.health().status is Status.OK


def test_a_reconnect_undoes_the_close_and_nothing_else() -> None:
    links = Links()
    known = a_health(
        status=Status.DEGRADED,
        override=OverrideFacet(status=Status.OK, reason="we know", by="bob", at=NOW),
        cooldowns=(a_cooldown(),),
        last_success_at=NOW,
    )
    links.put(known, handled_command_ids=("command-1",))
    links.hear(UP)
    before = links.health()
    links.hear(CLOSED, seq=2, occurred_at=at(1))
    assert links.health().verdict == known.verdict
    links.hear(UP, seq=3, occurred_at=at(2))
    apart = {"revision", "updated_at", "link", "history"}
    assert links.health().model_dump(exclude=apart) == before.model_dump(exclude=apart)
    assert links.health().link.down_since is None
    assert links.entry().handled_command_ids == ("command-1",)


def test_what_a_person_says_stands_before_a_closed_connection() -> None:
    links = Links()
    links.put(a_health(override=OverrideFacet(status=Status.OK, reason="we know", by="bob", at=NOW)))
    links.hear(UP)
    links.hear(CLOSED, seq=2)
    assert links.health().status is Status.OK


@pytest.mark.parametrize(
    ("scope", "up", "closed", "by"),
    [(Scope.SESSION, FOOT_UP, FOOT_GONE, "ws-disconnect"), (Scope.PROJECT, UP, CLOSED, "mcp-close")],
)
def test_history_tells_each_loss_and_counts_those_of_a_flapping_connection_in_one_entry(
    scope: Scope, up: LinkKind, closed: LinkKind, by: str
) -> None:
    links = Links()
    for turn in range(3):
        links.hear(up, scope=scope, seq=2 * turn, occurred_at=at(2 * turn))
        links.hear(closed, scope=scope, seq=2 * turn + 1, occurred_at=at(2 * turn + 1), cause="1006")
    (entry,) = links.health(scope).history
    assert (entry.status, entry.classification, entry.by) == (
        Status.DOWN,
        Classification.TECHNICALLY_BROKEN,
        by,
    )
    assert (entry.note, entry.count, entry.at, entry.last_at) == ("1006", 3, at(1), at(5))
    assert entry.expected_recovery_at is None


def test_history_is_no_longer_than_the_tenant_wants() -> None:
    links = Links(Policy(history_size=2))
    for turn in range(5):
        links.hear(UP, seq=2 * turn)
        links.hear(CLOSED, seq=2 * turn + 1, cause=f"cause {turn}")
    assert [entry.note for entry in links.health().history] == ["cause 4", "cause 3"]


def test_the_same_record_twice_is_told_as_a_repeat_and_changes_nothing() -> None:
    links = Links()
    links.hear(UP)
    arrival = links.arrival(a_tool_link(kind=CLOSED, seq=2, occurred_at=at(1)))
    links.take(arrival)
    entry = links.entry()
    decided = links.take(arrival)
    assert isinstance(decided, Repeat)
    assert decided.keys == ("acme|PROJECT|essays|search",)
    assert links.entry() == entry


def test_an_event_that_comes_again_as_another_record_leaves_the_document_untouched() -> None:
    links = Links()
    events = [a_tool_link(), a_tool_link(kind=CLOSED, seq=2), a_tool_link(seq=3)]
    for event in events:
        links.take(links.arrival(event))
    entry = links.entry()
    assert [links.take(links.arrival(event)) for event in events] == [Linked(LinkEffect.NOTHING)] * 3
    assert links.entry() == entry


def test_an_event_cannot_be_later_than_its_record() -> None:
    links = Links()
    links.hear(UP)
    links.take(links.arrival(a_tool_link(kind=CLOSED, seq=2, occurred_at=at(9_999)), at(3)))
    assert links.health().link.down_since == at(3)


def test_one_more_connection_than_fits_forgets_the_oldest_and_says_so() -> None:
    links = Links()
    for number in range(MAX_CONNECTIONS):
        links.hear(UP, f"pod-{number}", occurred_at=at(number))
    more = links.take(links.arrival(a_tool_link(connection_id="one-more", occurred_at=at(999))))
    assert more == Linked(LinkEffect.NOTED, forgotten=1)
    known = {one.connection_id for one in links.health().link.connections}
    assert len(known) == MAX_CONNECTIONS
    assert known >= {"one-more", "pod-1"}
    assert "pod-0" not in known


def test_closes_without_a_beginning_never_push_out_the_one_that_took_the_tool_down() -> None:
    links = Links()
    links.hear(UP)
    links.hear(CLOSED, seq=2, occurred_at=at(1), cause="the real one")
    for number in range(3 * MAX_CLOSED):
        links.hear(CLOSED, f"unknown-{number}", occurred_at=at(10 + number))
    health = links.health()
    assert (health.status, health.link.cause) == (Status.DOWN, "the real one")
    assert len(health.link.connections) == MAX_CLOSED


def test_the_end_of_a_session_is_noted_on_the_document_that_it_has() -> None:
    links = Links()
    session: dict[str, Any] = {"scope": Scope.SESSION, "link_id": "foot"}
    assert links.hear(ENDED, **session) is LinkEffect.NOTHING
    assert links.table == {}
    links.hear(FOOT_UP, **session)
    links.hear(FOOT_GONE, seq=2, occurred_at=at(1), **session)
    assert links.hear(ENDED, seq=3, occurred_at=at(2), **session) is LinkEffect.ENDED
    assert links.hear(ENDED, seq=3, occurred_at=at(2), **session) is LinkEffect.NOTHING
    assert links.entry(Scope.SESSION).ended_at == at(2)
    assert links.health(Scope.SESSION).status is Status.DOWN


def test_a_session_that_is_connected_after_its_end_goes_on_whatever_comes_first() -> None:
    session: dict[str, Any] = {"scope": Scope.SESSION, "link_id": "foot"}
    ended: dict[str, Any]
    ended, again = {"seq": 2, "occurred_at": at(2)}, {"occurred_at": at(3)}
    links = Links()
    links.hear(FOOT_UP, **session)
    links.hear(ENDED, **session, **ended)
    links.hear(FOOT_UP, "again", **session, **again)
    assert links.entry(Scope.SESSION).ended_at is None
    assert links.hear(ENDED, **session, **ended) is LinkEffect.NOTHING
    assert links.entry(Scope.SESSION).ended_at is None


def test_only_a_connection_after_its_end_brings_back_a_document_that_is_gone() -> None:
    links = Links()
    links.put(None, ended_at=at(5))
    assert links.hear(CLOSED, seq=9, occurred_at=at(9)) is LinkEffect.NOTHING
    assert links.hear(UP, seq=1, occurred_at=at(4)) is LinkEffect.NOTHING
    assert links.entry().health is None
    assert links.hear(UP, seq=1, occurred_at=at(6)) is LinkEffect.NOTED
    assert links.health().link.down_since is None
    assert links.entry().ended_at is None


def test_two_events_of_one_step_are_applied_to_one_draft() -> None:
    links = Links()
    drafts = Drafts(links.table.get)
    for event in (a_tool_link(), a_tool_link(kind=CLOSED, seq=2)):
        link(links.arrival(event), drafts, Policy())
    (draft,) = drafts.touched()
    health = draft.frozen().health
    assert health is not None
    assert health.status is Status.DOWN


def test_only_a_connection_after_a_person_has_deleted_a_document_brings_it_back() -> None:
    links = Links()
    links.put(None, commanded_at=at(5))
    assert links.hear(UP, seq=1, occurred_at=at(5)) is LinkEffect.NOTHING
    assert links.hear(CLOSED, seq=2, occurred_at=at(6)) is LinkEffect.NOTHING
    assert links.entry().health is None
    assert links.hear(UP, seq=3, occurred_at=at(6)) is LinkEffect.NOTED
    assert links.health().status is Status.OK


_SEQS = st.lists(st.booleans(), min_size=1, max_size=8)


@st.composite
def lives(draw: st.DrawFn, connections: tuple[str, ...] = ("a", "b", "c")) -> list[ToolLink]:
    """Events of some connections, each with a growing seq, in any order and some of them twice."""
    events = []
    for connection in connections:
        for seq, opens in enumerate(draw(_SEQS)):
            moment = at(draw(st.integers(0, 3_000)))
            kind = UP if opens else CLOSED
            events.append(a_tool_link(kind=kind, connection_id=connection, seq=seq, occurred_at=moment))
    return events


@given(lives(), st.data())
def test_neither_order_nor_repetition_of_events_changes_what_they_amount_to(
    events: list[ToolLink], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(events))
    again = data.draw(st.lists(st.sampled_from(events), max_size=5))
    assert facet_after([*shuffled, *again]) == facet_after(events)


@given(lives(("a",)))
def test_the_event_of_the_highest_seq_says_whether_a_connection_is_open(events: list[ToolLink]) -> None:
    facet = facet_after(events)
    last = events[-1]
    is_open = last.kind is UP
    (connection,) = facet.connections
    assert (connection.is_open, connection.seq, connection.at) == (is_open, last.seq, last.occurred_at)
    was_open = any(event.kind is UP for event in events)
    assert facet.down_since == (last.occurred_at if was_open and not is_open else None)


@given(st.permutations(["a", "b"]), st.permutations([0, 1]))
def test_two_connections_that_close_in_any_order_leave_the_tool_down_since_the_later(
    order: list[str], seconds: list[int]
) -> None:
    opened = [a_tool_link(connection_id=name) for name in "ab"]
    closes = [
        a_tool_link(kind=CLOSED, connection_id=name, seq=2, occurred_at=at(1 + second))
        for name, second in zip(order, seconds, strict=True)
    ]
    assert facet_after([*opened, *closes]).down_since == at(2)
    assert facet_after([*opened, closes[0]]).down_since is None

"""What the event of one link means for each of its tools."""

import pytest

from agrajag.core.link import scope_id_of, tool_links, tools_of
from agrajag.model.enums import LinkKind, Scope
from tests.builders import NOW, a_system_event

UP, CLOSED = LinkKind.MCP_CONNECTED, LinkKind.MCP_CLOSED
FOOT_UP, FOOT_GONE, ENDED = LinkKind.FOOT_CONNECTED, LinkKind.FOOT_DISCONNECTED, LinkKind.SESSION_ENDED


def test_an_event_becomes_one_record_for_each_tool_with_the_same_id_each_time() -> None:
    event = a_system_event(tool_names=("b", "a", "b"), cause="closed", kind=CLOSED)
    first, again = (list(tool_links(event, "event-1", NOW)) for _ in range(2))
    assert first == again
    assert [one.tool_name for one in first] == ["b", "a"]
    other = next(tool_links(event, "event-2", NOW))
    assert len({one.link_event_id for one in (*first, other)}) == 3
    assert {(one.scope, one.scope_id, one.seq, one.cause) for one in first} == {
        (Scope.PROJECT, "essays", 1, "closed")
    }


def test_five_hundred_tools_with_separators_in_their_names_stay_themselves() -> None:
    names = tuple(f"a|{'%' * (number % 3)}b{number}|" for number in range(500))
    links = list(tool_links(a_system_event(tool_names=names), "event|1", NOW))
    assert tuple(one.tool_name for one in links) == names
    assert len({one.link_event_id for one in links}) == 500


@pytest.mark.parametrize(
    ("kind", "tools"),
    [
        (FOOT_UP, ("client_files",)),
        (FOOT_GONE, ("client_files",)),
        (UP, ("search", "client_files")),
        (CLOSED, ("search", "client_files")),
        (ENDED, ("search", "client_files")),
    ],
)
def test_a_foot_carries_the_tools_of_a_client_only(kind: LinkKind, tools: tuple[str, ...]) -> None:
    assert tools_of(a_system_event(kind=kind, tool_names=("search", "client_files"))) == tools


@pytest.mark.parametrize(
    ("kind", "scope_id"),
    [(FOOT_UP, "s1"), (FOOT_GONE, "s1"), (ENDED, "s1"), (UP, "essays"), (CLOSED, "essays")],
)
def test_a_foot_concerns_a_session_and_an_mcp_connection_a_project(kind: LinkKind, scope_id: str) -> None:
    assert scope_id_of(a_system_event(kind=kind, session_id="s1")) == scope_id
    assert scope_id_of(a_system_event(kind=kind, session_id=None, project_id=None)) == ""


def test_a_secret_in_the_cause_goes_no_further_and_the_cause_stays_one_line() -> None:
    event = a_system_event(cause="closed\nAuthorization: Bearer abcdefghijklmnopqrstuvwxyz123456")
    (one,) = tool_links(event, "event-1", NOW)
    assert one.cause is not None
    assert "abcdefghijklmnop" not in one.cause
    assert "\n" not in one.cause

"""The demo's links: what each step claims to do is what it does, and a document that is otherwise is told."""

from collections.abc import Iterable

from agrajag.cli.demo.links import LinkBooks, LinkStep, bundled_link_steps, documents_of, not_as_expected
from agrajag.core.link import tool_links, tools_of
from agrajag.model.events import SystemEvent
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key
from agrajag.wire.codec import decode
from tests.builders import NOW, a_health
from tests.cli.records import Received
from tests.core.linking import Links

STEPS = bundled_link_steps()


def documents_after(steps: Iterable[LinkStep]) -> dict[str, ToolHealth]:
    """What the events of the steps make of an empty table."""
    links = Links()
    for line in steps:
        event = line.happened(NOW)
        for one in tool_links(event, event.event_id or "", NOW):
            links.take(links.arrival(one))
    return {key: entry.health for key, entry in links.table.items() if entry.health is not None}


def test_every_event_is_a_good_record_about_all_the_tools_that_it_names() -> None:
    for line in STEPS:
        event = decode(SystemEvent, Received(line.happened(NOW).to_json(), b"key"))
        assert tools_of(event) == event.tool_names
        assert event.occurred_at == NOW
    assert len({line.happened(NOW).event_id for line in STEPS}) == len(STEPS)


def test_every_step_does_what_it_claims() -> None:
    names = list(dict.fromkeys(line.step for line in STEPS))
    assert names == ["come up", "are closed", "come back"]
    for last in names:
        until = [line for line in STEPS if names.index(line.step) <= names.index(last)]
        expected = {key: line.down for line in until for key in documents_of(line.happened(NOW))}
        assert not_as_expected(expected, documents_after(until)) == []


def test_some_tools_go_down_some_of_them_come_back_and_one_of_two_connections_is_no_outage() -> None:
    down = {
        name: {
            health.tool_name
            for health in documents_after(line for line in STEPS if line.step in names).values()
            if health.link.down_since is not None
        }
        for name, names in {
            "closed": {"come up", "are closed"},
            "back": {"come up", "are closed", "come back"},
        }.items()
    }
    assert down == {
        "closed": {"client_file_read", "client_file_write", "wine_cellar"},
        "back": {"wine_cellar"},
    }


def test_a_document_that_is_missing_or_otherwise_is_told() -> None:
    key = health_key("acme", a_health().scope, "essays", "search")
    (opened,) = documents_after([STEPS[3]]).values()
    closed = opened.with_changes(link=opened.link.with_changes(down_since=NOW))
    assert not_as_expected({key: False}, {key: opened}) == not_as_expected({key: True}, {key: closed}) == []
    assert not_as_expected({key: True}, {key: opened}) == [f"the link of {key} is up, should be down"]
    assert not_as_expected({key: False}, {key: closed}) == [f"the link of {key} is down, should be up"]
    for documents in ({}, {key: a_health()}):
        assert not_as_expected({key: True}, documents) == [f"the link of {key} is unknown, should be down"]


def test_the_books_of_links_are_one_line() -> None:
    assert str(LinkBooks(3, 2, ())) == "tools that went down with their connection: 3, came back with one: 2"

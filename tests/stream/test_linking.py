"""The two agents of connections over raw records: what each record becomes, and which become dead letters."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, TypeVar

import pytest
from aiokafka import ConsumerRecord

from agrajag.model.enums import LinkKind, Scope, Status
from agrajag.model.events import SystemEvent, ToolLink
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key, link_key, tool_key
from agrajag.model.wire_model import WireModel
from agrajag.stream.deciding import Attempt, Deciding
from agrajag.stream.linking import MAX_TOOL_LINKS, LinkAttempt, LinksAttempt
from agrajag.wire.outputs import Output
from agrajag.wire.partition import partition_for
from agrajag.wire.topics import Topic
from tests.builders import NOW, a_system_event
from tests.core.linking import a_tool_link
from tests.stream.test_triaging import TOPICS, Partition, counted, of

FOOT: dict[str, Any] = {
    "kind": LinkKind.FOOT_CONNECTED,
    "session_id": "s1",
    "link_id": "foot",
    "tool_names": ("client_files",),
}

Model = TypeVar("Model", bound=WireModel)


class Linking(Partition):
    """One partition of the topic of one of the two agents."""

    def __init__(self, attempt: type[Attempt[Any]], key: str) -> None:
        super().__init__()
        self.topic = attempt.source
        self.number = partition_for(key.encode(), TOPICS.partitions)
        self.step = Deciding(self.around, attempt)

    def record(self, value: bytes | None, at: datetime = NOW) -> ConsumerRecord:
        record = super().record(value, at)
        record.topic = TOPICS.name(self.topic)
        return record

    def told(self, *events: WireModel) -> list[ConsumerRecord]:
        """The next records of the partition."""
        return [self.record(event.to_json()) for event in events]

    def letters(self, value: bytes) -> list[tuple[bytes, bytes]]:
        """Reason and detail of the dead letters that a record with this value becomes."""
        outputs = self.run([self.record(value)])
        assert {output.topic for output in outputs} <= {TOPICS.dead_letters(self.topic)}
        headers = [dict(output.headers) for output in outputs]
        return [(found["agrajag-dlq-reason"], found["agrajag-dlq-detail"]) for found in headers]


def links_partition(event: SystemEvent | None = None) -> Linking:
    event = event or a_system_event()
    return Linking(LinksAttempt, link_key(event.tenant_id, event.link_id))


def link_partition() -> Linking:
    return Linking(LinkAttempt, tool_key("acme", "search"))


def values(topic: Topic, model: type[Model], outputs: Iterable[Output]) -> list[Model]:
    """What went to a topic."""
    return [model.from_json(output.value or b"") for output in of(topic, outputs)]


def test_an_event_becomes_a_record_under_the_key_of_each_tool_and_the_same_again_when_repeated() -> None:
    partition = links_partition()
    records = partition.told(a_system_event(tool_names=("search", "a|b")))
    outputs = partition.run(records)
    assert [output.key for output in outputs] == [b"acme|search", b"acme|a%7Cb"]
    assert [one.tool_name for one in values(Topic.TOOL_LINKS, ToolLink, outputs)] == ["search", "a|b"]
    assert dict(outputs[0].headers)["ce_type"] == b"agrajag.tool-link.v1"
    assert partition.run(records) == outputs
    assert len(partition.memory) == 0


@pytest.mark.parametrize(
    ("event", "reason", "told"),
    [
        ({"project_id": None}, b"missing_field", b"projectId: mcp_closed is about a PROJECT"),
        ({**FOOT, "session_id": None}, b"missing_field", b"sessionId: foot_connected is about a SESSION"),
        (
            {**FOOT, "tool_names": ("search",)},
            b"invalid_field",
            b"toolNames: none that foot_connected is about",
        ),
    ],
)
def test_an_event_that_does_not_say_whom_or_what_it_concerns_is_a_dead_letter(
    event: dict[str, Any], reason: bytes, told: bytes
) -> None:
    given = a_system_event(**event)
    ((found, text),) = links_partition(given).letters(given.to_json())
    assert found == reason
    assert told in text


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        (b'["search"]', b"[]", b"invalid_field"),
        (b',"toolNames":["search"]', b"", b"missing_field"),
        (b'["search"]', b'["%s"]' % b'","'.join(b"t%d" % n for n in range(501)), b"invalid_field"),
        (b'["search"]', b'["sea\\u0000rch"]', b"invalid_field"),
        (b"mcp_closed", b"mcp_exploded", b"invalid_field"),
        (b'"seq":1', b'"seq":-1', b"invalid_field"),
    ],
    ids=["no tools", "no list of tools", "501 tools", "a control character", "unknown kind", "seq below 0"],
)
def test_a_malformed_event_is_a_dead_letter(before: bytes, after: bytes, reason: bytes) -> None:
    value = a_system_event().to_json()
    assert before in value
    ((found, _),) = links_partition().letters(value.replace(before, after))
    assert found == reason


def test_names_that_a_foot_cannot_carry_are_dropped_and_counted() -> None:
    event = a_system_event(**FOOT | {"tool_names": ("client_files", "search", "search")})
    partition = links_partition(event)
    before = counted("agrajag_repairs_total", kind="tool_names_dropped")
    (one,) = values(Topic.TOOL_LINKS, ToolLink, partition.run(partition.told(event)))
    assert (one.tool_name, one.scope, one.scope_id) == ("client_files", Scope.SESSION, "s1")
    assert counted("agrajag_repairs_total", kind="tool_names_dropped") - before == 1


def test_a_user_of_any_name_in_an_event_is_nobody() -> None:
    partition = links_partition()
    value = a_system_event().to_json().replace(b'"seq"', b'"userId":"_system","seq"')
    assert partition.run([partition.record(value)]) == partition.run(partition.told(a_system_event()))


def test_events_of_many_tools_go_out_in_several_steps() -> None:
    partition = links_partition()
    names = tuple(f"tool-{number}" for number in range(500))
    records = partition.told(*(a_system_event(event_id=f"e{n}", tool_names=names) for n in range(90)))
    handled, sent = [], 0
    while records:
        result = partition.take(records)
        assert len(result.outputs) <= MAX_TOOL_LINKS
        handled.append(result.handled)
        sent += len(result.outputs)
        records = records[result.handled :]
    assert (handled, sent) == ([40, 40, 10], 90 * 500)


def test_an_event_on_the_wrong_partition_is_sent_on_under_the_key_of_its_link() -> None:
    partition = links_partition()
    elsewhere = next(
        name for name in map(str, range(99)) if partition_for(f"acme|{name}".encode(), 4) != partition.number
    )
    (copy,) = partition.run(partition.told(a_system_event(link_id=elsewhere)))
    assert (copy.topic, copy.key) == (TOPICS.name(Topic.SYSTEM_EVENTS), f"acme|{elsewhere}".encode())


def test_a_record_of_a_tool_changes_its_document_and_each_effect_is_counted() -> None:
    partition = link_partition()
    effects = ("NOTED", "WENT_DOWN", "CAME_BACK", "NOTHING")
    before = {effect: counted("agrajag_links_total", effect=effect) for effect in effects}
    opened, closed = a_tool_link(), a_tool_link(kind=LinkKind.MCP_CLOSED, seq=2)
    for event, status in ((opened, Status.OK), (closed, Status.DOWN), (a_tool_link(seq=3), Status.OK)):
        (health,) = values(Topic.HEALTH_CHANGED, ToolHealth, partition.run(partition.told(event)))
        assert health.status is status
    assert partition.run(partition.told(closed)) == []
    after = {effect: counted("agrajag_links_total", effect=effect) - before[effect] for effect in effects}
    assert after == dict.fromkeys(effects, 1)


def test_a_repeated_record_publishes_the_standing_document_again() -> None:
    partition = link_partition()
    records = partition.told(a_tool_link(), a_tool_link(kind=LinkKind.MCP_CLOSED, seq=2))
    first = partition.run(records)
    before = counted("agrajag_repeats_total", topic="tool-links")
    assert partition.run(records) == first
    assert counted("agrajag_repeats_total", topic="tool-links") - before == 2
    key = health_key("acme", Scope.PROJECT, "essays", "search").encode()
    entry = partition.memory.view(partition.number).get(key)
    assert entry is not None
    assert list(entry.applied.values()) == [2]


def test_a_connection_beyond_the_cap_is_counted() -> None:
    partition = link_partition()
    before = counted("agrajag_connections_forgotten_total")
    partition.run(partition.told(*(a_tool_link(connection_id=f"pod-{n}") for n in range(102))))
    assert counted("agrajag_connections_forgotten_total") - before == 2


@pytest.mark.parametrize(
    "given",
    [
        {"scope": Scope.SESSION, "scope_id": "s1"},
        {"scope": Scope.USER, "scope_id": "_system"},
        {"scope_id": ""},
        {"kind": LinkKind.FOOT_DISCONNECTED},
    ],
)
def test_a_record_about_another_scope_than_its_kind_is_a_dead_letter(given: dict[str, Any]) -> None:
    ((reason, _),) = link_partition().letters(a_tool_link(**given).to_json())
    assert reason == b"invalid_field"

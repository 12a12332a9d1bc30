"""The view of a real topic: complete at the start, then following, whatever happens to the brokers."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest
from aiokafka import AIOKafkaProducer

from agrajag.core.lookup import Caller
from agrajag.embedded import EmbeddedKafka
from agrajag.errors import PermanentError, TransientError
from agrajag.metrics import VIEW_RECORDS, VIEW_SKIPPED
from agrajag.model.enums import Scope, Status
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key
from agrajag.service.health_reading import HealthReading
from agrajag.view import HealthView, ViewChange, Wanted
from agrajag.wire.clients import KafkaConnection, admin_client
from agrajag.wire.outputs import Output
from agrajag.wire.tombstones import tombstone
from agrajag.wire.topic_admin import ensure_topics
from agrajag.wire.topics import Topic, Topics
from tests.builders import NOW, a_health
from tests.waiting import eventually
from tests.wire.records import counting

ALICE = Caller("acme", "essays", "alice")


class Place:
    """The topic of one test."""

    def __init__(self, servers: str, prefix: str) -> None:
        self.connection = KafkaConnection(servers)
        self.topics = Topics(prefix, partitions=3)
        self.name = self.topics.name(Topic.HEALTH_CHANGED)

    async def made(self) -> "Place":
        async with admin_client(self.connection) as admin:
            await ensure_topics(admin, self.topics)
        return self

    def record(self, health: ToolHealth) -> Output:
        return Output(self.name, _key(health), health.to_json())

    def removal(self, health: ToolHealth, revision: int) -> Output:
        return tombstone(self.name, _key(health), revision)

    async def send(self, *outputs: Output) -> None:
        async with AIOKafkaProducer(**self.connection.producer_options()) as producer:
            for output in outputs:
                await producer.send_and_wait(
                    output.topic, output.value, output.key, headers=list(output.headers)
                )

    def view(self) -> HealthView:
        return HealthView(self.connection, self.topics, clock=lambda: NOW)


def _key(health: ToolHealth) -> bytes:
    return health_key(health.tenant_id, health.scope, health.scope_id, health.tool_name).encode()


def _id(number: int) -> tuple[str, Scope, str, str]:
    return "acme", Scope.PROJECT, "essays", f"tool-{number}"


class Told:
    """Remembers each change that it is told."""

    def __init__(self) -> None:
        self.changes: list[tuple[ToolHealth | None, ToolHealth | None, ViewChange]] = []

    def __call__(self, old: ToolHealth | None, new: ToolHealth | None, change: ViewChange) -> None:
        self.changes.append((old, new, change))

    def of(self, number: int) -> list[tuple[ToolHealth | None, ToolHealth | None]]:
        """What changed about one tool, in order."""
        key = _key(_tool(number)).decode()
        return [(old, new) for old, new, change in self.changes if change.key == key]


def _tool(number: int, revision: int = 1, status: Status = Status.DOWN) -> ToolHealth:
    return a_health(tool_name=f"tool-{number}", revision=revision, status=status)


def _found(view: HealthReading, number: int) -> ToolHealth | None:
    """Typed as the diagnosis knows it: a view that does not fit fails the type check."""
    found = view.find("acme", Scope.PROJECT, "essays", f"tool-{number}")
    near = view.nearest("acme", f"tool-{number}", project_id="essays", user_id="alice", session_id=None)
    assert found == near
    return found


@asynccontextmanager
async def running(view: HealthView) -> AsyncIterator[HealthView]:
    task = asyncio.create_task(view.run())
    try:
        yield view
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@pytest.fixture
async def place(kafka: EmbeddedKafka, topic_prefix: str) -> Place:
    return await Place(kafka.bootstrap_servers, topic_prefix).made()


async def test_all_that_stood_at_the_start_is_shown_and_then_each_change(place: Place) -> None:
    await place.send(*(place.record(_tool(number)) for number in range(20)))
    view = place.view()
    await view.start()
    assert [_found(view, number) for number in range(20)] == [_tool(number) for number in range(20)]
    with (
        counting(VIEW_RECORDS, result="stale") as stale,
        counting(VIEW_SKIPPED, reason="not_json") as skipped,
    ):
        async with running(view):
            await place.send(
                place.record(_tool(0, 3, Status.OK)),
                place.record(_tool(0, 2)),
                Output(place.name, _key(_tool(0)), b"{"),
                place.removal(_tool(1), 2),
                place.record(_tool(1, 1)),
                place.record(_tool(2, 2, Status.DEGRADED)),
            )
            await eventually(lambda: (stale(), skipped()) == (2, 1))
            await eventually(lambda: _found(view, 2) == _tool(2, 2, Status.DEGRADED))
            assert _found(view, 0) == _tool(0, 3, Status.OK)
            assert _found(view, 1) is None


async def test_questions_see_what_is_shown_and_each_change_of_it_is_told_and_can_be_waited_for(
    place: Place,
) -> None:
    await place.send(*(place.record(_tool(number)) for number in range(3)))
    view, told = place.view(), Told()
    assert (view.is_ready, view.status(ALICE, "tool-0")) == (False, Status.OK)
    await view.start()
    assert (view.is_ready, view.status(ALICE, "tool-0")) == (True, Status.DOWN)
    assert view.annotation(ALICE, "tool-0") == "Warning: currently unavailable, since 12:00 UTC"
    assert view.annotation(ALICE, "fetch") is None
    assert view.documents_of(ALICE, "tool-0") == [_tool(0)]
    leave = view.on_change(told)
    async with running(view):
        waiting = asyncio.create_task(view.at_least(*_id(2), 4, 60))
        await place.send(
            place.record(_tool(0, 2, Status.OK)),
            place.removal(_tool(1), 2),
            place.record(_tool(2, 2)),
            place.record(_tool(2, 4, Status.OK)),
        )
        assert await waiting
        assert await view.at_least(*_id(1), 2, 60), "it is gone as of this revision"
        assert not await view.at_least(*_id(1), 3, 0.001)
        await eventually(lambda: len(told.changes) == 4)
        leave()
        await place.send(place.record(_tool(0, 3)))
        assert await view.at_least(*_id(0), 3, 60)
    assert told.of(0) == [(_tool(0), _tool(0, 2, Status.OK))]
    assert told.of(1) == [(_tool(1), None)]
    assert told.of(2) == [(_tool(2), _tool(2, 2)), (_tool(2, 2), _tool(2, 4, Status.OK))]
    assert [change.revision for _, _, change in told.changes if change.key == _key(_tool(2)).decode()] == [
        2,
        4,
    ]


async def test_what_changed_before_the_topic_was_read_anew_is_told_when_it_is_shown(place: Place) -> None:
    await place.send(*(place.record(_tool(number)) for number in range(3)))
    view, told = place.view(), Told()
    await view.start()
    view.on_change(told)
    await place.send(place.record(_tool(0, 2)), place.removal(_tool(1), 2), place.record(_tool(3)))
    waiting = asyncio.create_task(view.at_least(*_id(3), 1, 60))
    await view.start()
    assert await waiting
    await view.start()
    assert told.of(0) == [(_tool(0), _tool(0, 2))]
    assert told.of(1) == [(_tool(1), None)]
    assert told.of(3) == [(None, _tool(3))]
    assert len(told.changes) == 3, "once, and nothing of what is as it was"


async def test_a_list_comes_page_by_page_and_holds_what_is_wanted_of_one_tenant(place: Place) -> None:
    statuses = [Status.DOWN, Status.OK, Status.DEGRADED]
    tools = [_tool(number, status=statuses[number % 3]) for number in range(9)]
    await place.send(
        *map(place.record, tools), place.record(a_health(tenant_id="globex", status=Status.DOWN))
    )
    view = place.view()
    await view.start()
    ill = Wanted(statuses=frozenset({Status.DOWN, Status.DEGRADED}), tool_part="TOOL")
    first = await view.select("acme", ill, limit=4)
    second = await view.select("acme", ill, after=first.next_after or "", limit=2)
    assert [health.tool_name[-1] for health in first.documents] == list("0235")
    assert (second.documents, second.next_after) == ((_tool(6), tools[8]), None)
    assert (await view.select("acme", limit=9)).documents == tuple(tools)
    assert (await view.select("acme", Wanted(scope=Scope.USER))).documents == ()


async def test_a_view_of_nothing_starts_and_a_topic_that_is_not_there_is_an_error(
    place: Place, topic_prefix: str
) -> None:
    await place.view().start()
    with pytest.raises(PermanentError, match="there is no topic"):
        await HealthView(place.connection, Topics(f"{topic_prefix}-none")).start()


@pytest.mark.slow  # a broker is started twice, and the client's own retries are waited for
async def test_brokers_that_go_away_and_come_back_are_waited_for_and_what_was_known_stays_shown(
    own_kafka: Callable[[], EmbeddedKafka], topic_prefix: str
) -> None:
    kafka = own_kafka()
    place = await Place(kafka.bootstrap_servers, topic_prefix).made()
    await place.send(place.record(_tool(0)))
    await place.send(place.record(_tool(2)))
    view, late, told = place.view(), place.view(), Told()
    await view.start()
    view.on_change(told)
    async with running(view):
        await asyncio.to_thread(kafka.kill)
        with pytest.raises(TransientError):
            await late.start()
        async with running(late):
            assert _found(view, 0) == _tool(0)
            await asyncio.to_thread(kafka.start)
            await place.send(place.record(_tool(0, 2)), place.record(_tool(1)), place.removal(_tool(2), 2))
            both = (view, late)
            await eventually(lambda: [_found(one, 1) for one in both] == [_tool(1), _tool(1)], 60)
            await eventually(lambda: [_found(one, 0) for one in both] == [_tool(0, 2), _tool(0, 2)], 60)
            await eventually(lambda: len(told.changes) == 3)
            assert told.of(0) == [(_tool(0), _tool(0, 2))], "told once, though the topic may be read anew"
            assert told.of(1) == [(None, _tool(1))]
            assert told.of(2) == [(_tool(2), None)]

"""The view of a real topic: complete at the start, then following, whatever happens to the brokers."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest
from aiokafka import AIOKafkaProducer

from agrajag.embedded import EmbeddedKafka
from agrajag.errors import PermanentError, TransientError
from agrajag.metrics import VIEW_RECORDS, VIEW_SKIPPED
from agrajag.model.enums import Scope, Status
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key
from agrajag.service.health_reading import HealthReading
from agrajag.view import HealthView
from agrajag.wire.clients import KafkaConnection, admin_client
from agrajag.wire.outputs import Output
from agrajag.wire.tombstones import tombstone
from agrajag.wire.topic_admin import ensure_topics
from agrajag.wire.topics import Topic, Topics
from tests.builders import a_health
from tests.waiting import eventually
from tests.wire.records import counting


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
        return HealthView(self.connection, self.topics)


def _key(health: ToolHealth) -> bytes:
    return health_key(health.tenant_id, health.scope, health.scope_id, health.tool_name).encode()


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
    view, late = place.view(), place.view()
    await view.start()
    async with running(view):
        await asyncio.to_thread(kafka.kill)
        with pytest.raises(TransientError):
            await late.start()
        async with running(late):
            assert _found(view, 0) == _tool(0)
            await asyncio.to_thread(kafka.start)
            await place.send(place.record(_tool(0, 2)), place.record(_tool(1)))
            both = (view, late)
            await eventually(lambda: [_found(one, 1) for one in both] == [_tool(1), _tool(1)], 60)
            await eventually(lambda: [_found(one, 0) for one in both] == [_tool(0, 2), _tool(0, 2)], 60)

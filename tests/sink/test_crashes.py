"""Nothing is lost when the store, the broker or the sink itself is killed."""

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest
from pymongo import AsyncMongoClient
from structlog.testing import capture_logs

from agrajag.embedded import EmbeddedKafka, EmbeddedStore
from agrajag.metrics import REGISTRY
from agrajag.model.health import ToolHealth
from agrajag.sink import compare
from agrajag.store import Store
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.topics import Topics
from tests.builders import a_health
from tests.sink.records import Record, change, committed, key_of, make_topics, members, send, tombstone
from tests.sink.running import SESSION_TIMEOUT_SECONDS, a_sink, a_sink_process
from tests.waiting import eventually

_AWAY = "agrajag_retries_total", {"stage": "store"}


def _tools(count: int, revision: int) -> list[ToolHealth]:
    return [a_health(tool_name=f"tool-{number}", revision=revision) for number in range(count)]


def _tries_without_a_store() -> float:
    return REGISTRY.get_sample_value(*_AWAY) or 0


async def _committed_all(connection: KafkaConnection, topics: Topics, count: int) -> None:
    async def all_committed() -> bool:
        return await committed(connection, topics) == count

    await eventually(all_committed, timeout=90)


async def _assert_equal(
    connection: KafkaConnection, topics: Topics, uri: str, database: str, documents: int
) -> None:
    async with await Store.open(uri, database) as opened:
        books = await compare(connection, topics, opened)
    assert books.differences == ()
    assert books.documents == documents


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_changes_that_come_while_the_store_is_away_are_written_when_it_is_back(
    connection: KafkaConnection, topics: Topics, own_store: Callable[[], EmbeddedStore]
) -> None:
    own = own_store()
    place = connection, topics, own.uri, "agrajag"
    with capture_logs() as logs:
        async with a_sink(*place):
            await send(connection, topics, map(change, _tools(100, revision=1)))
            await _committed_all(connection, topics, 100)
            own.kill()
            member = await members(connection, topics)
            before = _tries_without_a_store()
            await send(connection, topics, map(change, _tools(300, revision=2)))
            killed_at = asyncio.get_running_loop().time()

            def has_tried_for_longer_than_a_session() -> bool:
                away = asyncio.get_running_loop().time() - killed_at
                return _tries_without_a_store() >= before + 2 and away > 3 * SESSION_TIMEOUT_SECONDS

            await eventually(has_tried_for_longer_than_a_session, timeout=60)
            assert await committed(connection, topics) == 100
            assert await members(connection, topics) == member  # it was not thrown out meanwhile
            await asyncio.to_thread(own.restart)
            await _committed_all(connection, topics, 400)
    await _assert_equal(*place, documents=300)
    told = [entry["event"] for entry in logs if entry.get("side") == "store"]
    assert told == ["sink_waits", "sink_goes_on"]


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_a_sink_that_starts_before_the_store_and_the_broker_waits_for_both(
    own_kafka: Callable[[], EmbeddedKafka], own_store: Callable[[], EmbeddedStore], topic_prefix: str
) -> None:
    broker, own = own_kafka(), own_store()
    connection, topics = KafkaConnection(broker.bootstrap_servers), Topics(topic_prefix, partitions=4)
    await make_topics(connection, topics)
    await send(connection, topics, map(change, _tools(10, revision=1)))
    own.kill()
    broker.kill()
    place = connection, topics, own.uri, "agrajag"
    with capture_logs() as logs:
        async with a_sink(*place):

            def waits_for(side: str) -> bool:
                return any(entry["event"] == "sink_waits" and entry["side"] == side for entry in logs)

            await eventually(lambda: waits_for("store"))
            await asyncio.to_thread(own.restart)
            await eventually(lambda: waits_for("kafka"), timeout=30)
            await asyncio.to_thread(broker.restart)
            await _committed_all(connection, topics, 10)
    await _assert_equal(*place, documents=10)
    told = [entry["event"] for entry in logs if entry.get("side") == "kafka"]
    assert told == ["sink_waits", "sink_goes_on"]


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_a_broker_that_is_killed_under_way_costs_nothing(
    own_kafka: Callable[[], EmbeddedKafka], store_uri: str, database: str, topic_prefix: str
) -> None:
    broker = own_kafka()
    connection, topics = KafkaConnection(broker.bootstrap_servers), Topics(topic_prefix, partitions=4)
    await make_topics(connection, topics)
    place = connection, topics, store_uri, database
    async with a_sink(*place):
        await send(connection, topics, map(change, _tools(200, revision=1)))
        broker.kill()
        await asyncio.to_thread(broker.restart)
        await send(connection, topics, map(change, _tools(200, revision=2)))
        await _committed_all(connection, topics, 400)
    await _assert_equal(*place, documents=200)


async def test_a_sink_that_joins_while_the_store_is_away_takes_over_and_nothing_is_lost(
    connection: KafkaConnection, topics: Topics, own_store: Callable[[], EmbeddedStore]
) -> None:
    own = own_store()
    place = connection, topics, own.uri, "agrajag"
    async with a_sink(*place):
        await send(connection, topics, map(change, _tools(100, revision=1)))
        await _committed_all(connection, topics, 100)
        async with a_sink(*place):

            async def both_are_members() -> bool:
                return len(await members(connection, topics)) == 2

            await eventually(both_are_members)
            own.kill()
            before = _tries_without_a_store()
            await send(connection, topics, map(change, _tools(150, revision=2)))
            await eventually(lambda: _tries_without_a_store() > before, timeout=30)
        await asyncio.to_thread(own.restart)
        await _committed_all(connection, topics, 250)
    await _assert_equal(*place, documents=150)


async def test_a_sink_ends_at_once_while_it_waits_for_the_store_and_leaves_the_batch_uncommitted(
    connection: KafkaConnection, topics: Topics, own_store: Callable[[], EmbeddedStore]
) -> None:
    own = own_store()
    place = connection, topics, own.uri, "agrajag"
    async with a_sink(*place) as task:
        await send(connection, topics, map(change, _tools(10, revision=1)))
        await _committed_all(connection, topics, 10)
        own.kill()
        before = _tries_without_a_store()
        await send(connection, topics, map(change, _tools(10, revision=2)))
        await eventually(lambda: _tries_without_a_store() > before, timeout=30)
        task.cancel()
        done, _ = await asyncio.wait({task}, timeout=10)
        assert done == {task}
    assert await committed(connection, topics) == 10


_ROUNDS = 5
_RECORDS_PER_ROUND = 150
_KEYS = 200


def _history(seed: int) -> tuple[list[list[Record]], int]:
    """Rounds of changes, tombstones and late records in an order that has no order; and how many stay."""
    chance = random.Random(seed)
    tools = _tools(_KEYS, revision=0)
    newest: dict[str, tuple[int, bool]] = {}
    rounds: list[list[Record]] = []
    for number in range(_ROUNDS):
        records: list[Record] = []
        for position in range(_RECORDS_PER_ROUND):
            tool, gone = chance.choice(tools), chance.random() < 0.1
            # A tenth of the records is late: their revisions lie in the round before.
            revision = (number - (chance.random() < 0.1)) * 1_000 + 2_000 + position
            key = key_of(tool)
            records.append(tombstone(key, revision) if gone else change(tool.with_changes(revision=revision)))
            newest[key] = max(newest.get(key, (0, False)), (revision, gone))
        rounds.append(records)
    return rounds, sum(not gone for _, gone in newest.values())


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_a_sink_killed_at_random_points_leaves_the_store_as_the_topic_ends(
    connection: KafkaConnection, topics: Topics, store_uri: str, database: str
) -> None:
    rounds, documents = _history(seed=20260523)
    chance = random.Random(1)
    place = connection, topics, store_uri, database
    async with AsyncMongoClient[dict[str, Any]](store_uri) as client:
        documents_in_store = client[database].tool_health
        for number, records in enumerate(rounds):
            process = a_sink_process(*place)
            await send(connection, topics, records)
            of_this_round = {"revision": {"$gte": number * 1_000 + 2_000}}
            enough = chance.randint(1, 80)

            async def has_written_some(wanted: dict[str, Any] = of_this_round, count: int = enough) -> bool:
                return await documents_in_store.count_documents(wanted) >= count

            await eventually(has_written_some, timeout=60)
            process.kill()
            assert process.wait() == -9
    async with a_sink(*place):
        await _committed_all(connection, topics, _ROUNDS * _RECORDS_PER_ROUND)
    await _assert_equal(*place, documents=documents)

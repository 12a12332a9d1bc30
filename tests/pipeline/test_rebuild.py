"""`agrajag tables rebuild` on a real Kafka: a lost table, and more partitions."""

import asyncio
import signal
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import pytest_asyncio
from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions

from agrajag.embedded import EmbeddedKafka, EmbeddedStore
from agrajag.errors import ConfigError
from agrajag.model.enums import Scope, Status
from agrajag.model.health import HealthEntry
from agrajag.model.keys import health_key, parts, tool_key
from agrajag.store import Store
from agrajag.stream.rebuilding import Rebuilding, Rebuilt
from agrajag.stream.table import BIRTH_KEY, refuse_lost_table
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.partition import partition_for
from agrajag.wire.tombstones import tombstone
from agrajag.wire.topic_admin import ensure_topics
from agrajag.wire.topics import TOPICS, Topic, Topics
from tests.builders import a_success, an_error
from tests.cli.programs import agrajag
from tests.pipeline.runs import Run, Sent, create_topics, run_of, sent

SEARCH = health_key("acme", Scope.PROJECT, "essays", "search")
REFUSED = {"exception_type": "httpx.ConnectError"}


def now() -> datetime:
    return datetime.now(UTC)


def environment(run: Run, partitions: int, **more: str) -> dict[str, str]:
    return {
        "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": run.plan.bootstrap_servers,
        "AGRAJAG_TOPICS_PREFIX": run.plan.prefix,
        "AGRAJAG_TOPICS_PARTITIONS": str(partitions),
        "AGRAJAG_MONITOR_WORKER_PORT": "0",
        "AGRAJAG_MONITOR_SINK_PORT": "0",
        **more,
    }


async def program(settings: dict[str, str], *arguments: str) -> "CompletedProcess[str]":
    return await asyncio.to_thread(agrajag, *arguments, **settings)


async def stopped(process: Any) -> int:
    process.send_signal(signal.SIGTERM)
    return await asyncio.to_thread(process.wait, 30)


@pytest_asyncio.fixture
async def admin(kafka: EmbeddedKafka) -> AsyncIterator[AIOKafkaAdminClient]:
    client = AIOKafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers)
    await client.start()
    yield client
    await client.close()


@pytest.mark.slow
async def test_a_lost_table_is_rebuilt_while_the_store_says_down_and_the_next_success_heals(
    run: Run, admin: AIOKafkaAdminClient, store: EmbeddedStore, database_name: str
) -> None:
    settings = environment(
        run,
        run.plan.topics.partitions,
        AGRAJAG_MONGO_URI=store.uri,
        AGRAJAG_MONGO_DATABASE=database_name,
    )
    worker, _ = run.start_role("worker", settings), run.start_role("sink", settings)
    await run.send([sent(an_error(event_id="e1", occurred_at=now(), reply_to="me", **REFUSED))])
    await run.answered({"e1"})
    async with await Store.open(store.uri, database_name) as mirror:

        async def store_says(status: Status) -> bool:
            health = await mirror.health.get(SEARCH)
            return health is not None and health.status is status

        await run.settled(lambda: store_says(Status.DOWN))
        refused = await program(settings, "tables", "rebuild")
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "stop the workers" in refused.stderr
        assert await stopped(worker) == 0
        await admin.delete_topics([run.plan.topics.name(Topic.HEALTH_CHANGELOG)])

        async def is_deleted() -> bool:
            return run.plan.topics.name(Topic.HEALTH_CHANGELOG) not in await admin.list_topics()

        await run.settled(is_deleted)
        assert (await program(settings, "tables", "rebuild")).returncode == 2
        await create_topics(run)
        assert "the table was lost" in (await program(settings, "worker")).stderr
        rebuilt = await program(settings, "tables", "rebuild")
        assert rebuilt.returncode == 0, rebuilt.stderr
        assert rebuilt.stdout.startswith("1 documents: 1 written to the table, 0 moved")
        assert (await run.entries())[SEARCH].health == (await run.documents())[SEARCH]
        again = await program(settings, "tables", "rebuild")
        assert again.stdout.startswith("1 documents: 0 written to the table, 0 moved")
        run.start_role("worker", settings)
        success = a_success(event_id="s1", occurred_at=now())
        await run.send([Sent(success.to_json(), b"acme|search", topic=Topic.TOOL_CALL_SUCCESSES)])
        await run.settled(lambda: store_says(Status.OK))


async def test_where_nothing_is_left_to_rebuild_the_table_is_begun_once(run: Run) -> None:
    changed = run.plan.topics.name(Topic.HEALTH_CHANGED)
    changelog = run.plan.topics.name(Topic.HEALTH_CHANGELOG)
    async with AIOKafkaProducer(bootstrap_servers=run.plan.bootstrap_servers) as producer:
        gone = tombstone(changed, SEARCH.encode(), 5)
        await producer.send_and_wait(changed, key=gone.key, headers=list(gone.headers))
        await producer.send_and_wait(changed, b"{}", SEARCH.encode())
        await producer.send_and_wait(changed, b"{}", b"no key of a document")
    connection = KafkaConnection(run.plan.bootstrap_servers)
    with pytest.raises(ConfigError, match="the table was lost"):
        await refuse_lost_table(changelog, changed, **connection.client_options())
    for _ in range(2):
        rebuilding = Rebuilding(
            connection, run.plan.topics, group=run.plan.prefix, sources=[Topic.TOOL_CALL_ERRORS], tell=print
        )
        assert await rebuilding.run() == Rebuilt(0, 0, 0, 0, unreadable=2)
    await refuse_lost_table(changelog, changed, **connection.client_options())
    assert [record.key for record in await run.read(changelog)] == [BIRTH_KEY]


@pytest.mark.slow
async def test_after_more_partitions_and_a_rebuild_every_document_stands_once_and_goes_on_counting(
    kafka: EmbeddedKafka, admin: AIOKafkaAdminClient, topic_prefix: str, tmp_path: Path
) -> None:
    few, many = Topics(topic_prefix, 2), Topics(topic_prefix, 4)
    await ensure_topics(admin, few)
    tools = [f"tool-{number}" for number in range(12)]
    with run_of(kafka.bootstrap_servers, topic_prefix, tmp_path) as raised:

        async def fail_everywhere(topics: Topics, first: int, worker: bool) -> None:
            await raised.send(
                sent(
                    an_error(
                        event_id=f"e{first + number}",
                        tool_name=tool,
                        occurred_at=now(),
                        reply_to="me",
                        **REFUSED,
                    ),
                    partition_for(tool_key("acme", tool).encode(), topics.partitions),
                )
                for number, tool in enumerate(tools)
            )
            if worker:
                await raised.answered({f"e{first + number}" for number in range(len(tools))})

        worker = raised.start_role("worker", environment(raised, 2))
        await fail_everywhere(few, 0, True)
        assert await stopped(worker) == 0
        await fail_everywhere(few, 100, False)
        shared = [many.name(spec.topic) for spec in TOPICS if not spec.one_partition]
        await admin.create_partitions({name: NewPartitions(total_count=4) for name in shared})
        settings = environment(raised, 4)
        refused = await program(settings, "tables", "rebuild")
        assert refused.returncode == 1
        assert "12 records wait" in refused.stderr
        rebuilt = await program(settings, "tables", "rebuild", "--force")
        assert rebuilt.returncode == 0, rebuilt.stderr
        moved = sum(_home(tool, 2) != _home(tool, 4) for tool in tools)
        assert 0 < moved < len(tools)
        assert f"{moved} written to the table, {moved} moved" in rebuilt.stdout
        again = await program(settings, "tables", "rebuild", "--force")
        assert "0 written to the table, 0 moved to their partition, 0 old copies" in again.stdout
        await assert_each_stands_once(raised, many)
        raised.start_role("worker", settings)
        await fail_everywhere(many, 200, True)

        async def all_counted() -> bool:
            documents = await raised.documents()
            return [health.counters.errors for health in documents.values()] == [3] * len(tools)

        await raised.settled(all_counted)


async def assert_each_stands_once(run: Run, topics: Topics) -> None:
    """In the topic and in the table, the newest record of a key is a value on its own partition and nowhere else."""
    for topic in (Topic.HEALTH_CHANGED, Topic.HEALTH_CHANGELOG):
        last = {
            (record.key, record.partition): record.value
            for record in await run.read(topics.name(topic))
            if record.key != BIRTH_KEY
        }
        for (key, partition), value in last.items():
            tool = parts(key.decode())[3]
            assert (value is not None) == (partition == _home(tool, topics.partitions)), (topic, key)
            if value is not None and topic is Topic.HEALTH_CHANGELOG:
                entry = HealthEntry.model_validate_json(value)
                assert entry.health is not None
                assert entry.health.revision == entry.revision


def _home(tool_name: str, partitions: int) -> int:
    return partition_for(tool_key("acme", tool_name).encode(), partitions)

"""How much of the store's own speed is left when the whole sink stands before it: Kafka, decoding, guard, commits.

Both ways write the same documents, into databases of their own with the same indexes and the same care for the disk.
They take turns, so that a machine whose speed changes changes it for both.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from pymongo import AsyncMongoClient, ReplaceOne
from pymongo.write_concern import WriteConcern

from agrajag.metrics import REGISTRY, SinkResult
from agrajag.model.enums import Classification, Scope, Status
from agrajag.model.health import Cooldown, HistoryEntry, ToolHealth, VerdictFacet
from agrajag.sink import run_sink
from agrajag.store import Store
from agrajag.store.guarded import BULK_LIMIT
from agrajag.store.health import HealthCollection, health_write
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.topics import Topic, Topics
from tests.sink.records import change, make_topics, send
from tests.waiting import eventually

_NOW = datetime(2026, 5, 23, 12, 0, tzinfo=UTC)
_DATABASE_PREFIX = "bench_sink"


async def measure(
    bootstrap_servers: str, store_uri: str, *, documents: int = 2_000, rounds: int = 2
) -> dict[str, float]:
    """`sink.documents_per_second`, `sink.bulk_documents_per_second` and their ratio `sink.over_bulk_upsert`.

    The sink's time runs from its start to its last acknowledged write: connections, indexes and joining the group
    count against it.
    """
    connection = KafkaConnection(bootstrap_servers)
    healths = [_document(number) for number in range(documents)]
    sink_seconds = bulk_seconds = 0.0
    for _ in range(rounds):
        bulk_seconds += await _on_a_new_database(store_uri, lambda name: _bulk(store_uri, name, healths))
        sink_seconds += await _on_a_new_database(
            store_uri, lambda name: _sink(connection, store_uri, name, healths)
        )
    return {
        "sink.documents_per_second": documents * rounds / sink_seconds,
        "sink.bulk_documents_per_second": documents * rounds / bulk_seconds,
        "sink.over_bulk_upsert": bulk_seconds / sink_seconds,
    }


async def _on_a_new_database(store_uri: str, write: Callable[[str], Awaitable[float]]) -> float:
    name = f"{_DATABASE_PREFIX}_{uuid4().hex[:8]}"
    try:
        return await write(name)
    finally:
        async with AsyncMongoClient[dict[str, Any]](store_uri) as client:
            await client.drop_database(name)


async def _bulk(store_uri: str, database: str, healths: list[ToolHealth]) -> float:
    """Seconds for unordered bulks of guarded upserts, the documents being ready."""
    writes = [health_write(health) for health in healths]
    operations = [
        ReplaceOne({"_id": write.key, "revision": {"$lt": write.revision}}, write.in_store(), upsert=True)
        for write in writes
    ]
    async with await Store.open(store_uri, database):
        pass  # for its indexes
    async with AsyncMongoClient[dict[str, Any]](store_uri, retryWrites=False) as client:
        collection = client[database].get_collection(
            HealthCollection.name, write_concern=WriteConcern("majority", j=True)
        )
        started = time.perf_counter()
        for first in range(0, len(operations), BULK_LIMIT):
            await collection.bulk_write(operations[first : first + BULK_LIMIT], ordered=False)
        took_seconds = time.perf_counter() - started
        assert await collection.count_documents({}) == len(healths)
    return took_seconds


async def _sink(
    connection: KafkaConnection, store_uri: str, database: str, healths: list[ToolHealth]
) -> float:
    """Seconds for a sink from its start until the store has acknowledged all documents, which wait in Kafka."""
    topics = Topics(database.replace("_", "-"), partitions=4)
    await make_topics(connection, topics)
    await send(connection, topics, map(change, healths))
    before = _written()
    started = time.perf_counter()
    sink = asyncio.create_task(run_sink(connection, topics, store_uri=store_uri, database=database))
    try:
        await eventually(lambda: _written() - before >= len(healths), timeout=600)
        took_seconds = time.perf_counter() - started
    finally:
        sink.cancel()
        with suppress(asyncio.CancelledError):
            await sink
    async with AsyncMongoClient[dict[str, Any]](store_uri) as client:
        assert await client[database][HealthCollection.name].count_documents({}) == len(healths)
    return took_seconds


def _written() -> float:
    labels: dict[str, str] = {"topic": Topic.HEALTH_CHANGED, "result": SinkResult.WRITTEN}
    return REGISTRY.get_sample_value("agrajag_sink_writes_total", labels) or 0


def _document(number: int) -> ToolHealth:
    """A document of usual size: a verdict, two cooldowns and a short history."""
    note = "The search service answers with status 503 since this morning."
    return ToolHealth(
        revision=1_780_000_000_000 + number,
        tenant_id=f"tenant-{number % 7}",
        scope=Scope.PROJECT,
        scope_id=f"project-{number % 50}",
        tool_name=f"tool-{number}",
        verdict=VerdictFacet(
            status=Status.DOWN,
            since=_NOW,
            classification=Classification.TECHNICALLY_BROKEN,
            note=note,
            by="agrajag-checker",
            evidence_at=_NOW,
        ),
        cooldowns=tuple(
            Cooldown(
                error_signature=signature,
                next_spawn_allowed_at=_NOW + timedelta(minutes=5),
                last_classification=Classification.TECHNICALLY_BROKEN,
                last_triggered_at=_NOW,
            )
            for signature in ("http-5xx", "timeout")
        ),
        history=tuple(
            HistoryEntry(
                at=_NOW, last_at=_NOW, count=hits, status=Status.DOWN, note=note, by="agrajag-checker"
            )
            for hits in (1, 2, 3)
        ),
        created_at=_NOW,
        updated_at=_NOW,
    )

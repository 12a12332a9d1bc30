"""How fast a worker reads its table from the changelog, and what that takes of memory."""

import asyncio
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from aiokafka import AIOKafkaProducer

from agrajag.model.enums import Classification, Scope, Status
from agrajag.model.health import Cooldown, HealthCounters, HealthEntry, HistoryEntry, ToolHealth, VerdictFacet
from agrajag.model.keys import health_key, tool_key
from agrajag.stream.entries import EntryCodec
from agrajag.wire.partition import partition_for
from agrajag.wire.topics import Topic
from tests.night.memory import rss_bytes
from tests.pipeline.process import PARTITIONS, Plan
from tests.pipeline.runs import Run, create_topics

DOCUMENTS = 200_000
PATIENCE_SECONDS = 600.0
_AT_A_TIME = 2_000
_BYTES_PER_MB = 1_000_000


async def measure(bootstrap_servers: str, directory: Path, documents: int = DOCUMENTS) -> dict[str, float]:
    """`recovery.documents_per_s` and `recovery.mb_per_100k`, beyond what a worker with an empty table takes.

    The memory is that of the whole process when the recovery is over, before anything is read of the table.
    """
    empty = await _recovery(
        Run(Plan(bootstrap_servers, "bench-recovery-none", session_timeout_seconds=10.0), directory / "none"),
        0,
    )
    full = await _recovery(
        Run(Plan(bootstrap_servers, "bench-recovery", session_timeout_seconds=10.0), directory / "full"),
        documents,
    )
    return {
        "recovery.documents_per_s": documents / (full[0] - empty[0]),
        "recovery.mb_per_100k": (full[1] - empty[1]) * 100_000 / documents,
    }


async def _recovery(run: Run, documents: int) -> tuple[float, float]:
    """Seconds from the start of a worker to its readiness, and its memory then, in MB."""
    run.directory.mkdir()
    try:
        await create_topics(run)
        await _write_table(run, documents)
        started = time.perf_counter()
        worker = run.start()

        async def ready() -> float:
            assert "worker_ready" in run.logs()
            return time.perf_counter() - started

        seconds: float = await run.settled(ready, PATIENCE_SECONDS)
        return seconds, rss_bytes(worker.pid) / _BYTES_PER_MB
    finally:
        run.close()


async def _write_table(run: Run, documents: int) -> None:
    """A changelog with this many documents, and what a start asks of the topic that was written before it."""
    topics, codec = run.plan.topics, EntryCodec()
    async with AIOKafkaProducer(bootstrap_servers=run.plan.bootstrap_servers, linger_ms=20) as producer:
        pending = []
        for health in _healths(documents):
            key = health_key(health.tenant_id, health.scope, health.scope_id, health.tool_name).encode()
            partition = partition_for(tool_key(health.tenant_id, health.tool_name).encode(), PARTITIONS)
            origin = f"{topics.name(Topic.TOOL_CALL_ERRORS)}-{partition}"
            entry = HealthEntry(
                revision=health.revision, health=health, applied={origin: health.counters.errors}
            )
            changelog = topics.name(Topic.HEALTH_CHANGELOG)
            pending.append(await producer.send(changelog, codec.encode(entry), key=key, partition=partition))
            if len(pending) == _AT_A_TIME:
                await asyncio.gather(*pending)
                pending.clear()
        await asyncio.gather(*pending)


def _healths(count: int) -> Iterator[ToolHealth]:
    """Documents of ordinary size: a cooldown, a status, and three changes of status in the past."""
    document = _document(datetime.now(UTC).replace(microsecond=0))
    for number in range(count):
        yield document.with_changes(
            revision=document.revision + number,
            tenant_id=f"tenant-{number % 50}",
            scope_id=f"project-{number // 5_000}",
            tool_name=f"tool-{number % 5_000}",
            counters=HealthCounters(errors=number % 1_000, suppressed=number % 900),
        )


def _document(now: datetime) -> ToolHealth:
    broken, note = Classification.TECHNICALLY_BROKEN, "connection refused: the backend does not listen"
    recovery = now + timedelta(minutes=5)
    past = [
        (now - timedelta(hours=age), status)
        for age, status in enumerate((Status.DOWN, Status.OK, Status.DOWN))
    ]
    return ToolHealth(
        revision=int(now.timestamp() * 1_000),
        tenant_id="tenant",
        scope=Scope.PROJECT,
        scope_id="project",
        tool_name="tool",
        verdict=VerdictFacet(
            status=Status.DOWN,
            since=now,
            expected_recovery_at=recovery,
            classification=broken,
            note=note,
            by="agrajag-checker",
            evidence_at=now,
        ),
        cooldowns=(
            Cooldown(
                error_signature="connect-refused",
                next_spawn_allowed_at=recovery,
                last_classification=broken,
                last_triggered_at=now,
            ),
        ),
        history=tuple(
            HistoryEntry(
                at=at, last_at=at, status=status, classification=broken, note=note, by="agrajag-checker"
            )
            for at, status in past
        ),
        created_at=now,
        updated_at=now,
    )

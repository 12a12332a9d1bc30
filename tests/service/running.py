"""A worker of service engines that runs beside a test: as a task, or as a process of its own that can be killed."""

import asyncio
import multiprocessing
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from multiprocessing.context import ForkServerProcess
from typing import Any

from aiokafka.errors import KafkaError

from agrajag.model.jobs import DiagnosisJob, DiagnosisResult
from agrajag.model.keys import lane_key
from agrajag.service.attempts import AttemptBounds, Attempts
from agrajag.service.engine import AnyEngine
from agrajag.service.worker import ServiceWorker, WorkerBounds
from agrajag.wire.clients import KafkaConnection, admin_client
from agrajag.wire.membership import Group
from agrajag.wire.outputs import Output
from agrajag.wire.sending import Sender
from agrajag.wire.topics import Topic, Topics
from tests.builders import a_job
from tests.kafka_reading import read_all
from tests.service.attempting import Standing
from tests.service.engines import Scripted

SESSION_TIMEOUT_SECONDS = 1.0


@asynccontextmanager
async def a_worker(
    connection: KafkaConnection,
    topics: Topics,
    *engines: AnyEngine,
    worker_id: str = "worker-1",
    documents: Standing | None = None,
    session_timeout_seconds: float = SESSION_TIMEOUT_SECONDS,
    **bounds: Any,
) -> AsyncIterator[asyncio.Task[None]]:
    """A worker in this process, which ends with the context. What it raises by itself fails the test."""
    async with Sender(connection, topics) as sender:
        attempts = Attempts(
            connection, topics, sender, documents or Standing(), AttemptBounds(worker_id, engine_seconds=60.0)
        )
        group = Group(f"{topics.prefix}.diagnosis", session_timeout_seconds)
        worker = ServiceWorker(
            connection, topics, engines, attempts, sender, bounds=WorkerBounds(**bounds), group=group
        )
        task = asyncio.create_task(worker.run())
        try:
            yield task
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def a_worker_process(connection: KafkaConnection, topics: Topics) -> ForkServerProcess:
    """A worker in a process of its own, to be killed by the caller. All are forked from one, which imports once."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    process = context.Process(
        target=_run_process,
        args=(connection.bootstrap_servers, topics.prefix, topics.partitions),
        daemon=True,
    )
    process.start()
    return process


def _run_process(bootstrap_servers: str, prefix: str, partitions: int) -> None:
    asyncio.run(_run(KafkaConnection(bootstrap_servers), Topics(prefix, partitions)))


def a_fresh_job(number: int, lane: int, **fields: Any) -> DiagnosisJob:
    """A job of one of many projects, whose lease has begun now."""
    now = datetime.now(UTC)
    given: dict[str, Any] = {
        "job_id": f"job-{number:03}",
        "project_id": f"project-{lane}",
        "created_at": now,
        "lease_until": now + timedelta(minutes=15),
    }
    return a_job(**(given | fields))


def job_record(topics: Topics, job: DiagnosisJob, value: bytes | None = None) -> Output:
    """The job as Layer 1 sends it, or another value under its key."""
    key = lane_key(job.tenant_id, job.project_id).encode()
    return Output(topics.name(Topic.DIAGNOSIS_JOBS), key, value or job.to_json())


async def send(connection: KafkaConnection, topics: Topics, records: Iterable[Output]) -> None:
    """Returns when the broker has them."""
    async with Sender(connection, topics) as sender:
        await sender.send(records)


async def results(connection: KafkaConnection, topics: Topics) -> list[DiagnosisResult]:
    """Every answer on the topic, partition by partition."""
    records = await read_all(connection.bootstrap_servers, topics.name(Topic.DIAGNOSIS_RESULTS))
    return [DiagnosisResult.from_json(record.value) for record in records]


async def committed(connection: KafkaConnection, topics: Topics) -> int:
    """How many records the group has behind it, over all partitions; AssertionError while nobody can tell."""
    try:
        async with admin_client(connection) as admin:
            offsets = await admin.list_consumer_group_offsets(f"{topics.prefix}.diagnosis")
    except KafkaError as error:
        raise AssertionError(f"the broker does not tell: {error}") from error
    return sum(max(place.offset, 0) for place in offsets.values())


async def _a_moment(job: DiagnosisJob) -> None:
    await asyncio.sleep(0.02)


async def _run(connection: KafkaConnection, topics: Topics) -> None:
    async with a_worker(connection, topics, Scripted(_a_moment)) as task:
        await task

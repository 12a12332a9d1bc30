"""How long after an error was sent its document is on `health-changed`, at a rate that leaves the worker idle."""

import asyncio
import statistics
import time
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from agrajag.model.keys import tool_key
from agrajag.wire.partition import partition_for
from agrajag.wire.topics import Topic
from tests.bench.worker import distinct_errors
from tests.pipeline.process import PARTITIONS, Plan
from tests.pipeline.runs import Run, create_topics

PER_SECOND = 200
WARM_UP = 400
EVENTS = 2_000


async def measure(bootstrap_servers: str, directory: Path) -> dict[str, float]:
    """`latency.p50_ms`, `.p95_ms`, `.p99_ms` from the call of send to the arrival at a subscriber."""
    run = Run(Plan(bootstrap_servers, "bench-latency", session_timeout_seconds=10.0), directory)
    try:
        await create_topics(run)
        run.start()
        samples = await _samples(run)
    finally:
        run.close()
    cuts = statistics.quantiles(samples, n=100)
    return {"latency.p50_ms": cuts[49], "latency.p95_ms": cuts[94], "latency.p99_ms": cuts[98]}


async def _samples(run: Run) -> list[float]:
    """One latency per event, in ms; every event is about a tool of its own, by which it is recognised."""
    topics = run.plan.topics
    events = iter(distinct_errors(WARM_UP + EVENTS))
    consumer = AIOKafkaConsumer(
        topics.name(Topic.HEALTH_CHANGED),
        bootstrap_servers=run.plan.bootstrap_servers,
        auto_offset_reset="earliest",
    )
    producer = AIOKafkaProducer(bootstrap_servers=run.plan.bootstrap_servers, acks="all")
    async with consumer, producer:

        async def latencies(count: int) -> list[float]:
            sent_at: dict[str, float] = {}
            arriving = asyncio.create_task(_arrivals(consumer, count, sent_at))
            started = time.perf_counter()
            for number, event in enumerate(islice(events, count)):
                await asyncio.sleep(max(0.0, started + number / PER_SECOND - time.perf_counter()))
                key = tool_key(event.tenant_id, event.tool_name).encode()
                value = event.model_copy(update={"occurred_at": datetime.now(UTC)}).to_json()
                partition = partition_for(key, PARTITIONS)
                sent_at[event.tool_name] = time.perf_counter()
                await producer.send(topics.name(Topic.TOOL_CALL_ERRORS), value, key=key, partition=partition)
            return await asyncio.wait_for(arriving, 120)

        await latencies(WARM_UP)  # until the worker has started and everything is in its caches
        return await latencies(EVENTS)


async def _arrivals(consumer: AIOKafkaConsumer, count: int, sent_at: dict[str, float]) -> list[float]:
    """How long after it was sent each of `count` events had its document here, in ms."""
    samples: list[float] = []
    while len(samples) < count:
        record = await consumer.getone()
        sent = sent_at.pop(record.key.decode().rpartition("|")[2], None)
        if sent is not None:  # a worker also repeats what was written before it took its partitions
            samples.append((time.perf_counter() - sent) * 1000)
    return samples

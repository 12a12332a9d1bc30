"""How many events per second the worker takes, against a plain Faust agent and against a bare copy loop.

Each contender finds the same events waiting in the same topic, does its work from the first to the last, and is then
stopped. Its rate is that of what it wrote, by the brokers' record times, so starting up does not count.
"""

import json
import signal
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from agrajag.model.events import ToolCallError
from agrajag.model.health import HealthEntry
from agrajag.stream.table import BIRTH_KEY
from agrajag.wire.topics import Topic
from tests.bench.contenders import Race
from tests.pipeline.load import errors
from tests.pipeline.process import PARTITIONS, Plan
from tests.pipeline.runs import Run, create_topics, sent
from tests.waiting import eventually

EVENTS = 10_000
STORM = 10_000
ROUNDS = 2
PATIENCE_SECONDS = 300.0


def distinct_errors(count: int) -> list[ToolCallError]:
    """Errors of ordinary size (about 600 bytes of JSON), each about a tool of its own, nobody asking for an answer."""
    return [_ordinary(event, number, f"tool-{number}") for number, event in enumerate(errors(count))]


def storm(count: int) -> list[ToolCallError]:
    """Equal errors of one tool, each with an id of its own: an outage that everybody reports."""
    first = distinct_errors(1)[0]
    failed = {
        "occurred_at": datetime.now(UTC) - timedelta(seconds=5),
        "error": first.error.model_copy(update={"http_status": 503, "exception_type": None}),
    }
    return [first.model_copy(update=failed | {"event_id": f"s{number}"}) for number in range(count)]


def _ordinary(event: ToolCallError, number: int, tool_name: str) -> ToolCallError:
    report = event.error
    padded = report.model_copy(
        update={
            "headers": {"content-type": "application/json", "date": "Sat, 23 May 2026 12:00:00 GMT"}
            | report.headers,
            "message": report.message or f"the call failed with request id {number:08x}",
            "body": f"{report.body or ''} {'the server says no more than this; ' * 5}",
        }
    )
    return event.model_copy(update={"tool_name": tool_name, "reply_to": None, "error": padded})


async def measure(bootstrap_servers: str, directory: Path) -> dict[str, float]:
    """Events per second of all contenders, the best of a few rounds taken in turns, and the ratios of them."""
    loads = {"distinct": distinct_errors(EVENTS), "storm": storm(STORM)}
    best: dict[str, float] = {}
    for load, events in loads.items():
        for number in range(ROUNDS):
            run = Run(
                Plan(bootstrap_servers, f"bench-{load}-{number}", session_timeout_seconds=10.0), directory
            )
            try:
                await create_topics(run)
                await run.send(map(sent, events))
                for name in ("worker", "naive_faust", "raw_copy"):
                    rate = await _rate(run, name, len(events))
                    best[f"{load}.{name}"] = max(best.get(f"{load}.{name}", 0.0), rate)
            finally:
                run.close()
    return {
        "worker.events_per_s": best["distinct.worker"],
        "worker.storm_events_per_s": best["storm.worker"],
        "naive_faust.events_per_s": best["distinct.naive_faust"],
        "raw_copy.events_per_s": best["distinct.raw_copy"],
        "worker.over_naive_faust": best["distinct.worker"] / best["distinct.naive_faust"],
        "worker.over_raw_copy": best["distinct.worker"] / best["distinct.raw_copy"],
        "worker.storm_over_naive_faust": best["storm.worker"] / best["storm.naive_faust"],
    }


async def _rate(run: Run, name: str, events: int) -> float:
    """Events per second of one contender over the waiting events."""
    topics, servers = run.plan.topics, run.plan.bootstrap_servers
    if name == "worker":
        process, target = run.start(), topics.name(Topic.HEALTH_CHANGELOG)
    else:
        target = f"{run.plan.prefix}.{name}"
        await _create_topic(servers, target)
        group = f"{run.plan.prefix}-{name}"
        race = Race(servers, topics.name(Topic.TOOL_CALL_ERRORS), target, PARTITIONS, group)
        process = run.start_module(["tests.bench.contenders", name, json.dumps(asdict(race))])
    try:

        async def done() -> list[tuple[int, int]]:
            written = await _written(run, name, target)
            assert sum(count for _, count in written) >= events, f"{name} is not through"
            return written

        written: list[tuple[int, int]] = await run.settled(done, PATIENCE_SECONDS)
    finally:
        process.send_signal(signal.SIGTERM)
        await eventually(lambda: process.poll() is not None, 30)
    (first, counted_at_first), (last, _) = min(written), max(written)
    return (events - counted_at_first) / max(last - first, 1) * 1000


async def _written(run: Run, name: str, target: str) -> list[tuple[int, int]]:
    """Each record of the target: when it was written, in ms, and how many events it is about."""
    records = sorted(await run.read(target), key=lambda record: (record.timestamp, record.offset))
    if name != "worker":
        return [(record.timestamp, 1) for record in records]
    counted: dict[bytes, int] = {}
    written = []
    for record in records:
        if record.key == BIRTH_KEY:
            continue
        health = HealthEntry.model_validate_json(record.value).health
        errors_so_far = health.counters.errors if health is not None else 0
        written.append((record.timestamp, errors_so_far - counted.get(record.key, 0)))
        counted[record.key] = errors_so_far
    return written


async def _create_topic(bootstrap_servers: str, name: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(name, PARTITIONS, 1)])
    finally:
        await admin.close()

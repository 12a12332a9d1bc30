"""Runs the worker on topics of its own, feeds it events, and reads what it left on the brokers."""

import asyncio
import json
import signal
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from agrajag.model.answers import CheckResult, HealthCommand
from agrajag.model.events import SystemEvent, ToolCallError, ToolCallSucceeded
from agrajag.model.health import HealthEntry, ToolHealth
from agrajag.model.jobs import DiagnosisJob
from agrajag.model.keys import link_key, tool_key
from agrajag.stream.table import BIRTH_KEY
from agrajag.stream.worker import AGENTS
from agrajag.wire.outputs import REVISION_HEADER
from agrajag.wire.partition import partition_for
from agrajag.wire.topic_admin import ensure_topics
from agrajag.wire.topics import Topic
from tests.cli.programs import FREE_PORTS
from tests.kafka_reading import read_all
from tests.pipeline.load import Event
from tests.pipeline.process import PARTITIONS, Plan
from tests.waiting import eventually
from tests.warm import WarmProcess, start_module

M = TypeVar("M", ToolHealth, HealthEntry)


@dataclass(frozen=True)
class Sent:
    """A record as a producer sends it: `partition` None is where our key hash says."""

    value: bytes
    key: bytes = b""
    partition: int | None = None
    headers: tuple[tuple[str, bytes], ...] = ()
    topic: Topic = Topic.TOOL_CALL_ERRORS


_TOPICS: dict[type[Event], Topic] = {
    ToolCallError: Topic.TOOL_CALL_ERRORS,
    ToolCallSucceeded: Topic.TOOL_CALL_SUCCESSES,
    SystemEvent: Topic.SYSTEM_EVENTS,
    HealthCommand: Topic.HEALTH_COMMANDS,
}


def sent(event: Event, partition: int | None = None) -> Sent:
    """The event under its right key, for its topic."""
    if isinstance(event, SystemEvent):
        key = link_key(event.tenant_id, event.link_id)
    else:
        key = tool_key(event.tenant_id, event.tool_name)
    return Sent(event.to_json(), key.encode(), partition, topic=_TOPICS[type(event)])


@dataclass
class Run:
    """One set of topics, and the processes that work on them."""

    plan: Plan
    directory: Path
    processes: list[WarmProcess] = field(default_factory=list)

    def start(self, module: str = "tests.pipeline.process", **changes: Any) -> WarmProcess:
        """Start another worker; `changes` are to the plan."""
        plan = replace(self.plan, **changes)
        return self.start_module([module, json.dumps(asdict(plan))])

    def start_role(self, role: str, environment: dict[str, str]) -> WarmProcess:
        """Start a role by the command line that people use."""
        return self.start_module(["agrajag", role], FREE_PORTS | environment)

    def start_module(self, module: list[str], environment: dict[str, str] | None = None) -> WarmProcess:
        """Start `python -m module`, arguments included."""
        log = self.directory / f"process-{len(self.processes)}.log"
        process = start_module(*module, log=log, environment=environment)
        self.processes.append(process)
        return process

    def logs(self) -> str:
        return "\n".join(log.read_text()[-4000:] for log in sorted(self.directory.glob("process-*.log")))

    async def send(self, records: Iterable[Sent], per_second: float = 0) -> None:
        """Send all; returns when the brokers have them. `per_second` spreads them evenly."""
        topics = self.plan.topics
        async with AIOKafkaProducer(
            bootstrap_servers=self.plan.bootstrap_servers,
            acks="all",
            enable_idempotence=True,
            max_request_size=4_000_000,
            request_timeout_ms=120_000,  # a broker that is killed and started five times is away for long
        ) as producer:
            futures = []
            for number, record in enumerate(records, start=1):
                partition = record.partition
                if partition is None:
                    partition = partition_for(record.key, PARTITIONS)
                futures.append(
                    await producer.send(
                        topics.name(record.topic),
                        record.value,
                        key=record.key,
                        partition=partition,
                        headers=list(record.headers),
                    )
                )
                if per_second and number % 50 == 0:
                    await asyncio.sleep(50 / per_second)
            await asyncio.gather(*futures)

    async def read(self, name: str) -> list[ConsumerRecord]:
        """Every record of a topic, partition by partition."""
        return await read_all(self.plan.bootstrap_servers, name)

    async def answers(self) -> list[CheckResult]:
        records = await self.read(self.plan.topics.name(Topic.CHECK_RESULTS))
        return [CheckResult.model_validate_json(record.value) for record in records]

    async def jobs(self) -> list[DiagnosisJob]:
        records = await self.read(self.plan.topics.name(Topic.DIAGNOSIS_JOBS))
        return [DiagnosisJob.model_validate_json(record.value) for record in records]

    async def dead_letters(self, topic: Topic = Topic.TOOL_CALL_ERRORS) -> list[ConsumerRecord]:
        return await self.read(self.plan.topics.dead_letters(topic))

    async def documents(self) -> dict[str, ToolHealth]:
        """What a subscriber of `health-changed` ends up with: the highest revision of each key that is not gone."""
        records = await self.read(self.plan.topics.name(Topic.HEALTH_CHANGED))
        return _newest(records, ToolHealth)

    async def entries(self) -> dict[str, HealthEntry]:
        """What a recovery ends up with."""
        records = await self.read(self.plan.topics.name(Topic.HEALTH_CHANGELOG))
        return _newest((record for record in records if record.key != BIRTH_KEY), HealthEntry)

    async def answered(self, event_ids: set[str], timeout: float = 60.0) -> list[CheckResult]:
        """Wait until every one of these events has an answer; all answers."""

        async def all_answered() -> list[CheckResult]:
            answers = await self.answers()
            missing = event_ids - {answer.event_id for answer in answers}
            assert not missing, f"{len(missing)} of {len(event_ids)} events have no answer"
            return answers

        answers: list[CheckResult] = await self.settled(all_answered, timeout)
        return answers

    async def caught_up(self, timeout: float = 60.0) -> None:
        """Wait until the workers have committed everything that stands in the topics that they read."""
        plan = self.plan

        async def all_committed() -> bool:
            places = [
                TopicPartition(plan.topics.name(agent.source), partition)
                for agent in AGENTS
                for partition in range(PARTITIONS)
            ]
            group = {"group_id": plan.settings().group, "enable_auto_commit": False}
            async with AIOKafkaConsumer(bootstrap_servers=plan.bootstrap_servers, **group) as consumer:
                committed = [await consumer.committed(place) or 0 for place in places]
                # After the commits: what a step writes to a topic that workers read stands there before its commit.
                ends = await consumer.end_offsets(places)
            behind = [place for place, offset in zip(places, committed, strict=True) if offset < ends[place]]
            assert not behind, f"not everything is committed of {behind}"
            return True

        await self.settled(all_committed, timeout)

    async def settled(self, condition: Callable[[], Awaitable[Any]], timeout: float = 60.0) -> Any:
        """`eventually`, with the processes' logs in the failure."""
        try:
            return await eventually(condition, timeout)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.logs()}") from error

    def close(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()


def _newest(records: Iterable[ConsumerRecord], model: type[M]) -> dict[str, M]:
    found: dict[str, tuple[int, M | None]] = {}
    for record in records:
        value = None if record.value is None else model.model_validate_json(record.value)
        revision = int(dict(record.headers)[REVISION_HEADER]) if value is None else value.revision
        known = found.get(record.key.decode())
        if known is None or known[0] < revision:
            found[record.key.decode()] = revision, value
    return {key: value for key, (_, value) in found.items() if value is not None}


@contextmanager
def run_of(bootstrap_servers: str, prefix: str, directory: Path) -> Iterator[Run]:
    """A run whose processes end with it; its topics have to be created."""
    run = Run(Plan(bootstrap_servers, prefix), directory)
    try:
        yield run
    finally:
        run.close()


async def create_topics(run: Run) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=run.plan.bootstrap_servers)
    await admin.start()
    try:
        ensured = await ensure_topics(admin, run.plan.topics)
    finally:
        await admin.close()
    assert ensured.findings == ()


def ids_of(events: Sequence[Event]) -> set[str]:
    """The event ids of the errors that have one."""
    return {event.event_id for event in events if isinstance(event, ToolCallError) and event.event_id}

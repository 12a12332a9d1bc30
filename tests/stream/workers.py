"""Starts counting workers as processes, feeds them, and reads what they left on the brokers."""

import asyncio
import json
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaProducer, ConsumerRecord
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from agrajag.stream.table import BIRTH_KEY
from tests.kafka_reading import read_all
from tests.stream.counting import PARTITIONS, Count, Plan, group_of
from tests.waiting import eventually
from tests.warm import WarmProcess, start_module

KEYS = 40


@dataclass
class Worker:
    """One process; its log is kept for the failure message."""

    plan: Plan
    process: WarmProcess
    log_path: Path

    def status(self) -> dict[str, Any]:
        """What the worker last told about itself; empty before it has."""
        try:
            found: dict[str, Any] = json.loads(Path(self.plan.status_path).read_text())
        except FileNotFoundError:
            return {}
        return found

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    async def ended(self, timeout: float = 90.0) -> int:
        """The exit code, when the process ends by itself."""
        await eventually(lambda: self.process.poll() is not None, timeout)
        return self.process.wait()

    async def settled(self, partitions: Sequence[int] | None = None, timeout: float = 60.0) -> None:
        """Wait until the worker holds `partitions` (or any) and is ready."""

        def holds() -> bool:
            if self.process.poll() is not None:
                raise RuntimeError(self.log())
            status = self.status()
            held = status.get("held")
            return bool(status.get("settled") and (held if partitions is None else held == list(partitions)))

        await eventually(holds, timeout)

    def log(self) -> str:
        return self.log_path.read_text()


@dataclass
class Run:
    """A set of topics of their own, the workers on them, and the events sent so far."""

    plan: Plan
    directory: Path
    sent: list[tuple[bytes, bytes]] = field(default_factory=list)
    workers: list[Worker] = field(default_factory=list)

    def start(self, **changes: Any) -> Worker:
        """Start another worker; `changes` are to the plan."""
        number = len(self.workers)
        plan = replace(self.plan, status_path=str(self.directory / f"status-{number}"), **changes)
        log_path = self.directory / f"worker-{number}.log"
        process = start_module("tests.stream.counting", json.dumps(asdict(plan)), log=log_path)
        worker = Worker(plan, process, log_path)
        self.workers.append(worker)
        return worker

    async def send(self, events: int, per_second: float = 0) -> None:
        """Send events over `KEYS` keys, all at once or evenly; returns when the brokers have them."""
        async with AIOKafkaProducer(
            bootstrap_servers=self.plan.bootstrap_servers, acks="all", enable_idempotence=True
        ) as producer:
            await self.send_by(producer, events, per_second)

    async def send_by(self, producer: AIOKafkaProducer, events: int, per_second: float = 0) -> None:
        """The same by a producer of the test's."""
        futures = []
        for number in range(len(self.sent), len(self.sent) + events):
            key, event_id = b"tenant|tool-%d" % (number % KEYS), b"event-%d" % number
            futures.append(await producer.send(self.plan.topic("events"), event_id, key=key))
            self.sent.append((key, event_id))
            if per_second:
                await asyncio.sleep(1 / per_second)
        await asyncio.gather(*futures)

    async def counted(self, timeout: float = 90.0) -> None:
        """Wait until the counts in the changelog are those of the events sent."""
        wanted = Counter(key for key, _ in self.sent)

        async def all_counted() -> Counter[bytes]:
            if self.workers and all(worker.process.poll() is not None for worker in self.workers):
                raise RuntimeError("no worker lives: " + self.workers[-1].log())
            table = await self.table()
            found = Counter({key: count.n for key, count in table.items() if key == group_of(key)})
            assert found == wanted, f"counted {found.total()} of {wanted.total()}"
            return found

        try:
            await eventually(all_counted, timeout)
        except AssertionError as error:
            raise AssertionError(
                f"{error}\n" + "\n".join(worker.log()[-3000:] for worker in self.workers)
            ) from error

    async def table(self) -> dict[bytes, Count]:
        """The table as a recovery sees it: the newest revision of each key in the changelog."""
        return newest(await self.read("changelog"))

    async def read(self, name: str) -> list[ConsumerRecord]:
        """Every record of a topic, partition by partition."""
        return await read_all(self.plan.bootstrap_servers, self.plan.topic(name))

    async def verify(self) -> None:
        """Nothing is lost or counted twice, in outputs, changelog, twins and the compacted topic."""
        await self.counted()
        outputs = {record.key for record in await self.read("outputs")}
        assert outputs == {event_id for _, event_id in self.sent}
        table = await self.table()
        assert {group_of(key): count for key, count in table.items() if key != group_of(key)} == {
            key: count for key, count in table.items() if key == group_of(key)
        }
        changed = newest(await self.read("changed"))
        assert changed == {key: count for key, count in table.items() if key == group_of(key)}


def newest(records: Sequence[ConsumerRecord]) -> dict[bytes, Count]:
    """The value of highest revision of each key."""
    found: dict[bytes, Count] = {}
    for record in records:
        if record.key != BIRTH_KEY:
            count = Count.decode(record.value)
            if record.key not in found or found[record.key].revision <= count.revision:
                found[record.key] = count
    return found


async def create_topics(plan: Plan) -> None:
    names = [plan.topic(name) for name in ("events", "unused", "outputs", "changed", "changelog")]
    admin = AIOKafkaAdminClient(bootstrap_servers=plan.bootstrap_servers)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(name, PARTITIONS, 1) for name in names])
    finally:
        await admin.close()


@contextmanager
def run_of(bootstrap_servers: str, prefix: str, directory: Path) -> Iterator[Run]:
    """A run whose workers end with it."""
    run = Run(Plan(bootstrap_servers, prefix, ""), directory)
    try:
        yield run
    finally:
        for worker in run.workers:
            if worker.process.poll() is None:
                worker.kill()

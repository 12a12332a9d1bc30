"""A worker that counts events per key: the smallest one in which a loss or a repetition shows.

Each key has two values, `<key>` and `<key>|twin`, changed as one group; both hold the count and the offset
up to which it counts, so that a repetition counts nothing. Each event gives one output with its id as key.
Run as a process (`python -m tests.stream.counting '<json of Plan>'`), since it is there to be killed.
"""

import asyncio
import json
import os
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import orjson
import structlog
from aiokafka import ConsumerRecord

from agrajag.errors import TransientError
from agrajag.stream.fetches import FetchApp
from agrajag.stream.memory import PartitionView
from agrajag.stream.reemission import Reemission
from agrajag.stream.running import StreamSettings, create_app, run_worker
from agrajag.stream.steps import StepResult, StrictOrder
from agrajag.stream.table import ChangelogTable, refuse_lost_table
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.outputs import Output
from tests.failpoints import dying

PARTITIONS = 4
RECORDS_A_STEP = 200  # fewer than a fetch may hold, so that a fetch takes several steps


@dataclass(frozen=True)
class Plan:
    """What a worker of a test does besides counting."""

    bootstrap_servers: str
    prefix: str
    status_path: str
    die_at: str = ""
    """A failpoint at which the process kills itself."""
    die_after: int = 0
    """How often it passes that failpoint before."""
    trouble: Literal["", "raise", "block", "hang"] = ""
    """What happens at the event `trouble_at`: the step raises or blocks the event loop, or the agent waits for ever."""
    trouble_at: str = ""
    pause_seconds: float = 0.0
    """The longest pause of the agent before each fetch, so that fetches wait in queues."""
    session_timeout_seconds: float = 2.0
    stall_seconds: float = 60.0
    broker_wait_seconds: float = 30.0
    late_record_seconds: float = 30.0

    def topic(self, name: str) -> str:
        return f"{self.prefix}.{name}.v1"

    def settings(self) -> StreamSettings:
        return StreamSettings(
            group=self.prefix,
            connection=KafkaConnection(self.bootstrap_servers),
            session_timeout_seconds=self.session_timeout_seconds,
            delivery_timeout_seconds=10.0,
            commit_interval_seconds=0.3,
            broker_wait_seconds=self.broker_wait_seconds,
            stall_seconds=self.stall_seconds,
        )


@dataclass(frozen=True)
class Count:
    """How many events of a key there were, up to an offset."""

    revision: int
    n: int
    applied: int

    @classmethod
    def decode(cls, raw: bytes) -> "Count":
        return cls(**orjson.loads(raw))

    def encode(self) -> bytes:
        return orjson.dumps(asdict(self))


def twin_of(key: bytes) -> bytes:
    return key + b"|twin"


def group_of(key: bytes) -> bytes:
    return key.removesuffix(b"|twin")


def count_step(
    plan: Plan, records: Sequence[ConsumerRecord], view: PartitionView[Count]
) -> StepResult[Count]:
    """The step: counts each key's events that are behind its offset, and says every event's id again."""
    counts: dict[bytes, Count] = {}
    outputs = []
    chosen = records[:RECORDS_A_STEP]
    for record in chosen:
        if record.value.decode() == plan.trouble_at and plan.trouble == "raise":
            raise RuntimeError("a bug, for the test's sake")
        if record.value.decode() == plan.trouble_at and plan.trouble == "block":
            time.sleep(3_600)
        known = counts.get(record.key) or view.get(record.key) or Count(0, 0, -1)
        if known.applied < record.offset:
            counts[record.key] = replace(
                known,
                n=known.n + 1,
                applied=record.offset,
                revision=max(known.revision + 1, record.timestamp),
            )
        outputs.append(Output(plan.topic("outputs"), record.value, record.key))
    for key in counts:
        if view.get(key) != view.get(twin_of(key)):
            raise AssertionError(f"{key!r} and its twin differ: a group was not written as a whole")
    outputs += [
        Output(plan.topic("changed"), key, count.encode(), partition=chosen[0].partition)
        for key, count in counts.items()
    ]
    changes = [{key: count, twin_of(key): count} for key, count in counts.items()]
    return StepResult(changes, outputs, len(chosen))


def build(plan: Plan) -> FetchApp:
    """The app with its agent, its table, its repetitions and a status file."""
    app = create_app(plan.settings())
    table = ChangelogTable(
        app,
        name="counts",
        changelog=plan.topic("changelog"),
        partitions=PARTITIONS,
        decode=Count.decode,
        encode=Count.encode,
    )
    order = StrictOrder(app, table, dying(plan.die_at, plan.die_after))

    @app.agent(app.fetch_topic(plan.topic("events"), PARTITIONS))
    async def count(stream: Any) -> None:
        async for fetch in stream:
            await asyncio.sleep(random.uniform(0, plan.pause_seconds))
            if plan.trouble == "hang" and any(record.value.decode() == plan.trouble_at for record in fetch):
                await asyncio.Event().wait()
            await order.run(fetch, lambda records, view: count_step(plan, records, view))

    def publish(partition: int, key: bytes, value: Count) -> list[Output]:
        if key != group_of(key):
            return []
        return [Output(plan.topic("changed"), key, value.encode(), partition=partition)]

    reemission = Reemission(order, late_record_seconds=plan.late_record_seconds, publish=publish)
    app.task(reemission.run)

    async def tell() -> None:
        while True:
            write_status(plan, app, table)
            await asyncio.sleep(0.05)

    app.task(tell)
    return app


def write_status(plan: Plan, app: FetchApp, table: ChangelogTable[Count]) -> None:
    status = {
        "settled": app.is_settled,
        "held": sorted(table.held),
        "keys": {p: len(table.view(p)) for p in range(PARTITIONS) if len(table.view(p))},
        "told": time.monotonic(),
        "stale": table.memory.stale,
        "listening": listening_sockets(),
    }
    path = Path(plan.status_path)
    aside = path.with_suffix(".new")
    aside.write_text(json.dumps(status))
    aside.replace(path)


def listening_sockets() -> int:
    """How many TCP sockets of this process accept connections."""
    own = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            own.add(os.readlink(entry))
        except FileNotFoundError:  # the descriptor that lists them
            continue
    found = 0
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/self/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            found += fields[3] == "0A" and f"socket:[{fields[9]}]" in own
    return found


def main(plan: Plan) -> int:
    settings = plan.settings()

    async def prepare() -> None:
        client = settings.connection.client_options()
        await refuse_lost_table(plan.topic("changelog"), plan.topic("changed"), **client)

    try:
        return run_worker(settings, lambda: build(plan), prepare)
    except TransientError as error:
        structlog.get_logger().critical("gave_up", error=str(error))
        return 1


if __name__ == "__main__":
    structlog.configure(
        [
            structlog.stdlib.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ]
    )
    sys.exit(main(Plan(**json.loads(sys.argv[1]))))

"""The counting app inside the test's own process, where the test can reach into it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient

from agrajag.stream.fetches import FetchApp
from agrajag.stream.places import Fetch
from agrajag.stream.running import create_app, serve
from agrajag.stream.steps import Step, StrictOrder, no_failpoint
from agrajag.stream.table import ChangelogTable
from agrajag.wire.partition import partition_for
from tests.stream.counting import PARTITIONS, Count, Plan, count_step
from tests.stream.workers import Run
from tests.waiting import eventually

KEY = b"tenant|tool-1"
HOME = partition_for(KEY, PARTITIONS)


class Counting:
    """An app in this process with one agent that takes the step given, and what its runs returned."""

    def __init__(
        self,
        plan: Plan,
        step: Step[Count] | None = None,
        failpoint: Callable[[str], object] = no_failpoint,
        topic_label: Callable[[str], str] = str,
    ) -> None:
        self.plan = plan
        self.app: FetchApp = create_app(plan.settings())
        self.table = ChangelogTable(
            self.app,
            name="counts",
            changelog=plan.topic("changelog"),
            partitions=PARTITIONS,
            decode=Count.decode,
            encode=Count.encode,
        )
        self.order = StrictOrder(self.app, self.table, failpoint, topic_label=topic_label)
        self.fetch: Fetch | None = None
        self.may_work = asyncio.Event()
        self.may_work.set()
        self.returned: list[bool] = []
        self.code: int | None = None
        chosen = step or (lambda records, view: count_step(plan, records, view))

        @self.app.agent(self.app.fetch_topic(plan.topic("events"), PARTITIONS))
        async def count(stream: Any) -> None:
            async for fetch in stream:
                self.fetch = fetch
                await self.may_work.wait()
                self.returned.append(await self.order.run(fetch, chosen))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        stop = asyncio.Event()
        serving = asyncio.create_task(serve(self.plan.settings(), self.app, stop))
        try:
            await eventually(
                lambda: serving.done() or (self.app.is_settled and len(self.table.held) == PARTITIONS), 60
            )
            yield
            stop.set()
        finally:
            self.code = await serving

    def counted(self, key: bytes = KEY) -> Count | None:
        return self.table.view(partition_for(key, PARTITIONS)).get(key)


async def committed(run: Run) -> int:
    """The offsets that the group has committed, summed up."""
    admin = AIOKafkaAdminClient(bootstrap_servers=run.plan.bootstrap_servers)
    await admin.start()
    try:
        offsets = await admin.list_consumer_group_offsets(run.plan.prefix)
    finally:
        await admin.close()
    return sum(
        found.offset
        for place, found in offsets.items()
        if place.topic == run.plan.topic("events") and found.offset > 0
    )

"""Clients of an API with streams, and a second process of the same API."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from agrajag.api.parts import Parts
from agrajag.api.permissions import Role
from agrajag.api.running import make_parts, run_api
from agrajag.api.serve import listening, url_of
from agrajag.core.policy import Policy
from agrajag.monitor.pulse import Pulse
from tests.api.changes.reading import Follower
from tests.api.running import RunningApi, bearer
from tests.waiting import eventually


def follower(api: RunningApi, role: Role = Role.ADMIN, tenant: str = "acme") -> Follower:
    """A client of this role."""
    return Follower(f"{api.url}/brain/{tenant}/changes", bearer(tenant, role))


@dataclass
class Another:
    """A second API on the topics of the first, on its loop."""

    first: RunningApi
    url: str
    parts: Parts
    task: "asyncio.Task[None]"

    async def end(self) -> None:
        """End it as a process is told to end."""
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task


@contextmanager
def another(api: RunningApi) -> Iterator[Another]:
    """It has read all that there is."""
    second = api.run(_begun(api))
    try:
        yield second
    finally:
        api.run(second.end())


async def _begun(api: RunningApi) -> Another:
    first = api.parts
    parts = make_parts(
        first.connection,
        first.topics,
        store=first.store,
        tokens=first.tokens,
        values=first.values,
        defaults=Policy(),
    )
    there = listening("127.0.0.1", 0)
    pulse = Pulse(unready_after_seconds=30.0)
    task = asyncio.create_task(run_api(parts, there, pulse))
    await eventually(lambda: pulse.readiness().ready or task.done(), 60)
    return Another(api, url_of(there), parts, task)

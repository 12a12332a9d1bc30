"""How a Kafka client of ours ends: to its end, or as far as a role that ends can wait for it."""

import asyncio
from contextlib import suppress
from typing import Protocol

from aiokafka.errors import KafkaError

STOP_TIMEOUT_SECONDS = 10.0
"""How long a client is given to end: a broker that is away must not keep a role from ending."""


class Stoppable(Protocol):
    """A producer or a consumer."""

    async def stop(self) -> None: ...


async def ended(client: Stoppable) -> None:
    """Ends a client. Of a cancellation that comes meanwhile the client would keep to itself that it came."""
    await asyncio.shield(client.stop())


async def ended_in_time(client: Stoppable) -> None:
    """Ends a client, or leaves it after `STOP_TIMEOUT_SECONDS`. What it cannot deliver any more is not told."""
    with suppress(KafkaError, OSError, TimeoutError):
        await asyncio.wait_for(client.stop(), STOP_TIMEOUT_SECONDS)

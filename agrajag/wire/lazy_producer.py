"""A producer for whoever writes now and then: started when it is first needed, and made anew once it is given up."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from agrajag.wire.ending import STOP_TIMEOUT_SECONDS, Stoppable


class LazyProducer:
    """One producer at a time, for any number of tasks."""

    def __init__(self, options: Callable[[], dict[str, Any]]) -> None:
        """`options` are the client's, asked for at each start."""
        self._options = options
        self._producer: AIOKafkaProducer | None = None
        self._starting = asyncio.Lock()
        self._ending: set[asyncio.Task[None]] = set()

    async def started(self) -> AIOKafkaProducer:
        """The producer. Raises as the client does where it cannot start; whoever asks next starts another."""
        async with self._starting:
            if self._producer is None:
                producer = AIOKafkaProducer(**self._options())
                try:
                    await producer.start()
                except BaseException:
                    await producer.stop()
                    raise
                self._producer = producer
            return self._producer

    def give_up(self, producer: Stoppable) -> None:
        """Ends this producer on nobody's time, unless another has taken its place.

        While the brokers are away that has no end: it holds a connection and its tasks until they are back.
        """
        if producer is not self._producer:
            return
        self._producer = None
        ending = asyncio.create_task(_ended(producer))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """Ends the producer; what is still on its way is given ten seconds. It may be used again."""
        if self._producer is not None:
            self.give_up(self._producer)
        if self._ending:
            _, late = await asyncio.wait(self._ending, timeout=STOP_TIMEOUT_SECONDS)
            for task in late:
                task.cancel()


async def _ended(producer: Stoppable) -> None:
    # To cut it short would leave its connection and its tasks behind for good.
    with suppress(KafkaError, OSError, TimeoutError):
        await producer.stop()

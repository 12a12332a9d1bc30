"""A producer for whoever writes now and then: started when it is first needed, and made anew once it is given up."""

import asyncio
from collections.abc import Callable
from typing import Any

from aiokafka import AIOKafkaProducer

from agrajag.wire.ending import Stoppable, ended_in_time


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
        """Ends this producer on nobody's time, unless another has taken its place."""
        if producer is not self._producer:
            return
        self._producer = None
        ending = asyncio.create_task(ended_in_time(producer))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """Ends the producer; what is still on its way is given ten seconds. It may be used again."""
        if self._producer is not None:
            self.give_up(self._producer)
        await asyncio.gather(*self._ending)

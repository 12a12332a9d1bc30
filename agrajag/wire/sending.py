"""Writes records to Kafka and says when they are there; what everything in one process writes goes through one.

The client tries by itself for as long as the brokers are away. Whoever waits does not wait that long: it is told, and
may send the same again, since every record of ours may come twice.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable
from types import TracebackType

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from agrajag.metrics import OUTPUTS
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.lazy_producer import LazyProducer
from agrajag.wire.outputs import Output
from agrajag.wire.topics import Topics
from agrajag.wire.writing import handed_over, write_errors


class Sender:
    """One idempotent producer, made when it is first needed, and made anew after an error that may have broken it.

    An async context manager: what is still on its way is given ten seconds at the end. Any number of tasks may send.
    """

    def __init__(self, connection: KafkaConnection, topics: Topics, *, answer_seconds: float = 20.0) -> None:
        self._labels = topics.labels()
        self._answer_seconds = answer_seconds
        self._producer = LazyProducer(connection.producer_options)

    async def __aenter__(self) -> "Sender":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the producer; the sender may be used again."""
        await self._producer.close()

    async def send(self, outputs: Iterable[Output]) -> None:
        """Returns when the brokers have all records; those of one key are written in the order given.

        A record without a partition goes where murmur2 of its key says. Raises TransientError if the brokers have not
        answered within `answer_seconds`, PermanentError for what they will not take, such as a record that is too
        large. Some of the records may be written then, or be written later.
        """
        records = tuple(outputs)
        if not records:
            return
        with write_errors("writing " + ", ".join(sorted({record.topic for record in records}))):
            async with asyncio.timeout(self._answer_seconds):
                producer = await self._producer.started()
                try:
                    await _delivered(producer, records)
                except KafkaError:
                    # What it has not delivered may be a hole in its sequence.
                    self._producer.give_up(producer)
                    raise
        for topic, count in Counter(record.topic for record in records).items():
            OUTPUTS.labels(self._labels[topic]).inc(count)


async def _delivered(producer: AIOKafkaProducer, records: Iterable[Output]) -> None:
    acknowledgements: list[asyncio.Future[object]] = []
    try:
        for record in records:
            acknowledgement = await handed_over(producer, record)
            acknowledgements.append(acknowledgement)
    finally:
        # All of them to their end: the event loop would complain of an error that nobody has waited for.
        ends = await asyncio.gather(*acknowledgements, return_exceptions=True)
    for end in ends:
        if isinstance(end, BaseException):
            raise end

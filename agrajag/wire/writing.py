"""Hands records to a Kafka producer, and says what its errors mean: away for now, or refused for good."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, KafkaTimeoutError

from agrajag.errors import PermanentError, TransientError
from agrajag.wire.following import kafka_errors
from agrajag.wire.outputs import Output


async def handed_over(producer: AIOKafkaProducer, output: Output) -> asyncio.Future[object]:
    """Hands over one record: it is on the brokers when the future is done. Both raise as the client does.

    Without a partition it goes where murmur2 of its key says.
    """
    topic, key, value, headers, partition = output
    acknowledgement: asyncio.Future[object] = await producer.send(
        topic, value, key, partition, headers=list(headers)
    )
    return acknowledgement


@contextmanager
def write_errors(doing: str) -> Iterator[None]:
    """As `kafka_errors`, for writing: what the client would not retry will not be taken the next time either."""
    try:
        with kafka_errors(doing):
            yield
    except TransientError as error:
        cause = error.__cause__
        if isinstance(cause, KafkaError) and not (cause.retriable or isinstance(cause, KafkaTimeoutError)):
            raise PermanentError(str(error)) from cause
        raise

"""What the errors of a Kafka producer mean: away for now, or refused for good."""

from collections.abc import Iterator
from contextlib import contextmanager

from aiokafka.errors import KafkaError, KafkaTimeoutError

from agrajag.errors import PermanentError, TransientError
from agrajag.wire.following import kafka_errors


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

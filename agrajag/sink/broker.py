"""The sink's two Kafka clients, and what their errors mean: away for now, or refused for good."""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener
from aiokafka.errors import (
    AuthenticationFailedError,
    AuthenticationMethodNotSupported,
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    IllegalSaslStateError,
    InvalidGroupIdError,
    InvalidTopicError,
    KafkaError,
    SaslAuthenticationFailed,
    TopicAuthorizationFailedError,
    UnsupportedSaslMechanismError,
    UnsupportedVersionError,
)

from agrajag.errors import PermanentError, TransientError
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.header_names import accept_any_header_name

_REFUSALS = (
    AuthenticationFailedError,
    AuthenticationMethodNotSupported,
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    IllegalSaslStateError,
    InvalidGroupIdError,
    InvalidTopicError,
    SaslAuthenticationFailed,
    TopicAuthorizationFailedError,
    UnsupportedSaslMechanismError,
    UnsupportedVersionError,
)
_STOP_TIMEOUT_SECONDS = 10.0
_NEVER_MS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Group:
    """The consumer group that sinks share. A sink that dies keeps its partitions for the session timeout."""

    name: str
    session_timeout_seconds: float = 10.0


@contextmanager
def kafka_errors(doing: str) -> Iterator[None]:
    """Turns the client's errors into ours."""
    try:
        yield
    except _REFUSALS as error:
        raise PermanentError(f"kafka: {doing}: {type(error).__name__}: {error}") from error
    except (KafkaError, OSError, TimeoutError) as error:
        raise TransientError(f"kafka: {doing}: {type(error).__name__}: {error}") from error


@asynccontextmanager
async def clients(
    connection: KafkaConnection,
    group: Group,
    topics: Collection[str],
    listener: ConsumerRebalanceListener,
) -> AsyncIterator[tuple[AIOKafkaConsumer, AIOKafkaProducer]]:
    """A consumer in the group, from the start of the topics where nothing is committed, and a producer."""
    accept_any_header_name()
    consumer = AIOKafkaConsumer(
        **connection.client_options(),
        group_id=group.name,
        session_timeout_ms=int(group.session_timeout_seconds * 1000),
        heartbeat_interval_ms=int(group.session_timeout_seconds * 1000 / 4),
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        # The client would leave the group when it is not asked for records for this long. But a sink whose store is
        # away asks for none, and no other sink would do better. It goes on heartbeating, and rejoins in the background.
        max_poll_interval_ms=_NEVER_MS,
    )
    consumer.subscribe(list(topics), listener=listener)
    producer = AIOKafkaProducer(**connection.producer_options())
    try:
        with kafka_errors("connecting"):
            await consumer.start()
            await producer.start()
        yield consumer, producer
    finally:
        for client in (consumer, producer):
            # A broker that is away must not keep the sink from ending.
            with suppress(KafkaError, OSError, TimeoutError):
                await asyncio.wait_for(client.stop(), _STOP_TIMEOUT_SECONDS)

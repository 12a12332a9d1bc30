"""Topics of their own for a test, on the session's broker."""

import pytest

from agrajag.embedded import EmbeddedKafka
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.topics import Topics
from tests.service.topics import make_topics


@pytest.fixture
def connection(kafka: EmbeddedKafka) -> KafkaConnection:
    return KafkaConnection(kafka.bootstrap_servers)


@pytest.fixture
async def topics(connection: KafkaConnection, topic_prefix: str) -> Topics:
    made = Topics(topic_prefix, partitions=4)
    await make_topics(connection, made)
    return made

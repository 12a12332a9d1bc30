"""Tests of the sink: topics and a database of their own, and the store rules of tests.store.fixtures."""

import pytest

from agrajag.embedded import EmbeddedKafka
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.topics import Topics
from tests.sink.records import make_topics
from tests.store.fixtures import database, opened, store_rules, store_uri

__all__ = ["database", "opened", "store_rules", "store_uri"]


@pytest.fixture
def connection(kafka: EmbeddedKafka) -> KafkaConnection:
    return KafkaConnection(kafka.bootstrap_servers)


@pytest.fixture
async def topics(connection: KafkaConnection, topic_prefix: str) -> Topics:
    made = Topics(topic_prefix, partitions=4)
    await make_topics(connection, made)
    return made

"""A reporter on real topics, and what came there of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from aiokafka import ConsumerRecord
from aiokafka.admin import NewTopic

from agrajag.core.lookup import Caller
from agrajag.embedded import EmbeddedKafka
from agrajag.model.events import ToolCallError, ToolCallSucceeded
from agrajag.model.health import ToolHealth
from agrajag.wire.clients import KafkaConnection, admin_client
from agrajag.wire.codec import decode
from agrajag.wire.topics import Topic, Topics
from tests.kafka_reading import read_all

PARTITIONS = 4


@dataclass(frozen=True)
class Place:
    """The topics of one test."""

    connection: KafkaConnection
    topics: Topics

    @classmethod
    async def made(cls, kafka: EmbeddedKafka, prefix: str, *others: Topic) -> "Place":
        """With the topics that a reporter writes to, and others."""
        connection, topics = KafkaConnection(kafka.bootstrap_servers), Topics(prefix, PARTITIONS)
        names = map(topics.name, (Topic.TOOL_CALL_ERRORS, Topic.TOOL_CALL_SUCCESSES, *others))
        async with admin_client(connection) as admin:
            await admin.create_topics([NewTopic(name, PARTITIONS, 1) for name in names])
        return cls(connection, topics)

    async def records(self, topic: Topic) -> list[ConsumerRecord]:
        """All that stand there."""
        return await read_all(self.connection.bootstrap_servers, self.topics.name(topic))

    async def errors(self) -> list[ToolCallError]:
        """All errors, as a worker reads them."""
        return [decode(ToolCallError, record) for record in await self.records(Topic.TOOL_CALL_ERRORS)]

    async def successes(self) -> list[ToolCallSucceeded]:
        """All successes, as a worker reads them."""
        return [decode(ToolCallSucceeded, record) for record in await self.records(Topic.TOOL_CALL_SUCCESSES)]


class Known:
    """Documents that apply to everybody who calls the tool."""

    def __init__(self, *documents: ToolHealth) -> None:
        self.documents = documents

    def documents_of(self, caller: Caller, tool_name: str) -> Sequence[ToolHealth]:
        """Those of the tool."""
        return [
            found
            for found in self.documents
            if (found.tenant_id, found.tool_name) == (caller.tenant_id, tool_name)
        ]


def now() -> datetime:
    """The time of now."""
    return datetime.now(UTC)

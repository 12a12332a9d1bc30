"""The documents that stand now: the newest revision of each key, whatever came last."""

from aiokafka import AIOKafkaProducer
from aiokafka.admin import NewTopic

from agrajag.embedded import EmbeddedKafka
from agrajag.model.health import ToolHealth
from agrajag.wire.clients import KafkaConnection, admin_client
from agrajag.wire.standing import standing_documents
from agrajag.wire.tombstones import tombstone
from agrajag.wire.topics import Topic, Topics
from tests.builders import a_health


async def test_of_each_wanted_key_the_newest_document_stands_unless_it_is_gone(
    kafka: EmbeddedKafka, topic_prefix: str
) -> None:
    connection, topics = KafkaConnection(kafka.bootstrap_servers), Topics(topic_prefix, partitions=1)
    name = topics.name(Topic.HEALTH_CHANGED)
    async with admin_client(connection) as admin:
        await admin.create_topics([NewTopic(name, 1, 1)])

    def health(tool: str, revision: int) -> ToolHealth:
        return a_health(tool_name=tool, revision=revision)

    def key(tool: str) -> str:
        return f"acme|PROJECT|essays|{tool}"

    gone = list(tombstone(name, b"", 5).headers)
    records: list[tuple[str, bytes | None, list[tuple[str, bytes]]]] = [
        ("newest-first", health("newest-first", 3).to_json(), []),
        ("newest-first", health("newest-first", 2).to_json(), []),
        ("gone", health("gone", 4).to_json(), []),
        ("gone", None, gone),
        ("back", None, gone),
        ("back", health("back", 6).to_json(), []),
        ("broken-later", health("broken-later", 1).to_json(), []),
        ("broken-later", b"garbage", []),
        ("broken-later", None, []),
        ("broken-later", health("another", 2).to_json(), []),
        ("not-wanted", health("not-wanted", 9).to_json(), []),
    ]
    async with AIOKafkaProducer(**connection.producer_options()) as producer:
        for tool, value, headers in records:
            await producer.send_and_wait(name, value, key(tool).encode(), headers=headers)
    wanted = [key(tool) for tool in ("newest-first", "gone", "back", "broken-later", "never-there")]
    assert await standing_documents(connection, topics, wanted) == {
        key("newest-first"): health("newest-first", 3),
        key("back"): health("back", 6),
        key("broken-later"): health("broken-later", 1),
    }

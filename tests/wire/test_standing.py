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

    def health(revision: int) -> ToolHealth:
        return a_health(revision=revision)

    gone = tombstone(name, b"gone", 5)
    records: list[tuple[bytes, bytes | None, list[tuple[str, bytes]]]] = [
        (b"newest-first", health(3).to_json(), []),
        (b"newest-first", health(2).to_json(), []),
        (b"gone", health(4).to_json(), []),
        (b"gone", None, list(gone.headers)),
        (b"back", None, list(gone.headers)),
        (b"back", health(6).to_json(), []),
        (b"broken-later", health(1).to_json(), []),
        (b"broken-later", b"garbage", []),
        (b"broken-later", None, []),
        (b"not-wanted", health(9).to_json(), []),
    ]
    async with AIOKafkaProducer(**connection.producer_options()) as producer:
        for key, value, headers in records:
            await producer.send_and_wait(name, value, key, headers=headers)
    wanted = ["newest-first", "gone", "back", "broken-later", "never-there"]
    assert await standing_documents(connection, topics, wanted) == {
        "newest-first": health(3),
        "back": health(6),
        "broken-later": health(1),
    }

"""The records of inbox items: read, refused, and the newest of each on a real topic."""

from datetime import timedelta
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.admin import NewTopic

from agrajag.embedded import EmbeddedKafka
from agrajag.errors import InputError
from agrajag.model.enums import InboxStatus
from agrajag.wire.clients import KafkaConnection, admin_client
from agrajag.wire.inbox_records import InboxChange, inbox_change, standing_items
from agrajag.wire.outputs import Output
from agrajag.wire.tombstones import tombstone
from agrajag.wire.topics import Topic, Topics
from tests.builders import NOW, an_inbox_item
from tests.wire.records import received

_ITEM = an_inbox_item(revision=4)
_GONE = tombstone("inbox", b"inbox-1", 5)


def test_an_item_and_its_end_are_read_with_their_revisions() -> None:
    written = received(_ITEM.to_json(), key=b"inbox-1")
    assert inbox_change(written) == InboxChange("inbox-1", 4, _ITEM)
    assert inbox_change(received(None, _GONE.headers, key=_GONE.key)) == InboxChange("inbox-1", 5, None)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (received(b"{", key=b"inbox-1"), "not_json"),
        (received({"itemId": "inbox-1"}, key=b"inbox-1"), "missing_field"),
        (received(_ITEM.to_json(), key=b"inbox-2"), "invalid_field"),
        (received(_ITEM.to_json(), key=None), "invalid_field"),
        (received(None, key=b"inbox-1"), "missing_field"),
        (received(None, _GONE.headers, key=b""), "invalid_field"),
        (received(None, _GONE.headers, key=None), "invalid_field"),
        (received(None, _GONE.headers, key=b"\xff"), "invalid_field"),
        (received(None, _GONE.headers, key=b"a\nb"), "invalid_field"),
    ],
)
def test_a_record_that_says_nothing_usable_is_refused_with_a_reason(record: Any, reason: str) -> None:
    with pytest.raises(InputError) as refused:
        inbox_change(record)
    assert refused.value.reason == reason


async def test_the_newest_of_each_item_stands_unless_it_is_gone_in_the_order_of_changes(
    kafka: EmbeddedKafka, topic_prefix: str
) -> None:
    connection, topics = KafkaConnection(kafka.bootstrap_servers), Topics(topic_prefix, partitions=2)
    name = topics.name(Topic.INBOX_ITEMS)
    async with admin_client(connection) as admin:
        await admin.create_topics([NewTopic(name, 2, 1)])
    archived = an_inbox_item(
        item_id="a", revision=3, status=InboxStatus.ARCHIVED, updated_at=NOW + timedelta(hours=1)
    )
    items = [archived, an_inbox_item(item_id="a", revision=2), an_inbox_item(item_id="b"), _ITEM]
    outputs = [Output(name, item.item_id.encode(), item.to_json()) for item in items]
    outputs += [Output(name, b"b", b"{"), tombstone(name, b"inbox-1", 5)]
    async with AIOKafkaProducer(**connection.producer_options()) as producer:
        for output in outputs:
            await producer.send_and_wait(output.topic, output.value, output.key, headers=list(output.headers))
    assert await standing_items(connection, topics) == [an_inbox_item(item_id="b"), archived]

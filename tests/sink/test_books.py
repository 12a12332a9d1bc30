"""The comparison of topic and store finds every way in which they can differ."""

import asyncio

import pytest

from agrajag.errors import PermanentError
from agrajag.sink import compare
from agrajag.sink.books import Difference, Fault
from agrajag.store import Store, Write
from agrajag.store.client import Collection
from agrajag.store.health import health_write
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.topics import Topics
from tests.builders import NOW, a_health
from tests.sink.records import Record, change, key_of, send, tombstone
from tests.waiting import eventually

_NAMES = ("equal", "extra", "missing", "newer", "older", "other", "gone")


async def test_each_kind_of_difference_is_found_and_equal_documents_are_none(
    connection: KafkaConnection, topics: Topics, opened: Store
) -> None:
    on_topic = {name: a_health(tool_name=name, revision=5) for name in _NAMES}
    records: list[Record] = [change(health) for name, health in on_topic.items() if name != "extra"]
    late = change(on_topic["equal"].with_changes(revision=4))
    broken: Record = (key_of(on_topic["equal"]), b"{", [])
    await send(connection, topics, [*records, late, broken, tombstone(key_of(on_topic["gone"]), 6)])
    in_store = [on_topic["equal"], on_topic["extra"], on_topic["newer"].with_changes(revision=6)]
    in_store += [
        on_topic["older"].with_changes(revision=4),
        on_topic["other"].with_changes(last_success_at=NOW),
    ]
    await opened.health.write(map(health_write, in_store))
    await opened.health.write([Write(key_of(on_topic["gone"]), 6, None)])

    books = await compare(connection, topics, opened)

    assert books.documents == 5
    assert books.differences == tuple(
        Difference(key_of(on_topic[name]), fault, topic_revision, store_revision)
        for name, fault, topic_revision, store_revision in (
            ("extra", Fault.EXTRA, None, 5),
            ("missing", Fault.MISSING, 5, None),
            ("newer", Fault.NEWER, 5, 6),
            ("older", Fault.OLDER, 5, 4),
            ("other", Fault.OTHER_CONTENT, 5, 5),
        )
    )


async def test_with_patience_a_store_that_is_a_little_behind_is_looked_at_again(
    connection: KafkaConnection, topics: Topics, store_uri: str, database: str
) -> None:
    health = a_health(tool_name="late", revision=5)
    await send(connection, topics, [change(health)])
    looks = 0

    class Counted(Store):
        def collection(self, kind: type[Collection]) -> Collection:
            nonlocal looks
            looks += 1
            return super().collection(kind)

    async with await Counted.open(store_uri, database) as opened:
        comparing = asyncio.create_task(compare(connection, topics, opened, patience_seconds=60))
        await eventually(lambda: looks == 2)
        await opened.health.write([health_write(health)])
        assert (await comparing).differences == ()
        assert (await compare(connection, topics, opened)).documents == 1


async def test_an_empty_topic_and_an_empty_store_agree(
    connection: KafkaConnection, topics: Topics, opened: Store
) -> None:
    books = await compare(connection, topics, opened)
    assert (books.documents, books.differences) == (0, ())


async def test_a_topic_that_is_not_there_is_an_error_and_not_an_empty_one(
    connection: KafkaConnection, topic_prefix: str, opened: Store
) -> None:
    with pytest.raises(PermanentError, match="health-changed"):
        await compare(connection, Topics(f"{topic_prefix}-none", partitions=4), opened)

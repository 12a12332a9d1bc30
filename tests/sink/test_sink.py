"""What a sink writes, sets aside and commits, on a real broker and a real store."""

import asyncio
from typing import Any

import pytest
from pymongo import AsyncMongoClient

from agrajag.model.enums import Scope, Status
from agrajag.model.health import ToolHealth
from agrajag.sink import compare
from agrajag.store import Store
from agrajag.wire import dead_letters as letters
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.topics import Topics
from tests.builders import a_health
from tests.sink.records import (
    Record,
    change,
    committed,
    dead_letters,
    key_of,
    send,
    send_with_a_header_name_that_is_no_text,
    tombstone,
)
from tests.sink.running import a_sink
from tests.waiting import eventually

Place = tuple[KafkaConnection, Topics, str, str]


@pytest.fixture
def place(connection: KafkaConnection, topics: Topics, store_uri: str, database: str) -> Place:
    return connection, topics, store_uri, database


async def _mirrored(place: Place, records: list[Record], count: int | None = None) -> None:
    """Sends the records to a running sink and returns when it has committed them, or `count` records in all."""
    connection, topics, _, _ = place
    async with a_sink(*place):
        await send(connection, topics, records)

        async def all_committed() -> bool:
            return await committed(connection, topics) == (count or len(records))

        await eventually(all_committed, timeout=60)


def _tool(number: int, revision: int = 1, **fields: Any) -> ToolHealth:
    return a_health(tool_name=f"tool-{number}", revision=revision, **fields)


async def test_every_change_is_in_the_store_before_its_offset_is_committed(
    place: Place, opened: Store
) -> None:
    connection, topics, store_uri, database = place
    healths = [_tool(number, status=Status.DOWN) for number in range(400)]
    async with AsyncMongoClient[dict[str, Any]](store_uri) as client, a_sink(*place):
        sending = asyncio.create_task(send(connection, topics, map(change, healths)))

        async def all_committed() -> bool:
            behind = await committed(connection, topics)
            in_store = await client[database][opened.health.name].count_documents({})
            if in_store < behind:
                raise RuntimeError(f"{behind} are committed, {in_store} stored")
            return behind == len(healths)

        await eventually(all_committed, timeout=60)
        await sending
    assert [await opened.health.get(key_of(health)) for health in healths[:50]] == healths[:50]


async def test_the_newest_revision_stands_although_older_ones_come_late_and_again(
    place: Place, opened: Store
) -> None:
    revisions = [3, 1, 2, 3, 5, 4, 5, 1]
    await _mirrored(place, [change(_tool(1, revision)) for revision in revisions])
    assert await opened.health.get(key_of(_tool(1))) == _tool(1, 5)


async def test_a_tombstone_removes_what_is_older_and_leaves_what_is_newer(
    place: Place, opened: Store
) -> None:
    older, newer = _tool(1, 5), _tool(2, 7)
    await _mirrored(
        place,
        [
            change(older),
            change(newer),
            tombstone(key_of(older), 6),
            tombstone(key_of(newer), 6),
            change(_tool(1, 4)),
        ],
    )
    assert await opened.health.get(key_of(older)) is None
    assert await opened.health.get(key_of(newer)) == newer
    assert (await compare(place[0], place[1], opened)).differences == ()


_GOOD_KEY = key_of(_tool(1))
_OTHER_TENANT = a_health(tenant_id="other", tool_name="tool-1", revision=99)
_UNUSABLE: dict[str, tuple[Record, str]] = {
    "not json": ((_GOOD_KEY, b"{", []), "not_json"),
    "no object": ((_GOOD_KEY, b"[1]", []), "not_an_object"),
    "a field is missing": ((_GOOD_KEY, b'{"revision":1}', []), "missing_field"),
    "the key of another tenant": ((_GOOD_KEY, _OTHER_TENANT.to_json(), []), "invalid_field"),
    "a null value without a revision": ((_GOOD_KEY, None, []), "missing_field"),
    "a revision that is no number": ((_GOOD_KEY, None, [("revision", b"-1")]), "invalid_field"),
    "a revision beyond all": ((_GOOD_KEY, None, [("revision", b"9" * 16)]), "invalid_field"),
    "a tombstone for no key": (("acme|NOWHERE|x|y", None, [("revision", b"9")]), "invalid_field"),
    "a tombstone for a key with too few parts": (("acme", None, [("revision", b"9")]), "invalid_field"),
    "a tombstone for a key escaped otherwise": (
        ("acme|PROJECT|essays|tool%2D1", None, [("revision", b"9")]),
        "invalid_field",
    ),
}


@pytest.mark.parametrize(("record", "reason"), _UNUSABLE.values(), ids=_UNUSABLE.keys())
async def test_a_record_that_says_nothing_usable_becomes_a_dead_letter_and_the_next_is_written(
    place: Place, opened: Store, record: Record, reason: str
) -> None:
    before, after = _tool(1, 1), _tool(2, 1)
    await _mirrored(place, [change(before), record, change(after)])
    (letter,) = await dead_letters(place[0], place[1], 1)
    key, value, _ = record
    assert (letter.key, letter.value) == (key.encode(), value)
    assert dict(letter.headers)[letters.REASON] == reason.encode()
    assert await opened.health.get(key_of(before)) == before
    assert await opened.health.get(key_of(after)) == after
    assert await opened.health.count("other", now=before.updated_at) == 0


async def test_records_whose_header_names_are_no_text_do_not_stop_the_sink(
    place: Place, opened: Store
) -> None:
    connection, topics, _, _ = place
    await send_with_a_header_name_that_is_no_text(connection, topics, change(_tool(1)))
    await _mirrored(place, [change(_tool(1, 2)), change(_tool(2))], count=3)
    assert await opened.health.get(key_of(_tool(1))) == _tool(1, 2)
    assert await opened.health.get(key_of(_tool(2))) == _tool(2)


async def test_a_document_that_the_store_refuses_becomes_a_dead_letter_and_the_next_is_written(
    place: Place, opened: Store
) -> None:
    async with AsyncMongoClient[dict[str, Any]](place[2]) as client:
        await client[place[3]].command(
            "collMod", opened.health.name, validator={"toolName": {"$ne": "tool-1"}}
        )
    await _mirrored(place, [change(_tool(1)), change(_tool(2))])
    (letter,) = await dead_letters(place[0], place[1], 1)
    headers = dict(letter.headers)
    assert letter.value == _tool(1).to_json()
    assert headers[letters.REASON] == b"processing_failed"
    assert b"refused by the store: code 121" in headers[letters.DETAIL]
    assert await opened.health.get(key_of(_tool(2))) == _tool(2)


async def test_a_sink_that_is_stopped_has_committed_and_the_next_goes_on_where_it_was(
    place: Place, opened: Store
) -> None:
    await _mirrored(place, [change(_tool(number)) for number in range(20)])
    assert await committed(place[0], place[1]) == 20
    # What is committed is not read again: a document that somebody has taken out stays away.
    async with AsyncMongoClient[dict[str, Any]](place[2]) as client:
        await client[place[3]][opened.health.name].delete_one({"_id": key_of(_tool(0))})
    await _mirrored(place, [change(_tool(20))], count=21)
    assert await opened.health.get(key_of(_tool(0))) is None
    assert await opened.health.get(key_of(_tool(20))) == _tool(20)


async def test_two_sinks_share_the_work_and_lose_nothing_when_one_joins_and_one_leaves(
    place: Place, opened: Store
) -> None:
    connection, topics, _, _ = place
    portions = [[_tool(number, revision) for number in range(200)] for revision in (1, 2, 3, 4)]

    async def caught_up(count: int) -> bool:
        return await committed(connection, topics) >= count

    async with a_sink(*place):
        async with a_sink(*place):
            await send(connection, topics, map(change, portions[0]))
            async with a_sink(*place):
                await send(connection, topics, map(change, portions[1]))
                await eventually(lambda: caught_up(100), timeout=60)
            await send(connection, topics, map(change, portions[2]))
        await send(connection, topics, map(change, portions[3]))
        await eventually(lambda: caught_up(800), timeout=60)
    books = await compare(connection, topics, opened)
    assert (books.documents, books.differences) == (200, ())


async def test_hostile_names_are_names_like_any_other(place: Place, opened: Store) -> None:
    names = ["$where", "a.b", "$", "a|b", "%7C", "{'$gt': ''}", "\U0001f600"]
    healths = [
        a_health(tenant_id=f"{name}t", scope=Scope.USER, scope_id=name, tool_name=f"{name}tool")
        for name in names
    ]
    await _mirrored(place, [change(health) for health in healths])
    for health in healths:
        assert await opened.health.get(key_of(health)) == health
        assert (await opened.health.page(health.tenant_id, now=health.updated_at)).documents == (health,)

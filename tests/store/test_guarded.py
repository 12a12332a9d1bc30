"""Of all writes to a key the highest revision stands, in whatever order, however often, from whoever."""

import asyncio
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pymongo import AsyncMongoClient

from agrajag.store import Store, Write
from agrajag.store.guarded import BULK_LIMIT, GONE_FOR

_ON_ONE_STORE = settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

_histories = st.lists(st.tuples(st.integers(1, 6), st.booleans()), min_size=1, max_size=8)
"""Revisions in the order in which they arrive; True: the document is gone as of this revision."""


def _write(key: str, revision: int, *, gone: bool = False) -> Write:
    return Write(key, revision, None if gone else {"tenantId": "acme", "word": f"as of {revision}"})


async def _word(store: Store, key: str) -> str | None:
    words = {raw["_id"]: raw["word"] async for raw in store.health.raw_documents()}
    return words.get(key)


async def test_a_document_written_twice_is_written_once(opened: Store) -> None:
    first = await opened.health.write([_write("a", 5)])
    again = await opened.health.write([_write("a", 5)])
    assert (first.stored, first.stale) == (1, 0)
    assert (again.stored, again.stale) == (0, 1)
    assert await _word(opened, "a") == "as of 5"


@_ON_ONE_STORE
@given(history=_histories, split=st.integers(0, 8))
async def test_the_highest_revision_stands_in_whatever_order_writes_arrive(
    opened: Store, history: list[tuple[int, bool]], split: int
) -> None:
    # A revision belongs to one state, so the first word on each counts.
    states = dict(reversed([(revision, gone) for revision, gone in history]))
    key = uuid4().hex
    writes = [_write(key, revision, gone=states[revision]) for revision, _ in history]
    for write in writes[:split]:
        await opened.health.write([write])
    await opened.health.write(writes[split:])
    last = max(states)
    assert await _word(opened, key) == (None if states[last] else f"as of {last}")


async def test_a_tombstone_deletes_what_is_older_and_nothing_newer(opened: Store) -> None:
    await opened.health.write([_write("older", 4), _write("same", 5), _write("newer", 6)])
    gone = await opened.health.write([_write(key, 5, gone=True) for key in ("older", "same", "newer")])
    assert (gone.stored, gone.stale) == (1, 2)
    assert await _word(opened, "older") is None
    assert await _word(opened, "same") == "as of 5"
    assert await _word(opened, "newer") == "as of 6"


async def test_a_late_write_does_not_bring_a_gone_document_back_and_a_newer_one_does(opened: Store) -> None:
    await opened.health.write([_write("a", 5, gone=True)])
    await opened.health.write([_write("a", 4)])
    assert await _word(opened, "a") is None
    await opened.health.write([_write("a", 6)])
    assert await _word(opened, "a") == "as of 6"


async def test_a_marker_of_a_gone_document_ends_by_itself_after_a_day(
    opened: Store, store_uri: str, database: str
) -> None:
    await opened.health.write([_write("a", 5, gone=True)])
    async with AsyncMongoClient[dict[str, Any]](store_uri, tz_aware=True) as client:
        collection = client[database].tool_health
        marker = await collection.find_one({"_id": "a"})
        indexes = await collection.index_information()
    assert marker is not None
    assert set(marker) == {"_id", "revision", "goneAt"}
    assert abs((datetime.now(UTC) - marker["goneAt"]).total_seconds()) < 60
    lifetimes = {
        name: index["expireAfterSeconds"] for name, index in indexes.items() if "expireAfterSeconds" in index
    }
    assert lifetimes == {"goneAt_1": GONE_FOR.total_seconds()}


async def test_more_documents_than_one_bulk_takes_are_all_written(opened: Store) -> None:
    written = await opened.health.write([_write(f"k{number:05}", 1) for number in range(BULK_LIMIT + 1)])
    assert written.stored == BULK_LIMIT + 1
    assert len([raw async for raw in opened.health.raw_documents()]) == BULK_LIMIT + 1


@pytest.mark.parametrize(
    "document",
    [
        {"text": "x" * (17 * 1024 * 1024)},
        {"number": 2**80},
        {"text": "\ud800"},
        {"a\0b": 1},
    ],
    ids=["too large", "too large a number", "lone surrogate", "NUL in a name"],
)
async def test_a_document_that_the_store_cannot_hold_is_refused_alone(
    opened: Store, document: dict[str, Any]
) -> None:
    written = await opened.health.write([_write("before", 1), Write("bad", 1, document), _write("after", 1)])
    assert written.stored == 2
    assert [refusal.write.key for refusal in written.refused] == ["bad"]
    assert await _word(opened, "before") == await _word(opened, "after") == "as of 1"


async def test_two_writers_at_once_leave_the_highest_revision(
    opened: Store, store_uri: str, database: str
) -> None:
    keys = [f"k{number}" for number in range(50)]
    async with await Store.open(store_uri, database) as other:
        for base in (0, 10, 20):
            await asyncio.gather(
                opened.health.write([_write(key, base + 1) for key in keys]),
                other.health.write([_write(key, base + 3) for key in reversed(keys)]),
                opened.health.write([_write(key, base + 2) for key in keys]),
            )
    words = {raw["_id"]: raw["word"] async for raw in opened.health.raw_documents()}
    assert words == dict.fromkeys(keys, "as of 23")


async def test_what_the_server_refuses_is_named_with_its_reason_and_holds_nothing_up(
    opened: Store, store_uri: str, database: str
) -> None:
    async with AsyncMongoClient[dict[str, Any]](store_uri) as client:
        await client[database].command("collMod", "tool_health", validator={"word": {"$ne": "as of 13"}})
        await client[database].tool_health.create_index([("word", 1)], unique=True)
    written = await opened.health.write(
        [_write("a", 1), _write("invalid", 13), _write("same word", 1), _write("b", 2)]
    )
    assert (written.stored, written.stale) == (2, 0)
    assert {refusal.write.key: refusal.reason.partition(":")[0] for refusal in written.refused} == {
        "invalid": "code 121",
        "same word": "code 11000",
    }


@pytest.mark.parametrize("key", ["$where", "a.b", "$", "a\x00b", "ä" * 1500, "acme|USER|%7C|x", "\U0001f600"])
async def test_a_hostile_key_is_a_key_like_any_other(opened: Store, key: str) -> None:
    await opened.health.write([_write(key, 1), _write(key + "x", 1)])
    await opened.health.write([_write(key, 2), _write(key + "x", 2, gone=True)])
    assert await _word(opened, key) == "as of 2"
    assert await _word(opened, key + "x") is None

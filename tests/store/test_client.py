"""Opening the store: which kind it is, what it needs, and what it says when it cannot."""

from collections.abc import Callable
from typing import Any

import pytest
from pymongo import AsyncMongoClient, MongoClient

from agrajag.embedded import EmbeddedStore
from agrajag.embedded.ports import pick_free
from agrajag.errors import ConfigError, TransientError
from agrajag.store import Store
from agrajag.store.health import health_write
from tests.builders import a_health


async def test_retryable_writes_are_off_on_the_embedded_store_whatever_the_uri_says(
    store: EmbeddedStore, database: str
) -> None:
    uri = store.uri.replace("retryWrites=false", "retryWrites=true")
    async with await Store.open(uri, database) as opened:
        assert opened.embedded
        assert opened._client.options.retry_writes is False


async def test_opening_twice_finds_the_indexes_that_are_there(store_uri: str, database: str) -> None:
    for _ in range(2):
        async with await Store.open(store_uri, database):
            pass
    with MongoClient[dict[str, Any]](store_uri) as client:
        keys = [list(index["key"].items()) for index in client[database].tool_health.list_indexes()]
    assert [("tenantId", 1), ("scope", 1), ("_id", 1)] in keys
    assert [("tenantId", 1), ("possibleStatuses", 1), ("_id", 1)] in keys
    assert len(keys) == 4


async def test_another_index_in_the_way_is_a_config_error(store_uri: str, database: str) -> None:
    async with AsyncMongoClient[dict[str, Any]](store_uri) as client:
        await client[database].tool_health.create_index([("goneAt", 1)], name="goneAt_1")
    with pytest.raises(ConfigError, match="indexes of tool_health"):
        await Store.open(store_uri, database)


@pytest.mark.parametrize(
    "uri", ["http://127.0.0.1", "mongodb://", "mongodb://a:b:c@127.0.0.1", "mongodb://127.0.0.1:no"]
)
async def test_a_uri_that_is_none_is_a_config_error(uri: str) -> None:
    with pytest.raises(ConfigError, match="store"):
        await Store.open(uri, "agrajag")


async def test_a_database_name_that_is_none_is_a_config_error(store_uri: str) -> None:
    with pytest.raises(ConfigError, match="store"):
        await Store.open(store_uri, "a.b")


async def test_a_name_that_no_name_server_tells_may_come_later() -> None:
    with pytest.raises(TransientError, match="store is away"):
        await Store.open("mongodb+srv://store.example.invalid/", "agrajag")


async def test_nobody_there_is_a_transient_error() -> None:
    with pytest.raises(TransientError, match="store is away"):
        await Store.open(f"mongodb://127.0.0.1:{pick_free()}/?directConnection=true", "agrajag")


async def test_a_store_that_was_killed_is_away_and_then_back_with_all_it_acknowledged(
    own_store: Callable[[], EmbeddedStore],
) -> None:
    own = own_store()
    async with await Store.open(own.uri, "agrajag") as opened:
        await opened.health.write([health_write(a_health(revision=1))])
        own.kill()
        with pytest.raises(TransientError):
            await opened.health.write([health_write(a_health(revision=2))])
        with pytest.raises(TransientError):
            await opened.health.get("any")
        own.restart()
        assert (await opened.health.write([health_write(a_health(revision=1))])).stale == 1
        assert (await opened.health.write([health_write(a_health(revision=2))])).stored == 1

"""Fixtures of the store and sink tests: an open store on a database of its own, with the store rules watching.

`AGRAJAG_TEST_MONGODB_URI` runs these tests on a MongoDB instead of the embedded store; those that kill their store keep
to the embedded one. That one is thrown away as a whole, which is quicker than to drop what is in it.
"""

import os
import uuid
from collections.abc import AsyncIterator, Iterator

import pytest
from pymongo import MongoClient, monitoring

from agrajag.embedded import EmbeddedStore
from agrajag.store import Store
from tests.store.rules import StoreRules

_GIVEN = "AGRAJAG_TEST_MONGODB_URI"
_RULES = StoreRules()
monitoring.register(_RULES)


@pytest.fixture(autouse=True)
def store_rules() -> Iterator[StoreRules]:
    with _RULES.checked():
        yield _RULES


@pytest.fixture
def store_uri(request: pytest.FixtureRequest) -> str:
    given = os.environ.get(_GIVEN)
    if given:
        return given
    embedded: EmbeddedStore = request.getfixturevalue("store")
    return embedded.uri


@pytest.fixture
def database(store_uri: str) -> Iterator[str]:
    """The name of a database that no other test has; dropped at the end from a store that stays."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    yield name
    if _GIVEN in os.environ:
        with MongoClient[dict[str, object]](store_uri) as client:
            client.drop_database(name)


@pytest.fixture
async def opened(store_uri: str, database: str) -> AsyncIterator[Store]:
    async with await Store.open(store_uri, database) as store:
        yield store

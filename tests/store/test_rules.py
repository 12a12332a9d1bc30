"""The store rules themselves: each forbidden shape is seen, and what we use passes."""

from typing import Any

import pytest
from pymongo import MongoClient

from tests.store.rules import StoreRules, violations

_FORBIDDEN: list[dict[str, Any]] = [
    {"findAndModify": "things", "query": {"_id": 1}, "update": {"$set": {"a": 1}}},
    {"bulkWrite": 1, "ops": []},
    {"distinct": "things", "key": "a"},
    {"update": "things", "updates": [{"q": {"$or": [{"a": 1}]}, "u": {"$set": {"a": 1}}}]},
    {"update": "things", "updates": [{"q": {"_id": 1}, "u": [{"$set": {"o.x": 1}}]}]},
    {"update": "things", "updates": [{"q": {"_id": 1}, "u": [{"$set": {"o": {"b": 2}}}]}]},
    {"update": "things", "updates": [{"q": {"_id": 1}, "u": [{"$set": {"o": "$secret"}}]}]},
    {"delete": "things", "deletes": [{"q": {"$expr": {}}, "limit": 0}]},
    {"find": "things", "filter": {"f": {"$in": [2, 1]}}, "sort": {"f": 1}},
    {"find": "things", "filter": {"$or": [{"a": 1}]}},
    {"createIndexes": "things", "indexes": [{"key": {"u": 1, "f": -1}}]},
]
_ALLOWED: list[dict[str, Any]] = [
    {
        "update": "things",
        "updates": [{"q": {"_id": 1, "revision": {"$lt": 3}}, "u": {"a": {"b": 2}}, "upsert": True}],
    },
    {"update": "things", "updates": [{"q": {"_id": 1}, "u": {"$set": {"o.x": 1}}}]},
    {"update": "things", "updates": [{"q": {"_id": 1}, "u": [{"$set": {"o": {"$literal": {"b": "$x"}}}}]}]},
    {"delete": "things", "deletes": [{"q": {"_id": 1}, "limit": 1}]},
    {"find": "things", "filter": {"f": {"$in": [2, 1]}}, "sort": {"g": 1}},
    {"createIndexes": "things", "indexes": [{"key": {"u": 1, "f": 1}}]},
    {"hello": 1},
]


@pytest.mark.parametrize("command", _FORBIDDEN, ids=str)
def test_a_shape_that_the_servers_treat_differently_is_seen(command: dict[str, Any]) -> None:
    assert violations(command)


@pytest.mark.parametrize("command", _ALLOWED, ids=str)
def test_a_shape_that_works_everywhere_passes(command: dict[str, Any]) -> None:
    assert violations(command) == []


def test_the_rules_watch_every_client_of_these_tests(
    store_uri: str, database: str, store_rules: StoreRules
) -> None:
    with MongoClient[dict[str, Any]](store_uri) as client:
        client[database].things.find_one_and_update({"_id": "a"}, {"$set": {"b": 1}})
    assert store_rules.broken == ["findAndModify: scans the collection"]
    store_rules.broken.clear()


def test_a_broken_rule_fails_the_test_that_broke_it() -> None:
    rules = StoreRules()
    with pytest.raises(AssertionError, match="scans the collection"), rules.checked():
        rules.broken += violations({"findAndModify": "things"})

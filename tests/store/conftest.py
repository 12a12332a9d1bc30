"""Tests of the store: see tests.store.fixtures."""

from tests.store.fixtures import database, opened, store_rules, store_uri

__all__ = ["database", "opened", "store_rules", "store_uri"]

"""Tests of the investigation that need a store: see tests.store.fixtures."""

from tests.store.fixtures import database, opened, store_uri

__all__ = ["database", "opened", "store_uri"]

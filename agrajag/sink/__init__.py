"""Mirrors topics into the store, and compares the two."""

from agrajag.sink.books import Books, Difference, compare
from agrajag.sink.routes import ROUTES, Route
from agrajag.sink.run import run_sink
from agrajag.wire.membership import Group

__all__ = ["ROUTES", "Books", "Difference", "Group", "Route", "compare", "run_sink"]

"""Mirrors topics into the store, and compares the two."""

from agrajag.sink.books import Books, Difference, compare
from agrajag.sink.broker import Group
from agrajag.sink.routes import ROUTES, Route
from agrajag.sink.run import run_sink

__all__ = ["ROUTES", "Books", "Difference", "Group", "Route", "compare", "run_sink"]

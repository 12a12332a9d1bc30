"""Reads the titles of the specification, and marks the tests that hold what they say."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

import pytest
import yaml

Test = TypeVar("Test", bound=Callable[..., object])


class Requirement(NamedTuple):
    """A requirement; the titles of its clauses stand before those of its scenarios, each in order."""

    title: str
    clauses: tuple[str, ...]
    scenarios: tuple[str, ...]


def read_titles() -> tuple[Requirement, ...]:
    """The requirements in their order."""
    read = yaml.safe_load(Path(__file__).with_name("titles.yaml").read_text("utf-8"))
    return tuple(
        Requirement(each["requirement"], tuple(each["clauses"]), tuple(each["scenarios"])) for each in read
    )


def scenario(title: str) -> Callable[[Test], Test]:
    """The test plays this scenario."""
    return pytest.mark.scenario(title)


def clause(title: str) -> Callable[[Test], Test]:
    """The test holds this clause of a requirement."""
    return pytest.mark.clause(title)

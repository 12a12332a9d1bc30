"""No clause or scenario of the specification is without a test, and no test is for one that is not there."""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from tests.investigation.scenarios.titles import Requirement, read_titles

REQUIREMENTS = read_titles()


class Marked(NamedTuple):
    """A test with its title; `kind` is `clause` or `scenario`."""

    kind: str
    title: str
    name: str


def files_of(number: int) -> list[Path]:
    """The files of a requirement, in their order."""
    return sorted(Path(__file__).parent.glob(f"test_{number}[a-z_]*.py"))


def marked(module: ModuleType) -> Iterator[Marked]:
    """The marked tests of a module, in the order in which they stand there."""
    tests = [
        value for name, value in inspect.getmembers(module, inspect.isfunction) if name.startswith("test_")
    ]
    for test in sorted(tests, key=lambda each: inspect.unwrap(each).__code__.co_firstlineno):
        for mark in getattr(test, "pytestmark", ()):
            if mark.name in ("clause", "scenario"):
                yield Marked(mark.name, mark.args[0], test.__name__)


def of_requirement(number: int) -> list[Marked]:
    modules = [import_module(f"{__package__}.{path.stem}") for path in files_of(number)]
    return [test for module in modules for test in marked(module)]


def test_the_titles_are_those_of_the_specification_by_number() -> None:
    assert len(REQUIREMENTS) == 8
    assert [len(each.scenarios) for each in REQUIREMENTS] == [2, 2, 2, 5, 2, 3, 2, 4]
    assert all(" SHALL " in each.title for each in REQUIREMENTS)
    titles = [title for each in REQUIREMENTS for title in (*each.clauses, *each.scenarios)]
    assert len(set(titles)) == len(titles)


def test_no_file_is_for_a_requirement_that_is_not_there() -> None:
    numbered = sorted(Path(__file__).parent.glob("test_[0-9]*.py"))
    assert numbered == [path for number in range(1, len(REQUIREMENTS) + 1) for path in files_of(number)]


@pytest.mark.parametrize(("number", "requirement"), list(enumerate(REQUIREMENTS, 1)))
@pytest.mark.parametrize("kind", ["clause", "scenario"])
def test_each_title_has_its_tests_and_they_stand_in_the_order_of_the_specification(
    number: int, requirement: Requirement, kind: str
) -> None:
    titles = requirement.clauses if kind == "clause" else requirement.scenarios
    tested = [test.title for test in of_requirement(number) if test.kind == kind]
    assert list(dict.fromkeys(tested)) == list(titles)


@pytest.mark.parametrize("number", range(1, len(REQUIREMENTS) + 1))
def test_a_test_is_named_after_its_title(number: int) -> None:
    for test in of_requirement(number):
        words = re.findall(r"[a-z0-9]+", test.title.lower())
        assert test.name.startswith(f"test_{'_'.join(words)}"), test.title

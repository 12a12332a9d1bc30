"""What the index of runbooks holds when its work is cut."""

from collections.abc import Iterator

import pytest

from agrajag.investigation.off_loop import Reading, TimeIsUp
from agrajag.investigation.runbooks.index import RunbookIndex
from agrajag.investigation.runbooks.markdown_sections import Section
from agrajag.investigation.runbooks.search_words import wanted


@pytest.fixture
def index() -> Iterator[RunbookIndex]:
    one = RunbookIndex(excerpt_characters=100)
    one.replace("a.md", [Section(("Old",), "zebra")], Reading(60))
    yield one
    one.close()


def headings(index: RunbookIndex, query: str) -> list[str]:
    return [hit.heading for hit in index.find(wanted(query), 10, Reading(60))[0]]


def test_a_change_that_is_cut_changes_nothing(index: RunbookIndex) -> None:
    class Cut(Reading):
        """Is over after two sections."""

        looks = 0

        @property
        def is_over(self) -> bool:
            self.looks += 1
            return self.looks > 2

    with pytest.raises(TimeIsUp):
        index.replace("a.md", [Section(("New",), "zebra")] * 5, Cut(60))

    assert headings(index, "zebra") == ["Old"]
    index.replace("a.md", [Section(("New",), "zebra")], Reading(60))
    assert headings(index, "zebra") == ["New"]


def test_a_search_that_takes_too_long_is_cut(index: RunbookIndex) -> None:
    index.replace("b.md", [Section(("Many",), "zebra " * 20) for _ in range(500)], Reading(60))

    with pytest.raises(TimeIsUp):
        index.find(wanted("zebra"), 10, Reading(0))

    assert len(headings(index, "zebra")) == 10

"""How right bundled rules and packs are on the open corpus: the goals of `make bench`, held."""

import pytest

from tests.bench.__main__ import GOALS, reached
from tests.bench.labelled import measure
from tests.corpus.reading import scored


@pytest.mark.parametrize("figure", [name for name in GOALS if name.startswith("corpus.")])
def test_the_figures_of_the_open_corpus_reach_their_goals(figure: str) -> None:
    value = measure()[figure]
    assert reached(figure, value), f"{figure} is {value:.3f}, the goal {GOALS[figure]}"


@pytest.mark.parametrize("leave_family_out", [False, True])
def test_there_is_no_harmful_confusion(leave_family_out: bool) -> None:
    assert [one.record.id for one in scored(leave_family_out=leave_family_out).harmful] == []

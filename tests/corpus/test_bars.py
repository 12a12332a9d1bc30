"""How right bundled rules and packs are on the open corpus."""

import pytest

from tests.corpus.reading import scored

BARS = {"unambiguous": 0.95, "acceptable": 0.90, "cooldown": 1.0}
LEFT_UNCLEAR = 0.20
WITHOUT_THE_FAMILY = 0.75


@pytest.mark.parametrize(("figure", "bar"), BARS.items())
def test_the_figures_reach_their_bars(figure: str, bar: float) -> None:
    share = getattr(scored(), figure).share
    assert share >= bar, f"{figure} {share:.3f}"


def test_no_more_is_left_unclear_than_so_much() -> None:
    assert (scored().unclear.share or 0) <= LEFT_UNCLEAR


@pytest.mark.parametrize("leave_family_out", [False, True])
def test_there_is_no_harmful_confusion(leave_family_out: bool) -> None:
    assert [one.record.id for one in scored(leave_family_out=leave_family_out).harmful] == []


def test_general_rules_alone_reach_their_bar_on_families_that_they_do_not_know() -> None:
    assert (scored(leave_family_out=True).unambiguous.share or 0) >= WITHOUT_THE_FAMILY

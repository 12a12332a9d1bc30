"""Params that anybody may have written: bounded, and never lost to junk."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.service.params import is_pinned_to_tenant, max_iterations, max_probes, model_wishes


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (0, 0), (1, 1), (6, 6), (7, 6), (10**30, 6), (-1, 0), (-(10**30), 0),
        ("2", 2), (" 4 ", 4), ("-3", 0), ("99", 6), (2.0, 2),
        (2.5, 3), ("2.5", 3), ("two", 3), ("", 3), (None, 3), (True, 3), (False, 3), ([], 3), ({}, 3),
        (float("nan"), 3), (float("inf"), 3), ("9" * 5_000, 3),
    ],
)  # fmt: skip
def test_probes_are_three_unless_a_number_says_otherwise_and_never_more_than_six(
    said: Any, meant: int
) -> None:
    assert max_probes({"maxProbes": said}) == meant


def test_iterations_are_counted_apart_from_probes() -> None:
    params = {"maxProbes": 0, "maxIterations": "5"}
    assert (max_probes(params), max_iterations(params)) == (0, 5)
    assert (max_probes({}), max_iterations({})) == (3, 3)
    assert (max_iterations({"maxIterations": 0}), max_iterations({"maxIterations": 1_000})) == (1, 12)


_NAMES = st.sampled_from(["maxProbes", "maxIterations"])
_VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()


@given(st.dictionaries(_NAMES, _VALUES))
def test_whatever_is_written_a_run_is_bounded(params: dict[str, Any]) -> None:
    assert 0 <= max_probes(params) <= 6
    assert 1 <= max_iterations(params) <= 12


def test_wishes_come_in_their_order() -> None:
    assert model_wishes({"model": "default:agrajag,default:fast"}) == ("default:agrajag", "default:fast")
    assert model_wishes({"model": " small , ,large,"}) == ("small", "large")
    assert model_wishes({}) == model_wishes({"model": ["small"]}) == ()


def test_only_the_word_tenant_pins() -> None:
    assert is_pinned_to_tenant({"aiScope": "tenant"})
    others: list[dict[str, Any]] = [{}, {"aiScope": "project"}, {"aiScope": None}]
    assert not any(is_pinned_to_tenant(params) for params in others)

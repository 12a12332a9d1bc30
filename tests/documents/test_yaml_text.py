"""YAML that is made to cost much costs little."""

import time
from contextlib import suppress

import pytest

from agrajag.documents.yaml_text import NotYaml, read_yaml


def _lists(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines)


def _merges(levels: int) -> str:
    lines = ["m0: &m0 {a: 1, b: 2}"]
    lines += [f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 9)}], k{n}: 1}}" for n in range(1, levels)]
    return "\n".join(lines)


def test_lists_of_lists_of_aliases_are_read_at_no_cost() -> None:
    started = time.process_time()
    data = read_yaml(_lists(40))
    assert isinstance(data, dict)
    assert len(data) == 40
    assert time.process_time() - started < 1


def test_merge_keys_in_merge_keys_cost_no_more_than_other_text() -> None:
    started = time.process_time()
    with suppress(NotYaml):  # newer versions of the library can read it
        read_yaml(_merges(40))
    assert time.process_time() - started < 2


def test_merge_keys_that_go_through_many_pairs_many_times_end_soon() -> None:
    pairs = ", ".join(f"k{n}: 1" for n in range(10_000))
    started = time.process_time()
    with pytest.raises(NotYaml, match="merge keys hold more than 500000 pairs"):
        read_yaml("b: &b {" + pairs + "}\nc: {<<: [" + ", ".join(["*b"] * 40_000) + "]}")
    assert time.process_time() - started < 5


def test_a_merge_key_of_ordinary_size_is_read() -> None:
    assert read_yaml("base: &b {a: 1}\nmore: {<<: *b, c: 2}") == {"base": {"a": 1}, "more": {"a": 1, "c": 2}}

"""JSON values of somebody else: one spelling, and a bound on what they may cost."""

import json

from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.samples import MAX_DEPTH, MAX_SAMPLE_BYTES, canonical_json, plain

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.dates(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4) | st.integers(), inner),
    max_leaves=12,
)


@given(_JSON)
def test_a_sample_is_spelled_in_one_way_or_not_at_all(value: object) -> None:
    spelled = canonical_json(value)
    if spelled is not None:
        assert len(spelled) <= MAX_SAMPLE_BYTES
        assert canonical_json(json.loads(spelled)) == spelled


def test_keys_are_in_order_and_nothing_stands_between() -> None:
    assert canonical_json({"b": [1, None], "a": "ä"}) == '{"a":"ä","b":[1,null]}'.encode()


def test_what_is_no_json_or_too_large_has_no_spelling() -> None:
    deep: object = 1
    for _ in range(MAX_DEPTH + 1):
        deep = [deep]
    looped: list[object] = []
    looped.append(looped)
    wrong = (float("nan"), {1: 2}, {1, 2}, b"x", "\ud800", 10**5_000, "x" * MAX_SAMPLE_BYTES, deep, looped)
    assert [canonical_json(value) for value in wrong] == [None] * len(wrong)
    assert canonical_json("x" * (MAX_SAMPLE_BYTES - 2)) is not None


def test_a_plain_copy_shares_nothing_with_what_it_was_made_of() -> None:
    given = {"a": [1]}
    copied = plain(given)
    given["a"].append(2)
    assert copied == {"a": [1]}
    assert plain({"a": object()}) is None

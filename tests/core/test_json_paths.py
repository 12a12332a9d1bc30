"""Values at paths of a JSON body: all paths in one walk, a number as its digits."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.json_paths import EACH, MAX_ENTRIES, MAX_STEPS, Path, PathTree, parse_path, path_text


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("code", ("code",)),
        ("error.code", ("error", "code")),
        ("[0].errorCode", (0, "errorCode")),
        ("errors[0].extensions.code", ("errors", 0, "extensions", "code")),
        ("error.errors[].reason", ("error", "errors", EACH, "reason")),
        ("[].code", (EACH, "code")),
        ("a-b.@type", ("a-b", "@type")),
    ],
)
def test_a_path_is_read_and_written_as_it_stands(written: str, path: Path) -> None:
    assert parse_path(written) == path
    assert path_text(path) == written


@pytest.mark.parametrize(
    "written",
    ["", ".", "a.", ".a", "a..b", "a[", "a]", "a[x]", "a[-1]", "a[1234]", ".".join("a" * (MAX_STEPS + 1)), "x" * 81],
)  # fmt: skip
def test_what_is_no_path_is_none(written: str) -> None:
    assert parse_path(written) is None


@pytest.mark.parametrize(
    ("written", "body", "found"),
    [
        ("code", {"code": 42}, ["42"]),
        ("code", {"code": "42"}, ["42"]),
        ("code", {"code": 42.0}, ["42"]),
        ("code", {"code": 42.5}, []),
        ("code", {"code": True}, []),
        ("code", {"code": None}, []),
        ("code", {"code": {"a": 1}}, []),
        ("code", {"code": 10**60}, []),
        ("error.code", {"error": "no object"}, []),
        ("errors[].code", {"errors": [{"code": "a"}, {"other": 1}, {"code": "b"}]}, ["a", "b"]),
        ("errors[1].code", {"errors": [{"code": "a"}, {"code": "b"}]}, ["b"]),
        ("errors[2].code", {"errors": [{"code": "a"}]}, []),
        ("[0].code", [{"code": "a"}], ["a"]),
        ("code", [{"code": "a"}], []),
    ],
)
def test_the_values_at_a_path_are_texts_and_whole_numbers(written: str, body: Any, found: list[str]) -> None:
    path = parse_path(written)
    assert path is not None
    assert [value for _, value in PathTree([path]).values(body)] == found


def test_of_a_long_list_the_beginning_is_looked_at() -> None:
    tree = PathTree([(EACH,)])
    assert len(list(tree.values(list(range(1_000))))) == MAX_ENTRIES


_NAMES = st.sampled_from(["a", "b", "c"])
_PATHS = st.lists(_NAMES | st.sampled_from([0, 1, EACH]), min_size=1, max_size=4).map(tuple)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["x", "1"]) | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=20,
)


def _one_by_one(path: Path, data: Any) -> list[str]:
    """The same, one path after the other."""
    if not path:
        if isinstance(data, float):
            is_exact = abs(data) < 1e15 and data == data // 1  # beyond it nobody's digits would be meant
            return [str(int(data))] if is_exact else []
        return [str(data)] if isinstance(data, str | int) and not isinstance(data, bool) else []
    step, rest = path[0], path[1:]
    if isinstance(step, str):
        return _one_by_one(rest, data[step]) if isinstance(data, dict) and step in data else []
    entries = (data if step == EACH else data[step : step + 1]) if isinstance(data, list) else []
    return [found for entry in entries for found in _one_by_one(rest, entry)]


@given(st.lists(_PATHS, max_size=6, unique=True), _JSON)
def test_many_paths_together_always_find_what_each_finds_alone(paths: list[Path], body: Any) -> None:
    found: dict[Path, list[str]] = {}
    for path, value in PathTree(paths).values(body):
        found.setdefault(path, []).append(value)
    alone = {path: values for path in paths if (values := _one_by_one(path, body))}
    assert {path: sorted(values) for path, values in found.items()} == {
        path: sorted(values) for path, values in alone.items()
    }

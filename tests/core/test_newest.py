"""Of all that is told of a key the highest revision stands, whatever comes when and how often."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.newest import Newest, Standing

_TOLD = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 6)), max_size=20)


def value_of(key: str, revision: int) -> str | None:
    """What is told of a key as of a revision is always the same; every third time, that it is gone."""
    return None if revision % 3 == 2 else f"{key}{revision}"


def told(words: list[tuple[str, int]]) -> Newest[str, str]:
    newest: Newest[str, str] = Newest()
    for key, revision in words:
        newest.take(key, revision, value_of(key, revision))
    return newest


@given(_TOLD, st.randoms())
def test_any_order_and_any_repeats_end_with_the_highest_revision_of_each_key(
    words: list[tuple[str, int]], random: Random
) -> None:
    shuffled = words + words[: len(words) // 2]
    random.shuffle(shuffled)
    newest = told(shuffled)
    highest = {key: max(revision for other, revision in words if other == key) for key, _ in words}
    standing = {
        Standing(key, revision, value)
        for key, revision in highest.items()
        if (value := value_of(key, revision)) is not None
    }
    assert set(newest) == standing
    assert len(newest) == len(standing)
    assert newest.told_of("abc") == sorted(standing)
    assert {key: newest.revision(key) for key in "abc"} == {key: highest.get(key) for key in "abc"}
    assert {key: newest.get(key) for key in highest} == {
        key: value_of(key, revision) for key, revision in highest.items()
    }


def test_only_what_changes_something_is_new() -> None:
    newest: Newest[str, str] = Newest()
    assert newest.take("a", 0, "first")
    assert not newest.take("a", 0, "again")
    assert newest.take("a", 1, None)
    assert not newest.take("a", 0, "late")
    assert newest.get("a") is None


def test_what_is_gone_can_be_forgotten_and_what_stands_cannot() -> None:
    newest = told([("a", 2), ("b", 2), ("b", 3)])
    newest.forget("a", 1)
    newest.forget("b", 2)
    newest.forget("b", 3)
    newest.forget("never", 1)
    assert (newest.revision("a"), newest.revision("b")) == (2, 3)
    newest.forget("a", 2)
    assert newest.revision("a") is None
    assert (len(newest), newest.get("b")) == (1, "b3")


@given(_TOLD, st.sampled_from("abc"), st.integers(0, 6))
def test_what_is_struck_is_as_if_nothing_had_been_told_of_its_key_and_nothing_else_is(
    words: list[tuple[str, int]], key: str, revision: int
) -> None:
    newest = told(words)
    was_newest = newest.revision(key) == revision
    newest.strike(key, revision)
    expected = told([word for word in words if word[0] != key]) if was_newest else told(words)
    assert (set(newest), len(newest)) == (set(expected), len(expected))
    assert {key: newest.told(key) for key in "abc"} == {key: expected.told(key) for key in "abc"}

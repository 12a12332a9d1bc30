"""Which part of a long text is shown."""

from hypothesis import given
from hypothesis import strategies as st

from agrajag.investigation.runbooks.excerpts import excerpt


def spans(text: str, *found: str) -> list[tuple[int, int]]:
    return sorted((text.index(one), text.index(one) + len(one)) for one in found)


def test_a_short_text_is_shown_as_it_is() -> None:
    assert excerpt("short", [], 5) == "short"


def test_the_part_with_the_most_of_what_was_looked_for_is_shown_from_the_beginning_of_its_line() -> None:
    text = "timeout once\n" + "filler line\n" * 50 + "raise the timeout and the pool\n" + "more\n" * 50

    shown = excerpt(text, spans(text, "timeout once", "raise", "pool"), 60)

    assert shown.startswith("…filler line\nraise the timeout and the pool\nmore")
    assert shown.endswith("…")


@given(
    st.text(max_size=60),
    st.lists(st.tuples(st.integers(0, 59), st.integers(1, 20)), max_size=8),
    st.integers(min_value=10, max_value=40),
)
def test_an_excerpt_is_always_a_part_of_the_text_and_never_longer_than_asked(
    text: str, found: list[tuple[int, int]], limit: int
) -> None:
    hits = sorted((start, start + length) for start, length in found if start + length <= len(text))

    shown = excerpt(text, hits, limit)

    assert len(shown) <= limit or shown == text
    assert shown.removeprefix("…").removesuffix("…") in text


@given(st.integers(0, 900))
def test_a_word_that_was_found_is_always_in_the_excerpt(at: int) -> None:
    text = "line of text\n" * (at // 13) + "needle\n" + "line of text\n" * (70 - at // 13)

    assert "needle" in excerpt(text, spans(text, "needle"), 100)

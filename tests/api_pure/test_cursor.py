"""The id of an event: one text for each place, and no text of a stranger does harm."""

from hypothesis import given
from hypothesis import strategies as st

from agrajag.api.changes.cursor import (
    LOG_BYTES,
    MAX_OFFSET,
    MAX_TEXT,
    Cursor,
    cursor_text,
    has_reached,
    later,
    log_name,
    read_cursor,
)
from agrajag.wire.following import Log

OFFSETS = st.lists(st.integers(0, MAX_OFFSET), max_size=40).map(tuple)
CURSORS = st.builds(Cursor, st.binary(min_size=LOG_BYTES, max_size=LOG_BYTES), OFFSETS)
_THREE = st.lists(st.tuples(*[st.integers(0, 99)] * 3), max_size=20).map(
    lambda rows: tuple(tuple(row[which] for row in rows) for which in range(3))
)


@given(CURSORS)
def test_a_cursor_is_always_read_as_it_was_written(cursor: Cursor) -> None:
    text = cursor_text(cursor)
    assert read_cursor(text) == cursor
    assert text.replace("-", "").replace("_", "").isalnum()
    assert text.isascii()


@given(st.text() | st.text("1ABCDxyz019-_=", max_size=60) | st.builds(cursor_text, CURSORS), st.data())
def test_any_text_is_the_one_text_of_a_cursor_or_none(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    for one in (
        text,
        text[:at],
        text[at:],
        f"{text[:at]}A{text[at:]}",
        f"{text[:at]}={text[at:]}",
        f"1{text}",
    ):
        cursor = read_cursor(one)
        assert cursor is None or cursor_text(cursor) == one


def test_a_text_of_a_megabyte_is_no_cursor() -> None:
    assert read_cursor("1" + "A" * 1_000_000) is None
    assert len(cursor_text(Cursor(b"123456", (10**9,) * 1_000))) < MAX_TEXT


@given(_THREE)
def test_whoever_goes_on_never_goes_back(three: tuple[tuple[int, ...], ...]) -> None:
    one, other, third = three
    both = later(one, other)
    assert has_reached(both, one)
    assert has_reached(both, other)
    assert both == later(other, one)
    assert later(both, one) == both
    if has_reached(third, one) and has_reached(third, other):
        assert has_reached(third, both), "nothing is skipped that neither knows"
    assert has_reached(one, other) == (both == one)


def test_another_cluster_another_topic_and_another_number_of_partitions_are_another_log() -> None:
    logs = (
        Log("a", "health", (0, 0)),
        Log("b", "health", (0, 0)),
        Log("a", "health-2", (0, 0)),
        Log("a", "health", (0,)),
    )
    assert len({log_name(log) for log in logs}) == len(logs)
    assert log_name(logs[0]) == log_name(Log("a", "health", (5, 9)))

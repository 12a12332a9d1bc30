"""JSON of a response: the whole body, what a short text introduces, and the text of an MCP result."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.json_body import MAX_PREFIX, json_bodies


@pytest.mark.parametrize(
    ("text", "bodies"),
    [
        ('{"a": 1}', ({"a": 1},)),
        (' \n[{"a": 1}]\n', ([{"a": 1}],)),
        ('Error: API error: 429 Too Many\n{"error": {"code": "x"}}', ({"error": {"code": "x"}},)),
        ('failed [400]: {"a": 1}', ({"a": 1},)),
        ('bad {"a} then {"b": 2}', ({"b": 2},)),
        ('{"isError": true, "content": [{"type": "text", "text": "no: {\\"a\\": 1}"}]}', None),
        ('{"result": {"content": [{"type": "text", "text": "{\\"a\\": 1}"}]}}', None),
        ('{"a": 1} and more', ()),
        ("[1, 2", ()),
        ("took 3 s (limit [5])", ()),
        ("plain text", ()),
        ("", ()),
        (None, ()),
        ('"a text"', ()),
        ("12", ()),
        ("x" * (MAX_PREFIX + 3) + '{"a": 1}', ()),
    ],
)
def test_json_is_read_where_it_reaches_to_the_end(text: str | None, bodies: tuple[Any, ...] | None) -> None:
    found = json_bodies(text)
    if bodies is None:
        assert isinstance(text, str)
        assert found == (json.loads(text), {"a": 1})
    else:
        assert found == bodies


@pytest.mark.parametrize(
    "text",
    ["[" * 65_000, '{"a":' * 13_000 + "}" * 100, 'x {"' + '{"' * 30_000 + "}", "x [{" * 16_000 + "]"],
    ids=["open lists", "open objects", "many starts", "many openings"],
)
def test_hostile_text_takes_no_time_to_speak_of(text: str) -> None:
    started = time.process_time()
    assert json_bodies(text) == ()
    assert time.process_time() - started < 0.2


@given(
    st.text(max_size=50),
    st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), min_size=1),
)
def test_any_text_is_read_or_not_and_what_is_found_is_always_json_at_its_end(
    text: str, body: dict[str, Any]
) -> None:
    for found in json_bodies(text):
        assert isinstance(found, dict | list)
    assert json_bodies(json.dumps(body))[0] == body

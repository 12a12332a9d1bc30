"""Which queries Loki is asked."""

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agrajag.investigation.logs.logql import is_label, query, quoted, selector
from agrajag.investigation.requests import LogLevel
from tests.investigation.logs.folders import asking
from tests.investigation.logs.loki_server import BadQuery, read_query, unquoted

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60).filter(str.strip)
HOSTILE = st.one_of(
    TEXT, st.sampled_from(['" |= "', '"} or {a="', "\\", '\\"', "`", "\n| json", "# no", "${x}"])
)


@given(HOSTILE)
def test_a_quoted_text_is_always_one_string_in_plain_ascii_that_says_the_text(text: str) -> None:
    assert unquoted(quoted(text)) == text
    assert quoted(text).isascii()
    assert quoted(text).isprintable()


@given(HOSTILE, HOSTILE, HOSTILE, st.booleans())
def test_what_is_asked_for_is_never_syntax(service: str, value: str, said: str, as_pattern: bool) -> None:
    level = LogLevel.ERROR
    asked = asking(level=level, pattern=said) if as_pattern else asking(level=level, contains=said)

    found = read_query(query(selector({"env": value}, "app", (service,)), asked, "level"))

    (env, app), (line,), ((label, _),) = found.matchers, found.lines, found.labels
    assert env == ("env", "=", value)
    assert app[:2] == ("app", "=~")
    assert found.wants({"env": value, "app": service})
    assert not found.wants({"env": value, "app": service + "x"})
    assert label == "level"
    assert not as_pattern or line == ("|~", said)


@given(HOSTILE, TEXT)
def test_a_literal_is_always_found_as_it_stands_and_as_json_spells_it(said: str, other: str) -> None:
    found = read_query(query(selector({}, "app"), asking(contains=said), "level"))

    for line in (
        f"before {said} after",
        json.dumps({"msg": f"before {said}"}),
        json.dumps({"msg": said}, ensure_ascii=False),
        json.dumps({"msg": said}).replace("/", "\\/"),
    ):
        assert found.finds({}, line)
    assume(said not in other and said not in json.dumps(other) and "\\" not in said and '"' not in said)
    assert not found.finds({}, other)


@pytest.mark.parametrize(
    ("asked", "level", "is_found"),
    [
        (LogLevel.WARN, "info", False),
        (LogLevel.WARN, "DEBUG", False),
        (LogLevel.WARN, "warn", True),
        (LogLevel.WARN, "critical", True),
        (LogLevel.WARN, "unknown", True),
        (LogLevel.WARN, "", True),
        (LogLevel.DEBUG, "trace", True),
        (None, "trace", True),
    ],
)
def test_lines_of_a_known_lower_level_are_left_out(
    asked: LogLevel | None, level: str, is_found: bool
) -> None:
    found = read_query(query(selector({}, "app"), asking(level=asked), "detected_level"))

    assert found.finds({"detected_level": level} if level else {}, "line") is is_found


@pytest.mark.parametrize("name", ["", "1a", "a-b", "a b", "é", 'a="b"', "a\n"])
def test_what_could_be_syntax_is_no_label(name: str) -> None:
    assert not is_label(name)


@pytest.mark.parametrize("text", ["{}", '{a="b"', '{a="b"} | json', '{a="b"} |= "c" or "d"', "{a=`b`}"])
def test_other_queries_are_not_understood_by_the_loki_of_these_tests(text: str) -> None:
    with pytest.raises(BadQuery):
        read_query(text)

"""Whatever the text is: the guard ends with a statement or a code, and a statement holds only words that are known."""

import re

from hypothesis import given
from hypothesis import strategies as st

from agrajag.investigation.mysql import SqlCode, Statement, judge
from agrajag.investigation.mysql.functions import FUNCTIONS, UNITS
from agrajag.investigation.mysql.reading import MAX_NESTING
from tests.investigation.mysql.statements import ACCEPTED, REFUSED, SHOP

_LITERAL = re.compile(r"'(?:[^']|'')*'")
_NAME = re.compile(r"`([^`]*)`")
_NUMBER = re.compile(r"\b\d+(\.\d*)?([eE][+-]?\d+)?")
_KEYWORDS = frozenset(
    {
        "SELECT",
        "DISTINCT",
        "FROM",
        "AS",
        "JOIN",
        "LEFT",
        "RIGHT",
        "CROSS",
        "ON",
        "WHERE",
        "GROUP",
        "BY",
        "HAVING",
    }
    | {
        "ORDER",
        "DESC",
        "LIMIT",
        "OFFSET",
        "UNION",
        "ALL",
        "WITH",
        "AND",
        "OR",
        "NOT",
        "IS",
        "NULL",
        "TRUE",
        "FALSE",
    }
    | {"LIKE", "ESCAPE", "BETWEEN", "IN", "EXISTS", "CASE", "WHEN", "THEN", "ELSE", "END", "INTERVAL", "DIV"}
    | {"CAST", "CHAR", "BINARY", "SIGNED", "UNSIGNED", "DECIMAL", "DOUBLE", "DATE", "DATETIME", "TIME"}
    | {"TRIM", "BOTH", "LEADING", "TRAILING", "SUBSTRING", "EXTRACT", "GROUP_CONCAT", "SEPARATOR"}
    | {"CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME"}
)
_KNOWN_WORDS = _KEYWORDS | FUNCTIONS.keys() | UNITS
_SIGNS = frozenset(" (),.*<>=+-/%&|")
_TABLES = {f"`shop`.`{table}` AS" for table in SHOP.columns}
_MAX_ROWS = 50

_PIECES = re.compile(r"\w+|\s+|.", re.DOTALL)
_known_pieces = sorted({piece for text, _ in REFUSED for piece in _PIECES.findall(text[:200])})
_pieces = st.sampled_from(_known_pieces)
_texts = st.sampled_from([*ACCEPTED, *(text for text, _ in REFUSED)])


@st.composite
def mended(draw: st.DrawFn) -> str:
    """A known statement with pieces of others put in, taken out, exchanged or repeated."""
    pieces = _PIECES.findall(draw(_texts))
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(pieces)))
        end = draw(st.integers(start, min(len(pieces), start + 6)))
        put = draw(st.lists(_pieces, max_size=3)) or pieces[start:end] * draw(st.integers(0, 30))
        pieces[start:end] = put
    return "".join(pieces)


soups = st.lists(_pieces, max_size=80).map(lambda pieces: "SELECT " + " ".join(pieces))
repeated = st.tuples(st.lists(_pieces, min_size=1, max_size=3), st.integers(1, 400)).map(
    lambda drawn: " ".join(["SELECT", *(drawn[0] * drawn[1]), "FROM orders"])
)


def assert_harmless(text: str) -> None:
    judged = judge(text, SHOP, _MAX_ROWS)
    if not isinstance(judged, Statement):
        assert judged in SqlCode
        return
    assert_known_words(judged)
    again = judge(judged.sql, SHOP, _MAX_ROWS)
    if isinstance(again, Statement):
        assert again.sql == judged.sql
    else:
        assert again is SqlCode.SQL_TOO_COMPLEX
        assert len(judged.sql) > 1_000 or judged.sql.count("(") > MAX_NESTING


def assert_known_words(statement: Statement) -> None:
    assert "\\" not in statement.sql
    bare = _LITERAL.sub("", statement.sql)
    assert all(table in _TABLES for table in re.findall(r"`shop`\.`[^`]*` AS", bare))
    assert bare.count("`shop`") == len(re.findall(r"`shop`\.`[^`]*` AS", bare))
    bare = _NUMBER.sub("", _NAME.sub("", bare))
    assert not {"--", "/*", "*/", "||", "<<", ">>"} & {bare[n : n + 2] for n in range(len(bare))}
    words = set(re.findall(r"[A-Za-z_]\w*", bare))
    assert words <= _KNOWN_WORDS
    signs = set(re.sub(r"[A-Za-z_]\w*", "", bare))
    assert signs <= _SIGNS


@given(st.one_of(mended(), soups, repeated, st.text(max_size=200)))
def test_a_text_ends_as_a_code_or_as_a_statement_that_is_judged_as_itself_and_holds_known_words(
    text: str,
) -> None:
    assert_harmless(text)


def test_the_known_statements_hold_known_words() -> None:
    for text in ACCEPTED:
        assert_harmless(text)


@given(st.text(st.characters(exclude_characters="\\"), max_size=60))
def test_a_text_in_a_literal_is_refused_or_stays_what_it_is(text: str) -> None:
    asked = "SELECT id FROM orders WHERE note = '?'".replace("?", text.replace("'", "''"))
    judged = judge(asked, SHOP, _MAX_ROWS)
    if isinstance(judged, Statement):
        literal = re.fullmatch(r".* WHERE \(`t1`\.`note` = '(.*)'\) LIMIT 51", judged.sql, re.DOTALL)
        assert literal is not None
        assert literal[1].replace("''", "'") == text
    else:
        assert judged is SqlCode.SQL_NOT_ALLOWED

"""By which words a text is found, whatever it holds."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.investigation.runbooks.search_words import MAX_WORD, wanted, words

TEXTS = st.text(alphabet=st.one_of(st.characters(), st.sampled_from('超时连接aÉ_-⒈½ｶﾞｱ 한글"*()^:{}'))).map(
    str
)


def tokens(text: str) -> list[str]:
    return [word.token for word in words(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("连接超时", ["连接", "接超", "超时", "时"]),
        ("数", ["数"]),
        ("Redis连接, HTTP 502!", ["redis", "连接", "接", "http", "502"]),
        ("Überlastung des CAFÉS ｅｒｒｏｒ", ["uberlastung", "des", "cafes", "error"]),
        ("order-service ECONNREFUSED a_b", ["order", "service", "econnrefused", "a", "b"]),
        ("⒈ ½ — …", ["1", "12"]),
        ("x" * 100, ["x" * MAX_WORD]),
    ],
)
def test_a_text_is_found_by_words_without_case_and_by_pairs_of_signs(text: str, found: list[str]) -> None:
    assert tokens(text) == found


@pytest.mark.parametrize(
    ("query", "pieces", "phrases"),
    [
        ("超时", ['"超时"'], []),
        ("数", ['"数" *'], []),
        ("连接超时", ['"连接"', '"接超"', '"超时"'], ['"连接 接超 超时"']),
        ("order-service 数", ['"order service"', '"数" *'], []),
        ("my_sql_8 - up", ['"my sql 8"', '"up"'], []),
        (
            'heading:"a" NEAR(b, 2) c* NOT d',
            ['"heading"', '"a"', '"near"', '"b"', '"2"', '"c"', '"not"', '"d"'],
            [],
        ),
        ("?! … *", [], []),
    ],
)
def test_a_query_looks_for_quoted_words_alone(query: str, pieces: list[str], phrases: list[str]) -> None:
    looked_for = wanted(query)

    assert [*looked_for.pieces] == pieces
    assert [*looked_for.phrases] == phrases


@given(TEXTS)
def test_a_word_always_stands_for_characters_of_the_text_and_never_holds_a_sign_of_syntax(text: str) -> None:
    end = 0
    for word in words(text):
        assert word.token.isalnum()
        assert 0 <= word.start < word.end <= len(text)
        assert word.end >= end
        end = word.end


@given(TEXTS, TEXTS)
def test_no_query_is_ever_wrong_syntax_and_a_text_is_always_found_by_itself(query: str, text: str) -> None:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'porter ascii')")
    database.execute("INSERT INTO words VALUES (?)", (" ".join(tokens(text)),))

    def finds(expression: str) -> bool:
        return bool(database.execute("SELECT rowid FROM words WHERE words MATCH ?", (expression,)).fetchall())

    for expression in (*wanted(query).pieces, *wanted(query).phrases):
        finds(expression)
    assert all(finds(expression) for expression in (*wanted(text).pieces, *wanted(text).phrases))
    database.close()

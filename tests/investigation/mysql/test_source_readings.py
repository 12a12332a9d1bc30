"""The server reads what is sent as it reads what was written: the parser understands operators as the server does."""

from collections.abc import Iterator

import pymysql
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymysql.cursors import Cursor

from agrajag.investigation.mysql import SqlTables, Statement, judge
from tests.investigation.mysql.server import MariaDb

NUMBERS = SqlTables("shop", {"numbers": ("n",)})
_ARITHMETIC = ("+", "-", "*", "/", "DIV", "%", "MOD", "&", "|")
_LOGIC = ("=", "<=>", "<>", "!=", "<", "<=", ">", ">=", "AND", "OR", "&&", "||")
_AFTER = (" IS NULL", " IS NOT NULL", " IS TRUE", " IS NOT FALSE", " IN (1, 2)", " NOT IN (n, 2)", " LIKE 2")
_BETWEEN = (" BETWEEN 1 AND ", " NOT BETWEEN 1 AND ")


def _longer(shorter: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(shorter, st.sampled_from([*_ARITHMETIC, *_LOGIC]), shorter).map(" ".join),
        st.tuples(st.sampled_from(["-", "NOT ", "!"]), shorter).map("".join),
        st.tuples(shorter, st.sampled_from(_AFTER)).map("".join),
        st.tuples(shorter, st.sampled_from(_BETWEEN), shorter).map("".join),
        st.tuples(st.just("("), shorter, st.just(")")).map("".join),
        st.tuples(st.just("CASE WHEN "), shorter, st.just(" THEN 1 ELSE 4 END")).map("".join),
        st.tuples(st.just("IF("), shorter, st.just(", 2, n)")).map("".join),
    )


_OPERANDS = st.sampled_from(["0", "1", "2", "3", "5", "n", "NULL", "'2'", "1.5"])
expressions = st.recursive(_OPERANDS, _longer, max_leaves=7)


@pytest.fixture(scope="module")
def server(mariadb: MariaDb) -> Iterator[Cursor]:
    """The server, as its administrator asks it."""
    with mariadb.admin("shop", conv={}) as connection, connection.cursor() as cursor:
        yield cursor


@given(expressions)
def test_an_expression_without_parentheses_is_worth_what_the_server_finds_it_worth(
    server: Cursor, expression: str
) -> None:
    text = "SELECT ? AS v FROM numbers WHERE n = 3".replace("?", expression)
    statement = judge(text, NUMBERS, 10)
    if not isinstance(statement, Statement):
        return
    try:
        server.execute(text)
    except pymysql.MySQLError:  # the parser takes some that the server does not: `-NOT 0`
        return
    meant = server.fetchall()
    server.execute(statement.sql)
    assert server.fetchall() == meant

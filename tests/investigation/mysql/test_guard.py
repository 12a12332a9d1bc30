"""Which statements are sent, and in which form (spec single-react: Evidence Tools). No server is needed to know."""

import logging

import pytest

from agrajag.errors import ConfigError
from agrajag.investigation.mysql import SqlCode, SqlTables, Statement, judge
from tests.investigation.mysql.statements import ACCEPTED, REFUSED, SHOP

MAX_ROWS = 50


def accepted(text: str, max_rows: int = MAX_ROWS) -> Statement:
    statement = judge(text, SHOP, max_rows)
    assert isinstance(statement, Statement), (statement, text)
    return statement


@pytest.mark.parametrize(("text", "code"), REFUSED, ids=[text[:60] for text, _ in REFUSED])
def test_a_statement_that_could_do_more_than_read_what_may_be_read_is_refused(
    text: str, code: SqlCode
) -> None:
    assert judge(text, SHOP, MAX_ROWS) is code


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_is_sent_is_judged_again_as_itself(text: str) -> None:
    statement = accepted(text)
    again = accepted(statement.sql)
    assert (again.sql, again.tables) == (statement.sql, statement.tables)


@pytest.mark.parametrize("text", [text for text in ACCEPTED if "'" not in text and '"' not in text])
@pytest.mark.parametrize("comment", ["/* x */", "/*!1 x*/", "-- x\n", "# x\n", "/*+ x */"])
def test_a_comment_is_refused_wherever_it_stands(text: str, comment: str) -> None:
    words = text.split(" ")
    for place in range(len(words) + 1):
        commented = " ".join([*words[:place], comment, *words[place:]])
        assert judge(commented, SHOP, MAX_ROWS) in {SqlCode.SQL_NOT_ALLOWED, SqlCode.SQL_NOT_PARSED}, (
            commented
        )


def test_nothing_of_a_refused_statement_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        for text, _ in REFUSED:
            judge(text, SHOP, MAX_ROWS)
    assert not caplog.records


def test_every_source_gets_a_name_of_its_own_and_every_column_is_told_with_it() -> None:
    # Left to the server, `secret` would be the column of orders that nobody may read.
    statement = accepted(
        "SELECT (SELECT secret FROM orders LIMIT 1) AS x FROM (SELECT name AS secret FROM customers) d"
    )
    assert "(SELECT `t2`.`secret` AS `secret` FROM `shop`.`orders` AS `t3` LIMIT 1) AS `x`" in statement.sql
    assert statement.tables == ("customers", "orders")


def test_a_name_of_the_select_list_is_its_expression_and_never_a_column_of_the_server() -> None:
    assert accepted("SELECT id AS secret FROM orders GROUP BY secret HAVING secret > 1").sql == (
        "SELECT `t1`.`id` AS `secret` FROM `shop`.`orders` AS `t1` GROUP BY 1 HAVING (`t1`.`id` > 1) LIMIT 51"
    )


def test_tables_and_columns_are_known_in_any_case_and_sent_as_the_schema_calls_them() -> None:
    statement = accepted("SELECT O.Status FROM SHOP.Orders o")
    assert "`t1`.`status` AS `status` FROM `shop`.`orders`" in statement.sql
    two = SqlTables("shop", {"Orders": ("id",), "ORDERS": ("id",)})
    assert judge("SELECT id FROM orders", two, MAX_ROWS) is SqlCode.TABLE_NOT_ALLOWED
    assert isinstance(judge("SELECT id FROM ORDERS", two, MAX_ROWS), Statement)


def test_a_star_means_the_columns_that_may_be_read() -> None:
    statement = accepted("SELECT * FROM customers")
    assert statement.columns == ("id", "name", "city")
    assert "*" not in statement.sql


@pytest.mark.parametrize(
    ("limit", "sent"),
    [("", 51), ("LIMIT 10", 10), ("LIMIT 51", 51), ("LIMIT 52", 51), ("LIMIT 999999999", 51)],
)
@pytest.mark.parametrize(
    "text", ["SELECT id FROM orders", "SELECT id FROM orders UNION SELECT id FROM customers"]
)
def test_a_limit_of_ours_is_always_sent(text: str, limit: str, sent: int) -> None:
    assert accepted(f"{text} {limit}").sql.endswith(f" LIMIT {sent}")


def test_columns_without_a_name_are_called_what_they_are_and_none_is_called_like_another() -> None:
    statement = accepted("SELECT o.id, c.id, COUNT(*), SUM(o.amount), 'x' AS id2 FROM orders o, customers c")
    assert statement.columns == ("id", "id (2)", "COUNT(*)", "SUM(amount)", "id2")


def test_an_escaped_quote_is_sent_so_that_it_ends_no_literal_in_any_mode() -> None:
    assert "(`t1`.`note` = 'a'' OR 1=1')" in accepted("SELECT id FROM orders WHERE note = 'a\\' OR 1=1'").sql


@pytest.mark.parametrize(
    "column",
    [
        "password",
        "api_key",
        "apiKey",
        "user_token",
        "client_secret",
        "credential",
        "session_id",
        "pin",
        "密码",
    ],
)
def test_a_column_that_holds_secrets_by_its_name_may_not_be_read(column: str) -> None:
    with pytest.raises(ConfigError, match=rf"SQL column users\.{column}: holds secrets"):
        SqlTables("shop", {"users": ("id", column, "token_count", "secretary")})


@pytest.mark.parametrize(
    ("schema", "columns"),
    [
        ("", {"orders": ("id",)}),
        ("shop`", {"orders": ("id",)}),
        ("shop", {}),
        ("shop", {"orders": ()}),
        ("shop", {"orders": ("id", "ID")}),
        ("shop", {"orders": ("a\\b",)}),
        ("shop", {"x" * 65: ("id",)}),
    ],
)
def test_a_list_of_tables_that_cannot_be_kept_to_is_refused(
    schema: str, columns: dict[str, tuple[str, ...]]
) -> None:
    with pytest.raises(ConfigError):
        SqlTables(schema, columns)

"""What no text gets out of the server or into it, and what would, were it not for us."""

import ssl
from dataclasses import replace
from pathlib import Path

import pymysql
import pytest
from pymysql.constants import CLIENT
from structlog.testing import capture_logs

from agrajag.harness import Failed
from agrajag.investigation.mysql import MysqlLimits, MysqlSource, SqlCode, SqlTables
from agrajag.investigation.mysql.connection import BoundedConnection
from agrajag.investigation.mysql.session import opening
from agrajag.metrics import SQL_REFUSALS
from tests.investigation.looking import items
from tests.investigation.mysql.asking import looked
from tests.investigation.mysql.fake_server import OK, Told, a_server
from tests.investigation.mysql.server import PASSWORD, TLS_FILES, MariaDb
from tests.investigation.mysql.statements import ACCEPTED, REFUSED, SHOP


async def test_a_refused_statement_makes_no_connection(source: MysqlSource, mariadb: MariaDb) -> None:
    before, counted = mariadb.connections(), _refusals()
    for text, code in REFUSED:
        assert await looked(source, text) == Failed(code), text
    assert mariadb.connections() == before + 1  # that of this question
    assert _refusals() == counted + len(REFUSED)


def _refusals() -> float:
    return sum(float(SQL_REFUSALS.labels(code)._value.get()) for code in SqlCode)


async def test_a_look_sends_what_a_session_begins_with_and_the_judged_statement_and_nothing_else(
    source: MysqlSource, mariadb: MariaDb
) -> None:
    mariadb.run("TRUNCATE mysql.general_log")
    mariadb.run("SET GLOBAL general_log = 1")
    for text in ACCEPTED[:3]:
        await looked(source, text)
    mariadb.run("SET GLOBAL general_log = 0")
    rows = mariadb.run(
        "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log WHERE user_host LIKE 'reader%' "
        "AND command_type = 'Query' AND argument NOT LIKE 'SET SESSION%' AND argument NOT LIKE 'SET time_zone%'"
    )
    assert [sql.split(" ")[0] for (sql,) in rows] == ["SET", "START", "SELECT"] * 3
    assert [sql for (sql,) in rows if "SELECT" in sql and ("/*" in sql or "hidden" in sql)] == []


@pytest.fixture
async def bare(mariadb: MariaDb) -> BoundedConnection:
    """A session as every look begins it, without the guard."""
    connection = BoundedConnection(mariadb.access(), 100_000)
    await connection.open()
    for statement in opening(connection.get_server_info(), MysqlLimits()):
        await connection.query(statement)
    return connection


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO shop.orders (id) VALUES (99)",
        "UPDATE shop.orders SET status = 'x'",
        "DELETE FROM shop.orders",
        "DROP TABLE shop.orders",
        "CREATE TABLE shop.mine (id INT)",
        "SELECT 1; DELETE FROM shop.orders",
        "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE shop.orders",
    ],
)
async def test_the_session_refuses_to_write_even_where_nothing_is_judged(
    sql: str, bare: BoundedConnection, mariadb: MariaDb
) -> None:
    with pytest.raises(pymysql.MySQLError):
        await bare.query(sql)
    bare.close()
    assert mariadb.run("SELECT COUNT(*), SUM(status = 'x') FROM shop.orders") == ((5, 0),)


async def test_the_session_alone_would_let_a_file_be_written(
    bare: BoundedConnection, mariadb: MariaDb
) -> None:
    written = mariadb.data_dir / "written"
    text = "SELECT id FROM shop.orders INTO OUTFILE '?'".replace("?", str(written))
    await bare.query(text)
    bare.close()
    assert written.read_text().split() == ["1", "2", "3", "4", "5"]
    written.unlink()
    source = MysqlSource(mariadb.access(), SHOP)
    assert isinstance(await looked(source, text), Failed)
    assert not written.exists()


async def test_a_server_that_asks_for_a_file_gets_none(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("of this machine")

    async def talk(told: Told) -> None:
        await told.greet()
        await told.hear()
        await told.say(2, OK)
        await told.hear()
        await told.say(1, OK)
        await told.hear()
        await told.say(1, b"\xfb" + str(secret).encode())
        await told.hear()

    async with a_server(talk) as (access, heard):
        with pytest.raises(RuntimeError):
            await looked(MysqlSource(access, SHOP), ACCEPTED[0])
    assert b"SET NAMES utf8mb4" in heard
    assert b"of this machine" not in heard


@pytest.mark.parametrize("plugin", ["mysql_clear_password", "mysql_old_password"])
@pytest.mark.parametrize("at", ["once", "later"])
async def test_a_password_is_not_said_in_the_clear(plugin: str, at: str) -> None:
    async def talk(told: Told) -> None:
        await told.greet(plugin if at == "once" else "mysql_native_password")
        await told.hear()
        await told.say(2, b"\xfe" + plugin.encode() + b"\x00saltsaltsaltsaltsalt\x00")
        await told.hear()

    async with a_server(talk) as (access, heard):
        assert await looked(MysqlSource(access, SHOP), ACCEPTED[0]) == Failed("ACCESS_DENIED")
    assert PASSWORD.encode() not in heard
    assert len(heard) == 0 if at == "once" else len(heard) > 0


def trusting(ca_file: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(ca_file))


async def test_a_server_without_tls_is_told_nothing_where_tls_is_wanted() -> None:
    async def talk(told: Told) -> None:
        await told.greet(capabilities=CLIENT.PROTOCOL_41 | CLIENT.SECURE_CONNECTION | CLIENT.PLUGIN_AUTH)
        await told.hear()

    async with a_server(talk) as (access, heard):
        wary = MysqlSource(replace(access, tls=ssl.create_default_context()), SHOP)
        assert await looked(wary, ACCEPTED[0]) == Failed("SOURCE_UNAVAILABLE")
    assert heard == b""


async def test_over_tls_the_server_is_known_by_its_certificate(mariadb: MariaDb) -> None:
    known = mariadb.access(tls=trusting(TLS_FILES / "ca.pem"))
    assert items(await looked(MysqlSource(known, SHOP), "SELECT id FROM orders WHERE id = 1")) == [{"id": 1}]
    connection = BoundedConnection(known, 100_000)
    await connection.open()
    cursor = await connection.cursor()
    await cursor.execute("SHOW STATUS LIKE 'Ssl_cipher'")
    assert (await cursor.fetchone())[1]
    connection.close()
    stranger = mariadb.access(tls=ssl.create_default_context())
    assert await looked(MysqlSource(stranger, SHOP), ACCEPTED[0]) == Failed("SOURCE_UNAVAILABLE")


async def test_a_user_who_may_read_the_listed_columns_and_nothing_else_is_enough(mariadb: MariaDb) -> None:
    tables = SqlTables("shop", {"orders": ("id", "status")})
    source = MysqlSource(mariadb.access(user="careful", password=""), tables)
    assert items(await looked(source, "SELECT * FROM orders WHERE id = 1")) == [{"id": 1, "status": "paid"}]
    assert items(await looked(source, "SELECT COUNT(*) AS n FROM orders WHERE status = 'paid'")) == [{"n": 2}]


async def test_neither_password_nor_statement_is_told(mariadb: MariaDb) -> None:
    access = mariadb.access(password="another password")
    with capture_logs() as logs:
        assert await looked(MysqlSource(access, SHOP), "SELECT id FROM orders WHERE id = 4711") == Failed(
            "ACCESS_DENIED"
        )
        assert await looked(MysqlSource(access, SHOP), "SELECT secret FROM orders WHERE id = 4711") == Failed(
            "COLUMN_NOT_ALLOWED"
        )
    told = repr((logs, access))
    assert [line["event"] for line in logs] == ["sql_failed", "sql_refused"]
    assert not any(word in told for word in ("another password", "4711", "secret"))

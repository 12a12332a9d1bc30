"""How far a look goes: in time, rows and bytes, cut by its caller, and where there is no server to ask."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from agrajag.embedded import ports
from agrajag.errors import ConfigError
from agrajag.harness import Failed
from agrajag.investigation.evidence import Found
from agrajag.investigation.mysql import MysqlAccess, MysqlLimits, MysqlSource, SqlTables
from agrajag.investigation.mysql.session import opening
from tests.investigation.mysql.asking import looked
from tests.investigation.mysql.fake_server import OK, Told, a_server
from tests.investigation.mysql.server import MariaDb, require_mariadb
from tests.investigation.mysql.statements import ACCEPTED, SHOP
from tests.waiting import eventually

NUMBERS = SqlTables("shop", {"numbers": ("n",)})
ENDLESS = "SELECT COUNT(*) FROM numbers a, numbers b, numbers c WHERE a.n * b.n + c.n = 7"
WITHOUT_END = MysqlLimits(seconds=300, examined_rows=10**12)


async def test_what_would_read_too_much_is_refused_by_the_server(mariadb: MariaDb) -> None:
    assert await looked(MysqlSource(mariadb.access(), NUMBERS), ENDLESS) == Failed("QUERY_TOO_LARGE")


async def test_a_statement_that_takes_too_long_is_ended_by_the_server(mariadb: MariaDb) -> None:
    source = MysqlSource(mariadb.access(), NUMBERS, MysqlLimits(seconds=0.3, examined_rows=10**12))
    assert await looked(source, ENDLESS) == Failed("SOURCE_TIMEOUT")
    assert mariadb.running() == []


async def test_a_cut_ends_the_statement_at_the_server(mariadb: MariaDb) -> None:
    source = MysqlSource(mariadb.access(), NUMBERS, WITHOUT_END)
    looking = asyncio.create_task(looked(source, ENDLESS))
    await eventually(lambda: any("COUNT" in sql for sql in mariadb.running()))
    began = time.monotonic()
    looking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await looking
    assert time.monotonic() - began < 1  # the end at the server is not waited for
    await source.close()
    await eventually(lambda: mariadb.running() == [], timeout=10)
    [row] = await _rows(source, "SELECT COUNT(*) AS n FROM numbers")
    assert row == {"n": 1000}


async def _rows(source: MysqlSource, sql: str) -> list[object]:
    found = await looked(source, sql)
    assert isinstance(found, Found)
    return list(found.items)


async def test_a_look_that_is_cut_before_anything_is_asked_leaves_nothing(mariadb: MariaDb) -> None:
    source = MysqlSource(mariadb.access(), SHOP)
    for steps in range(12):
        looking = asyncio.create_task(looked(source, ACCEPTED[0]))
        for _ in range(steps):
            await asyncio.sleep(0)
        looking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await looking
    await source.close()
    await eventually(lambda: _sessions(mariadb) == 0, timeout=10)


def _sessions(mariadb: MariaDb) -> int:
    rows = mariadb.run("SELECT user FROM information_schema.processlist")
    return sum(user == "reader" for (user,) in rows)


@asynccontextmanager
async def bodies(
    mariadb: MariaDb, rows: int, characters: int, limits: MysqlLimits
) -> AsyncIterator[MysqlSource]:
    """So many rows with so long a text, and who reads them."""
    mariadb.run("CREATE OR REPLACE TABLE shop.bodies (id INT PRIMARY KEY, body LONGTEXT)")
    filled = "INSERT INTO shop.bodies SELECT n, REPEAT('x', :characters) FROM shop.numbers WHERE n <= :rows"
    mariadb.run(filled.replace(":characters", str(characters)).replace(":rows", str(rows)))
    source = MysqlSource(mariadb.access(), SqlTables("shop", {"bodies": ("id", "body")}), limits)
    yield source
    await source.close()
    mariadb.run("DROP TABLE shop.bodies")


async def test_an_answer_that_is_too_large_ends_after_what_has_come(mariadb: MariaDb) -> None:
    async with bodies(mariadb, 10, 40_000, MysqlLimits(answer_bytes=100_000)) as source:
        found = await looked(source, "SELECT id, body FROM bodies ORDER BY id")
        assert isinstance(found, Found)
        assert ([row["id"] for row in found.items], found.truncated) == ([1, 2], True)


async def test_a_single_row_that_is_too_large_is_told_by_a_code(mariadb: MariaDb) -> None:
    async with bodies(mariadb, 1, 3_000_000, MysqlLimits(answer_bytes=100_000)) as source:
        assert await looked(source, "SELECT body FROM bodies") == Failed("ANSWER_TOO_LARGE")
        assert isinstance(await looked(source, "SELECT LEFT(body, 10) AS b FROM bodies"), Found)


async def test_what_would_take_too_much_of_the_servers_memory_is_refused_by_it(mariadb: MariaDb) -> None:
    source = MysqlSource(mariadb.access(), NUMBERS, MysqlLimits(memory_bytes=3_000_000))
    asked = "SELECT COUNT(DISTINCT a.n + b.n * 1000) AS n FROM numbers a, numbers b"
    assert await looked(source, asked) == Failed("QUERY_TOO_LARGE")


async def test_a_server_that_does_not_keep_the_limit_is_not_listened_to_any_longer() -> None:
    async def talk(told: Told) -> None:
        await told.greet()
        await told.hear()
        await told.say(2, OK)
        for _ in range(5):  # a ping, and what a session begins with
            await told.hear()
            await told.say(1, OK)
        await told.hear()
        await told.hear()  # for ever

    async with a_server(talk) as (access, heard):
        source = MysqlSource(access, SHOP, MysqlLimits(seconds=0.1, connect_seconds=5))
        assert await looked(source, ACCEPTED[0]) == Failed("SOURCE_TIMEOUT")
        await eventually(lambda: b"KILL 7" in heard)
        await source.close()
    assert b"max_execution_time = 100" in heard  # as MySQL has it


async def test_a_server_that_says_nothing_is_unavailable() -> None:
    async def talk(told: Told) -> None:
        await told.hear()

    async with a_server(talk) as (access, _):
        source = MysqlSource(access, SHOP, MysqlLimits(connect_seconds=0.1))
        assert await looked(source, ACCEPTED[0]) == Failed("SOURCE_UNAVAILABLE")


async def test_no_server_is_unavailable() -> None:
    source = MysqlSource(MysqlAccess("127.0.0.1", ports.pick_free(), "reader"), SHOP)
    assert await looked(source, ACCEPTED[0]) == Failed("SOURCE_UNAVAILABLE")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"password": "another"}, "ACCESS_DENIED"),
        ({"user": "nobody", "password": ""}, "ACCESS_DENIED"),
        ({"user": "a stranger"}, "ACCESS_DENIED"),
    ],
)
async def test_who_may_not_read_is_told_so(changes: dict[str, str], code: str, mariadb: MariaDb) -> None:
    assert await looked(MysqlSource(mariadb.access(**changes), SHOP), ACCEPTED[0]) == Failed(code)


async def test_a_table_that_is_listed_and_not_there_is_refused_by_the_server(mariadb: MariaDb) -> None:
    source = MysqlSource(mariadb.access(), SqlTables("shop", {"gone": ("id",)}))
    assert await looked(source, "SELECT id FROM gone") == Failed("QUERY_REFUSED")


async def test_a_server_that_does_not_take_what_a_session_begins_with_is_not_asked() -> None:
    async def talk(told: Told) -> None:
        await told.greet()
        await told.hear()
        await told.say(2, OK)
        await told.hear()
        await told.say(1, OK)
        await told.hear()
        await told.say(1, b"\xff\xa9\x04#HY000Unknown system variable")
        await told.hear()

    async with a_server(talk) as (access, heard):
        assert await looked(MysqlSource(access, SHOP), ACCEPTED[0]) == Failed("SOURCE_UNREADABLE")
    assert b"SELECT" not in heard


def test_each_kind_of_server_gets_the_limit_on_time_that_it_knows() -> None:
    limits = MysqlLimits(seconds=1.5)
    assert "max_statement_time = 1.5" in opening("5.5.5-10.11.2-MariaDB-log", limits)[1]
    assert "max_execution_time = 1500" in opening("8.0.36", limits)[1]
    assert opening("8.0.36", limits)[-1] == "START TRANSACTION READ ONLY"


@pytest.mark.parametrize("wrong", [{"rows": 0}, {"rows": 1_001}, {"seconds": 0}, {"answer_bytes": 0}])
def test_limits_that_are_none_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        MysqlLimits(**wrong)


@pytest.mark.parametrize("wrong", [{"user": ""}, {"password": "密码"}])
def test_an_access_that_the_driver_would_make_another_of_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ConfigError) as refused:
        MysqlAccess(**{"host": "db", "port": 3306, "user": "reader", **wrong})  # type: ignore[arg-type]
    assert "密码" not in str(refused.value)


def test_without_a_mariadb_its_tests_are_skipped_and_where_all_are_meant_to_run_they_fail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="mariadb"):
        require_mariadb()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="mariadb"):
        require_mariadb()

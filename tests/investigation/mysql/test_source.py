"""What `query_mysql` finds in a real MariaDB (spec single-react: Evidence Tools)."""

import asyncio
from typing import Any

from agrajag.investigation.evidence import Found, Scope
from agrajag.investigation.mysql import MysqlLimits, MysqlSource, SqlTables
from tests.investigation.looking import items
from tests.investigation.mysql.asking import looked
from tests.investigation.mysql.server import MariaDb
from tests.investigation.mysql.statements import ACCEPTED, SHOP

KINDS = SqlTables(
    "shop",
    {"kinds": ("id", "whole", "big", "exact", "real_number", "at", "day", "took", "bits", "bytes", "place")},
)


async def test_what_is_sent_finds_what_the_statement_says(source: MysqlSource, mariadb: MariaDb) -> None:
    with mariadb.admin("visible", conv={}) as connection, connection.cursor() as cursor:
        for text in ACCEPTED:
            cursor.execute(text)
            meant = [[_plain(cell) for cell in row] for row in cursor.fetchall()]
            found = [[_plain(cell) for cell in row.values()] for row in items(await looked(source, text))]
            assert found == meant, text
            assert meant or text.endswith("LIMIT 0")


def _plain(cell: Any) -> Any:
    """A number by its value, whatever it is written as; all else as text."""
    text = cell.decode() if isinstance(cell, bytes) else cell
    try:
        return float(text)
    except (TypeError, ValueError):
        return text


async def test_a_row_tells_each_value_by_the_name_of_its_column(source: MysqlSource) -> None:
    sql = "SELECT o.id, c.id, c.name AS customer, COUNT(*) FROM orders o JOIN customers c ON c.id = o.customer_id "
    found = await looked(source, sql + "WHERE o.id = 3 GROUP BY o.id, c.id, c.name")
    row = {"id": 3, "id (2)": 2, "customer": "Bob", "COUNT(*)": 1}
    assert found == Found([row], Scope(source="mysql", subjects=("orders", "customers")), truncated=False)


async def test_nothing_found_is_told_with_the_tables_that_were_read(source: MysqlSource) -> None:
    found = await looked(
        source, "SELECT id FROM orders WHERE customer_id IN (SELECT id FROM customers WHERE id = 9)"
    )
    assert found == Found([], Scope(source="mysql", subjects=("orders", "customers")), truncated=False)


async def test_values_of_every_kind_become_plain_ones(mariadb: MariaDb) -> None:
    mariadb.run(
        """CREATE TABLE IF NOT EXISTS shop.kinds (id INT PRIMARY KEY, whole TINYINT, big BIGINT UNSIGNED,
           exact DECIMAL(30,5), real_number DOUBLE, at DATETIME(3), day DATE, took TIME, bits BIT(12), bytes BLOB,
           place POINT)"""
    )
    mariadb.run(
        """REPLACE INTO shop.kinds VALUES
           (1, -5, 18446744073709551615, 12.5, 0.25, '2026-01-02 03:04:05.678', '0000-00-00', '-30:00:01', 2049,
            'text 甲', ST_GeomFromText('POINT(1 2)')),
           (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, X'00FF10', NULL),
           (3, 0, 0, 0, 0, '0000-00-00 00:00:00', '2026-01-01', '00:00:00', 0, REPEAT(X'00', 40), NULL)"""
    )
    source = MysqlSource(mariadb.access(), KINDS)
    first, second, third = items(await looked(source, "SELECT * FROM kinds ORDER BY id"))
    assert isinstance(first.pop("place"), bytes)
    assert first == {
        "id": 1,
        "whole": -5,
        "big": 18446744073709551615,
        "exact": "12.50000",
        "real_number": 0.25,
        "at": "2026-01-02 03:04:05.678",
        "day": "0000-00-00",
        "took": "-30:00:01",
        "bits": 2049,
        "bytes": "text 甲",
    }
    assert {value for name, value in second.items() if name not in {"id", "bytes"}} == {None}
    assert second["bytes"] == "0x00ff10"
    assert (third["at"], third["bytes"]) == ("0000-00-00 00:00:00.000", bytes(40))
    [row] = items(await looked(source, "SELECT SUM(whole) AS s, MAX(exact) AS m, COUNT(*) AS n FROM kinds"))
    assert row == {"s": -5, "m": "12.50000", "n": 3}


async def test_times_are_told_in_utc_wherever_the_server_is(mariadb: MariaDb) -> None:
    mariadb.run("CREATE TABLE IF NOT EXISTS shop.moments (at TIMESTAMP NULL)")
    mariadb.run("DELETE FROM shop.moments")
    mariadb.run("INSERT INTO shop.moments VALUES ('2026-06-01 12:00:00')")
    source = MysqlSource(mariadb.access(), SqlTables("shop", {"moments": ("at",)}))
    assert items(await looked(source, "SELECT at FROM moments")) == [{"at": "2026-06-01 12:00:00"}]
    asked = "SELECT TIMESTAMPDIFF(HOUR, NOW(), UTC_TIMESTAMP()) AS h FROM moments"
    assert items(await looked(source, asked)) == [{"h": 0}]


async def test_a_group_that_does_not_determine_a_value_is_no_evidence(source: MysqlSource) -> None:
    assert not isinstance(await looked(source, "SELECT status, id FROM orders GROUP BY status"), Found)


async def test_looks_side_by_side_find_each_their_own(source: MysqlSource) -> None:
    asked = ["SELECT id FROM orders WHERE id = ?".replace("?", str(n % 5 + 1)) for n in range(20)]
    found = await asyncio.gather(*(looked(source, sql) for sql in asked))
    assert [items(answer) for answer in found] == [[{"id": n % 5 + 1}] for n in range(20)]


async def test_more_rows_than_are_wanted_are_said_to_be_there(mariadb: MariaDb) -> None:
    source = MysqlSource(mariadb.access(), SHOP, MysqlLimits(rows=4))
    found = await looked(source, "SELECT id FROM orders ORDER BY id")
    assert isinstance(found, Found)
    assert ([row["id"] for row in found.items], found.truncated) == ([1, 2, 3, 4], True)
    assert await looked(source, "SELECT id FROM orders WHERE id < 5 ORDER BY id") == Found(
        found.items, found.scope, truncated=False
    )

"""A real MariaDB for tests, in a directory and on a port of its own, and the shop that the tests read in it.

Ended by its pid with the session of the tests, and by the watchdog of `agrajag.embedded` should that die.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pymysql
import pytest
from pymysql.cursors import Cursor

from agrajag.embedded import ports
from agrajag.embedded.server import EmbeddedServer
from agrajag.investigation.mysql import MysqlAccess

PROGRAM = "/usr/sbin/mariadbd"
TLS_FILES = Path(__file__).parents[2] / "wire" / "tls"
READER = "reader"
PASSWORD = "the password of the reader"

_SETUP = (
    "CREATE DATABASE shop CHARACTER SET utf8mb4",
    """CREATE TABLE shop.orders (id INT PRIMARY KEY, customer_id INT, status VARCHAR(20), amount DECIMAL(10,2),
       created_at DATETIME, note TEXT, secret VARCHAR(40))""",
    "CREATE TABLE shop.customers (id INT PRIMARY KEY, name VARCHAR(40), city VARCHAR(40), secret VARCHAR(40))",
    "CREATE TABLE shop.订单 (id INT PRIMARY KEY, 编号 VARCHAR(40))",
    "CREATE TABLE shop.secrets (id INT PRIMARY KEY, secret VARCHAR(40))",
    """INSERT INTO shop.customers VALUES (1, 'Ada', 'Berlin', 'hidden'), (2, 'Bob', 'Bern', 'hidden'),
       (3, 'Cem', 'Paris', 'hidden'), (4, 'Eve', NULL, 'hidden')""",
    """INSERT INTO shop.orders VALUES (1, 1, 'paid', 12.50, '2026-01-01 08:00:00', '100% wool', 'hidden'),
       (2, 1, 'new', 7, '2026-01-01 09:30:00', NULL, 'hidden'),
       (3, 2, 'failed', 99.99, '2026-01-02 23:59:59', 'it''s "so"', 'hidden'),
       (4, 1, 'failed', 0.01, '2026-01-03 00:00:00', '{"a": [1, "x"]}', 'hidden'),
       (5, 3, 'paid', NULL, '2026-01-04 12:00:00', 'ends in x', 'hidden')""",
    "INSERT INTO shop.订单 VALUES (1, '甲　乙'), (2, '丙')",
    "INSERT INTO shop.secrets VALUES (1, 'hidden')",
    "CREATE TABLE shop.numbers (n INT PRIMARY KEY) SELECT seq AS n FROM shop.seq_1_to_1000",
    # The same without what may not be read, to hold answers against.
    "CREATE DATABASE visible CHARACTER SET utf8mb4",
    "CREATE VIEW visible.orders AS SELECT id, customer_id, status, amount, created_at, note FROM shop.orders",
    "CREATE VIEW visible.customers AS SELECT id, name, city FROM shop.customers",
    "CREATE VIEW visible.订单 AS SELECT id, 编号 FROM shop.订单",
    "CREATE USER reader@'127.0.0.1' IDENTIFIED BY 'the password of the reader'",
    # More than anybody should give it: what holds it back is ours.
    "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, FILE, EXECUTE ON *.* TO reader@'127.0.0.1'",
    "CREATE USER nobody@'127.0.0.1'",
    # As it should be.
    "CREATE USER careful@'127.0.0.1'",
    "GRANT SELECT (id, status) ON shop.orders TO careful@'127.0.0.1'",
)


class MariaDb(EmbeddedServer):
    """MariaDB, set up as unlike our sessions as can be."""

    name = "mariadb"
    port_names = ("mysql",)

    def access(self, **changes: Any) -> MysqlAccess:
        """As the reader, who may write and read files as far as the server is concerned."""
        own = {"host": ports.LOOPBACK, "port": self.port, "user": READER, "password": PASSWORD}
        return MysqlAccess(**{**own, **changes})

    def admin(self, database: str | None = None, **options: Any) -> "pymysql.Connection[Cursor]":
        """A connection of the administrator's, in the server's usual SQL mode."""
        usual = {"unix_socket": self._socket(), "user": "root", "autocommit": True, "ssl_disabled": True}
        ours = {
            "database": database,
            "charset": "utf8mb4",
            "init_command": "SET sql_mode = '', time_zone = '+00:00'",
        }
        return pymysql.connect(**{**usual, **ours, **options})

    def run(self, sql: str) -> Sequence[Sequence[Any]]:
        """A statement by the administrator."""
        with self.admin() as connection, connection.cursor() as cursor:
            cursor.execute(sql)
            rows: Sequence[Sequence[Any]] = cursor.fetchall()
            return rows

    def connections(self) -> int:
        """How many connections there have been; asking makes one."""
        return int(self.run("SHOW GLOBAL STATUS LIKE 'Connections'")[0][1])

    def running(self) -> list[str]:
        """The statements of the reader that run now."""
        rows = self.run("SELECT user, info FROM information_schema.processlist")
        return [info for user, info in rows if user == READER and info]

    def fill(self) -> None:
        """Makes the shop."""
        for statement in _SETUP:
            self.run(statement)

    def _socket(self) -> str:
        return f"/tmp/agrajag-{os.getpid()}-{self.port}.sock"  # noqa: S108 - a path below pytest's is too long

    def _prepare(self) -> None:
        install = [
            "mariadb-install-db",
            "--no-defaults",
            "--skip-test-db",
            f"--datadir={self.data_dir / 'data'}",
        ]
        as_root = "--auth-root-authentication-method=normal"
        subprocess.run([*install, as_root, *_as_user()], check=True, capture_output=True)

    def _command(self) -> list[str]:
        return [
            PROGRAM,
            "--no-defaults",
            *_as_user(),
            f"--datadir={self.data_dir / 'data'}",
            f"--pid-file={self.data_dir / 'pid'}",
            f"--socket={self._socket()}",
            f"--port={self.port}",
            f"--bind-address={ports.LOOPBACK}",
            f"--ssl-cert={TLS_FILES / 'broker.pem'}",
            f"--ssl-key={TLS_FILES / 'broker.key.pem'}",
            f"--secure-file-priv={self.data_dir}",
            "--skip-name-resolve",
            "--innodb-buffer-pool-size=16M",
            "--innodb-log-file-size=8M",
            "--innodb-flush-log-at-trx-commit=0",
            "--log-output=TABLE",
            # What our sessions must not rely on:
            "--sql-mode=NO_BACKSLASH_ESCAPES,ANSI_QUOTES,PIPES_AS_CONCAT,IGNORE_SPACE",
            "--init-connect=SET time_zone = '+08:00', character_set_client = gbk, character_set_results = gbk",
            "--local-infile=ON",
        ]

    def _answers(self, pid: int) -> bool:
        if not os.path.exists(self._socket()):
            return False
        try:
            [(named,)] = self.run("SELECT @@pid_file")
        except pymysql.MySQLError:
            return False
        with open(named) as file:
            return int(file.read()) == pid


def _as_user() -> list[str]:
    return ["--user=root"] if os.geteuid() == 0 else []


def require_mariadb() -> None:
    """Skips where there is no MariaDB, and fails instead where tests are meant to be complete."""
    if os.path.exists(PROGRAM) and shutil.which("mariadb-install-db"):
        return
    told = f"{PROGRAM} and mariadb-install-db are not installed (Debian: mariadb-server)"
    if os.environ.get("CI"):
        pytest.fail(told)
    pytest.skip(told)

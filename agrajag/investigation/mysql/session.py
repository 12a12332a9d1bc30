"""How a session with MySQL or MariaDB is held to reading, and what the errors of one mean. No IO.

The limits are set at the server, and again on our side by whoever uses the session: neither relies on the other.
"""

from dataclasses import dataclass, field
from ssl import SSLContext

from pymysql.err import MySQLError

from agrajag.errors import ConfigError
from agrajag.investigation.source_codes import SourceCode

MAX_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class MysqlAccess:
    """How the server is reached. With `tls` nothing is said to a server that does not speak it."""

    host: str
    port: int
    user: str
    password: str = field(repr=False, default="")
    tls: SSLContext | None = field(repr=False, default=None)

    def __post_init__(self) -> None:
        if not self.user:
            raise ConfigError("MySQL user: must not be empty")  # the driver would take that of the process
        if any(char > "\xff" for char in self.password):
            raise ConfigError("MySQL password: the driver knows only characters of Latin-1")


@dataclass(frozen=True, slots=True)
class MysqlLimits:
    """What one look may take. `seconds` is for the statement, `connect_seconds` for all that comes before it.

    `examined_rows` is what the server may expect to read, of all tables combined. Only MariaDB keeps `memory_bytes`.
    """

    rows: int = 50
    answer_bytes: int = 262_144
    seconds: float = 5.0
    connect_seconds: float = 3.0
    examined_rows: int = 10_000_000
    memory_bytes: int = 64 * 1024 * 1024

    def __post_init__(self) -> None:
        if not 1 <= self.rows <= MAX_ROWS:
            raise ConfigError(f"MySQL rows {self.rows}: must be 1 to {MAX_ROWS}")
        if min(self.seconds, self.connect_seconds) < 0.001 or min(self.answer_bytes, self.examined_rows) < 1:
            raise ConfigError("MySQL limits: must be positive")


def opening(server_version: str, limits: MysqlLimits) -> tuple[str, ...]:
    """The statements that a session begins with; a statement of anybody's comes after all of them have been taken.

    The SQL mode, the character set and the time zone are ours, whatever the server's own are: a literal, a name and a
    time read the same everywhere. Rows that GROUP BY does not determine are an error and no evidence.
    """
    ours = {
        "sql_mode": "'ONLY_FULL_GROUP_BY'",
        "time_zone": "'+00:00'",
        "sql_select_limit": limits.rows + 1,
        "max_join_size": limits.examined_rows,
        "sql_big_selects": 0,
        "group_concat_max_len": min(limits.answer_bytes, 16_384),
        "lock_wait_timeout": max(1, int(limits.seconds)),
    }
    if "mariadb" in server_version.lower():
        ours |= {"max_statement_time": limits.seconds, "max_session_mem_used": limits.memory_bytes}
    else:
        ours |= {"max_execution_time": int(limits.seconds * 1_000)}
    return (
        "SET NAMES utf8mb4",
        f"SET SESSION {', '.join(f'{name} = {value}' for name, value in ours.items())}",
        "SET SESSION TRANSACTION READ ONLY",
        "START TRANSACTION READ ONLY",
    )


_CODES = {
    SourceCode.ACCESS_DENIED: (
        1044,  # for user to database
        1045,  # for user
        1130,  # this host may not connect
        1142,  # command to user for table
        1143,  # command to user for column
        1227,  # needs a privilege
        1370,  # routine
        1524,  # an authentication plugin that is not there
        1698,  # for user, without a password
        1820,  # the password must be changed first
        1862,  # the password has expired
        2059,  # the server asks for a password in a way that we do not give it
        3118,  # the account is locked
        4151,  # the account is locked, in MariaDB
    ),
    SourceCode.SOURCE_TIMEOUT: (
        1205,  # waited for a lock
        1317,  # interrupted
        1969,  # max_statement_time, MariaDB
        3024,  # max_execution_time, MySQL
    ),
    SourceCode.SOURCE_BUSY: (
        1040,  # too many connections
        1203,  # too many of this user
        1226,  # the user's hourly share is used up
        1041,  # out of memory
        1135,  # cannot make a thread
    ),
    SourceCode.QUERY_TOO_LARGE: (
        1104,  # max_join_size
        1290,  # max_session_mem_used
    ),
    SourceCode.SOURCE_UNAVAILABLE: (
        1053,  # shutting down
        1129,  # the host is blocked after many errors
        1158,  # reading from the network
        1159,
        1160,
        1161,
        1927,  # the connection was killed
        2002,
        2003,  # no connection, TLS included
        2006,  # gone away
        2013,  # lost during the query
        2026,  # TLS
        2055,
    ),
}
_BY_NUMBER = {number: code for code, numbers in _CODES.items() for number in numbers}


def meaning(error: MySQLError, *, is_open: bool) -> SourceCode:
    """The code for what the driver or the server says. `is_open`: the session had taken all that it begins with."""
    known = _BY_NUMBER.get(number_of(error))
    if known is not None:
        return known
    return SourceCode.QUERY_REFUSED if is_open else SourceCode.SOURCE_UNREADABLE


def number_of(error: MySQLError) -> int:
    """The number of an error, which says all that may be logged of it; 0 where it has none."""
    number = error.args[0] if error.args else 0
    return number if isinstance(number, int) else 0

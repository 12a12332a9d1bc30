"""Asks the tables of a MySQL or MariaDB server, as `query_mysql` does: a session for each look, thrown away after it.

What is not finished when a look ends, is cut or has taken too long, is ended at the server over a second connection; it
would end by its own limit as well.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import structlog
from aiomysql import SSCursor
from pymysql.err import MySQLError

from agrajag.harness import Failed
from agrajag.investigation.evidence import CallIds, Found, Scope
from agrajag.investigation.mysql.cells import Cell, plain
from agrajag.investigation.mysql.connection import AnswerTooLarge, BoundedConnection
from agrajag.investigation.mysql.guard import Statement, judge
from agrajag.investigation.mysql.session import MysqlAccess, MysqlLimits, meaning, number_of, opening
from agrajag.investigation.mysql.tables import SqlCode, SqlTables
from agrajag.investigation.requests import MysqlRequest
from agrajag.investigation.source_codes import SourceCode
from agrajag.metrics import SQL_REFUSALS

log = structlog.get_logger(__name__)

SOURCE = "mysql"
_GRACE_SECONDS = 0.5
"""By how much our own limit is longer than the server's: its error says more than that there was no answer."""
_HANDSHAKE_BYTES = 16_384


class _Answer(NamedTuple):
    rows: Sequence[Sequence[Cell]]
    is_cut: bool


class MysqlSource:
    """The tables of one schema, as far as they may be read; many looks may be made side by side."""

    def __init__(self, access: MysqlAccess, tables: SqlTables, limits: MysqlLimits | None = None) -> None:
        self._access = access
        self._tables = tables
        self._limits = limits or MysqlLimits()
        self._ending: set[asyncio.Task[None]] = set()

    async def look(self, ids: CallIds, asked: MysqlRequest) -> Found | Failed:
        """The rows, each as {column: value}, of one statement that only reads what may be read.

        Failed with an SqlCode where the statement is not sent at all, with a SourceCode where there is no answer.
        """
        statement = judge(asked.sql, self._tables, self._limits.rows)
        if isinstance(statement, SqlCode):
            SQL_REFUSALS.labels(statement).inc()
            log.info("sql_refused", code=statement, run_id=ids.run_id, call_id=ids.tool_call_id)
            return Failed(statement)
        session = _Session(self._access, self._limits)
        try:
            answer = await session.answer(statement)
        except (MySQLError, AnswerTooLarge, TimeoutError) as error:
            code = _code(error, session)
            number = number_of(error) if isinstance(error, MySQLError) else 0
            log.info("sql_failed", code=code, number=number, run_id=ids.run_id, call_id=ids.tool_call_id)
            return Failed(code)
        finally:
            if (thread_id := session.close()) is not None:
                self._end(thread_id)
        rows = [dict(zip(statement.columns, row, strict=True)) for row in answer.rows]
        return Found(rows, Scope(source=SOURCE, subjects=statement.tables), answer.is_cut)

    async def close(self) -> None:
        """Wait for statements that are being ended at the server; seconds at most."""
        await asyncio.gather(*self._ending)

    def _end(self, thread_id: int) -> None:
        ending = asyncio.create_task(_end(self._access, self._limits.connect_seconds, thread_id))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)


class _Session:
    """One connection and the one statement that it is for."""

    def __init__(self, access: MysqlAccess, limits: MysqlLimits) -> None:
        self._limits = limits
        self._connection = BoundedConnection(access, limits.answer_bytes + _HANDSHAKE_BYTES)
        self.is_open = False
        self._is_asking = False

    async def answer(self, statement: Statement) -> _Answer:
        """Raises MySQLError, TimeoutError, and AnswerTooLarge where not even one row has come in its bound."""
        connection, limits = self._connection, self._limits
        async with asyncio.timeout(limits.connect_seconds):
            await connection.open()
            for ours in opening(connection.get_server_info(), limits):
                await connection.query(ours)
        self.is_open = True
        async with asyncio.timeout(limits.seconds + _GRACE_SECONDS):
            return await self._rows(statement)

    async def _rows(self, statement: Statement) -> _Answer:
        cursor = await self._connection.cursor(SSCursor)
        rows: list[Sequence[Cell]] = []
        self._is_asking = True
        try:
            await cursor.execute(statement.sql)
            kinds = [column[1] for column in cursor.description]
            while self._is_asking and len(rows) <= self._limits.rows + 1:  # LIMIT has ended it by then
                row = await cursor.fetchone()
                if row is None:
                    self._is_asking = False
                else:
                    rows.append([plain(cell, kind) for cell, kind in zip(row, kinds, strict=True)])
        except AnswerTooLarge:
            if not rows:
                raise
            return _Answer(rows, is_cut=True)
        except MySQLError:
            self._is_asking = False
            raise
        if not self._is_asking:
            with suppress(OSError):  # the answer is there, whatever becomes of the farewell
                await self._connection.ensure_closed()
        return _Answer(rows[: self._limits.rows], is_cut=len(rows) > self._limits.rows)

    def close(self) -> int | None:
        """Hangs up. The id of the server's thread, where it may still be at work."""
        self._connection.close()
        return self._connection.thread_id() if self._is_asking else None


def _code(error: Exception, session: _Session) -> SourceCode:
    if isinstance(error, MySQLError):
        return meaning(error, is_open=session.is_open)
    if isinstance(error, AnswerTooLarge):
        return SourceCode.ANSWER_TOO_LARGE
    return SourceCode.SOURCE_TIMEOUT if session.is_open else SourceCode.SOURCE_UNAVAILABLE


async def _end(access: MysqlAccess, seconds: float, thread_id: int) -> None:
    """End a thread of the server. Nothing is lost where that fails: its statement has a limit of its own."""
    connection: Any = BoundedConnection(access, _HANDSHAKE_BYTES)
    try:
        async with asyncio.timeout(seconds):
            await connection.open()
            await connection.query(f"KILL {thread_id:d}")
    except Exception as error:  # nobody waits for it
        log.info("sql_not_ended", error=type(error).__name__)
    finally:
        connection.close()

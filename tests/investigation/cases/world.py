"""Lays out what a case's sources hold: runbooks and logs as files for the real adapters, rows in a small database.

Statements pass the real judge of SQL; what it lets through runs on SQLite. Every answer of a source is kept by run and
call, before anything of the agent has seen it.
"""

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import sqlglot

from agrajag.harness import Failed
from agrajag.investigation.evidence import CallIds, EvidenceAdapter, Found, Scope
from agrajag.investigation.gate import Sources
from agrajag.investigation.logs import JsonlLogs
from agrajag.investigation.mysql.guard import judge
from agrajag.investigation.mysql.tables import SqlCode, SqlTables
from agrajag.investigation.requests import MysqlRequest, ToolName
from agrajag.investigation.runbooks import Runbooks
from agrajag.investigation.source_codes import SourceCode
from tests.builders import NOW
from tests.investigation.cases.case import Case, Fails

_SCHEMA = "shop"
_MAX_ROWS = 20

Answers = dict[tuple[str, str], Found | Failed]
"""What the sources have answered, by run and call id."""


@dataclass(frozen=True)
class Kept:
    """A source whose answers are kept."""

    source: EvidenceAdapter[Any]
    answers: Answers

    async def look(self, ids: CallIds, asked: Any) -> Found | Failed:
        found = await self.source.look(ids, asked)
        self.answers[ids.run_id, ids.tool_call_id] = found
        return found


@dataclass(frozen=True)
class Failing:
    """A source that is away."""

    how: Fails

    async def look(self, ids: CallIds, asked: Any) -> Found | Failed:
        if self.how.raises is not None:
            raise RuntimeError(self.how.raises)
        return Failed(self.how.code or SourceCode.SOURCE_UNAVAILABLE)


class Rows:
    """The tables of a case. Those of which no columns are named have those of their first row."""

    def __init__(self, case: Case) -> None:
        self._rows = case.tables
        named = {table: tuple(rows[0]) for table, rows in case.tables.items() if rows}
        self.columns: Mapping[str, tuple[str, ...]] = {**named, **case.columns}

    async def look(self, ids: CallIds, asked: MysqlRequest) -> Found | Failed:
        if not self.columns:
            return Failed(SourceCode.SOURCE_UNAVAILABLE)
        statement = judge(asked.sql, SqlTables(_SCHEMA, self.columns), _MAX_ROWS)
        if isinstance(statement, SqlCode):
            return Failed(statement)
        [sql] = sqlglot.transpile(statement.sql, read="mysql", write="sqlite")
        with closing(self._database()) as database:
            try:
                rows = database.execute(sql).fetchall()
            except sqlite3.Error:  # what MySQL has and SQLite has not
                return Failed(SourceCode.QUERY_REFUSED)
        items = [dict(zip(statement.columns, row, strict=True)) for row in rows]
        return Found(
            items[:_MAX_ROWS], Scope(source="mysql", subjects=statement.tables), len(rows) > _MAX_ROWS
        )

    def _database(self) -> sqlite3.Connection:
        database = sqlite3.connect(":memory:")
        database.execute("ATTACH ':memory:' AS shop")
        for table, columns in self.columns.items():
            database.execute(f"CREATE TABLE {_SCHEMA}.{table} ({', '.join(columns)})")
            for row in self._rows.get(table, ()):
                values = [row.get(name) for name in columns]
                marks = ", ".join("?" for _ in columns)
                database.execute(f"INSERT INTO {_SCHEMA}.{table} VALUES ({marks})", values)  # noqa: S608
        return database


@contextmanager
def sources_of(case: Case, folder: Path, answers: Answers) -> Iterator[Sources]:
    """The sources of a case, with their files below `folder`."""
    books, lines = folder / "runbooks", folder / "logs"
    for place in (books, lines):
        place.mkdir(parents=True)
    for name, written in case.runbooks.items():
        (books / name).write_text(written, "utf-8")
    if case.logs:
        log = lines / "all.jsonl"
        log.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in case.logs))
        os.utime(log, (NOW.timestamp(), NOW.timestamp()))
    runbooks = Runbooks(books)

    def kept(tool: ToolName, source: EvidenceAdapter[Any]) -> Kept:
        return Kept(Failing(case.fails[tool]) if tool in case.fails else source, answers)

    try:
        yield Sources(
            knowledge=kept(ToolName.LOOKUP_KNOWLEDGE, runbooks),
            logs=kept(ToolName.QUERY_LOGS, JsonlLogs(lines, now=lambda: NOW)),
            mysql=kept(ToolName.QUERY_MYSQL, Rows(case)),
        )
    finally:
        runbooks.close()

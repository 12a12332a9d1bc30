"""Decides whether a text is one SELECT of what may be read, and makes the only form of it that is ever sent.

Pure, and total: whatever the text is, there is a statement or a code. A statement judged again is the same statement,
unless all that is told in it has made it larger than what is read at all.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agrajag.investigation.mysql.calls import CALLS
from agrajag.investigation.mysql.operations import OPERATIONS
from agrajag.investigation.mysql.queries import QUERIES, render_query
from agrajag.investigation.mysql.reading import read
from agrajag.investigation.mysql.results import Item
from agrajag.investigation.mysql.scope import Scope, Work
from agrajag.investigation.mysql.tables import MAX_NAME_CHARS, Refused, SqlCode, SqlTables

_MAX_SQL_CHARS = 20_000
_GRAMMAR = {**OPERATIONS, **CALLS, **QUERIES}
_SOURCE_NAME = re.compile(r"`t\d+`\.")


@dataclass(frozen=True, slots=True)
class Statement:
    """What is sent, the names of the columns that come back, and the tables that are read."""

    sql: str
    columns: tuple[str, ...]
    tables: tuple[str, ...]


def judge(text: str, tables: SqlTables, max_rows: int) -> Statement | SqlCode:
    """The statement to be sent for a text, or why there is none (spec single-react: Evidence Tools).

    It asks for no more than `max_rows` rows and one, which tells that there are more.
    """
    work = Work(tables, _GRAMMAR)
    try:
        rendered = render_query(read(text), Scope(work, {}))
    except Refused as refused:
        return refused.code
    if not work.read:
        return SqlCode.SQL_READS_NO_TABLE
    limit = max_rows + 1 if rendered.limit is None else min(rendered.limit, max_rows + 1)
    sql = rendered._replace(limit=limit).limited()
    if len(sql) > _MAX_SQL_CHARS:
        return SqlCode.SQL_TOO_COMPLEX
    return Statement(sql, _labels(rendered.items), tuple(work.read))


def _labels(items: Sequence[Item]) -> tuple[str, ...]:
    """A name for each column, and no name twice: of two the second has its place behind it."""
    labels: dict[str, None] = {}
    for place, item in enumerate(items, 1):
        label = item.name or _SOURCE_NAME.sub("", item.text).replace("`", "")[:MAX_NAME_CHARS]
        labels[f"{label} ({place})" if label in labels else label] = None
    return tuple(labels)

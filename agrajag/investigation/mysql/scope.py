"""Which column a name in a statement stands for, decided here and not left to the server.

The server knows columns that nobody may read, and would find them where a name is not told apart. So every source of
rows gets a name of ours that no other source of the statement has (t1, t2, …), and every column is rendered with it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from sqlglot import exp

from agrajag.investigation.mysql.tables import Refused, SqlCode, SqlTables

_MAX_NODES = 2_000
_MAX_DEPTH = 30


class Source(NamedTuple):
    """Rows under a name of the statement. `columns`: what may be read of them, by names in lower case."""

    name: str
    alias: str
    columns: Mapping[str, str]


class Common(NamedTuple):
    """A CTE: the name of ours that it is rendered with, and its columns as of a `Source`."""

    alias: str
    columns: Mapping[str, str]


class Work:
    """One statement while it is rendered: the names given away, the tables read, and how much has been done."""

    def __init__(self, tables: SqlTables, grammar: "Mapping[type[exp.Expr], Renderer]") -> None:
        self.tables = tables
        self.grammar = grammar
        self.read: dict[str, None] = {}
        self._nodes = 0
        self._sources = 0
        self._commons = 0

    def count(self, depth: int) -> None:
        """One node more, this deep."""
        self._nodes += 1
        if self._nodes > _MAX_NODES or depth > _MAX_DEPTH:
            raise Refused(SqlCode.SQL_TOO_COMPLEX)

    def next_source(self) -> str:
        """A name that no source of the statement has yet."""
        self._sources += 1
        return f"t{self._sources}"

    def next_common(self) -> str:
        """A name that no CTE of the statement has yet."""
        self._commons += 1
        return f"c{self._commons}"

    def table(self, name: str) -> str:
        """The table that is meant, as the schema calls it; it counts as read."""
        table = self.tables.table(name)
        if table is None:
            raise Refused(SqlCode.TABLE_NOT_ALLOWED)
        self.read[table] = None
        return table


@dataclass(slots=True)
class Scope:
    """The sources of one SELECT, and what surrounds it.

    `names` are the select list's own names for its expressions, where a clause may use them; None
    for a name that stands for two.
    """

    work: Work
    commons: Mapping[str, Common]
    outer: "Scope | None" = None
    depth: int = 0
    sources: list[Source] = field(default_factory=list)
    names: Mapping[str, exp.Expr | None] = field(default_factory=dict)

    def inside(self) -> "Scope":
        """The scope of a subquery that may read this one's sources as well."""
        return Scope(self.work, self.commons, self, self.depth + 1)

    def apart(self) -> "Scope":
        """The scope of a query that reads nothing of its surroundings but CTEs."""
        return Scope(self.work, self.commons, None, self.depth + 1)

    def deeper(self) -> "Scope":
        """The same one, for the parts of a node."""
        return replace(self, depth=self.depth + 1)

    def beside(self) -> "Scope":
        """One with the same surroundings and no sources yet."""
        return replace(self, depth=self.depth + 1, sources=[])

    def knowing(self, commons: Mapping[str, Common]) -> "Scope":
        """The same one, with these CTEs."""
        return replace(self, commons=commons)

    def with_names(self, names: Mapping[str, exp.Expr | None]) -> "Scope":
        """The same sources, and names of the select list."""
        return replace(self, names=names)

    def add(self, name: str, alias: str, columns: Mapping[str, str]) -> None:
        """One source more. Two of one name are refused, in whatever case they are written."""
        if any(source.name == name.lower() for source in self.sources):
            raise Refused(SqlCode.TABLE_NOT_ALLOWED)
        self.sources.append(Source(name.lower(), alias, columns))

    def column(self, name: str, source_name: str | None) -> str:
        """The column rendered, with the name of its source; of the innermost scope that has it. Raises Refused."""
        found = self.find(name, source_name)
        if found is None:
            raise Refused(SqlCode.COLUMN_NOT_ALLOWED)
        return found

    def find(self, name: str, source_name: str | None) -> str | None:
        """As `column`; None where no scope has it."""
        for scope in self._outwards():
            found = scope.find_here(name, source_name)
            if found is not None:
                return found
            if source_name is not None and scope.source(source_name) is not None:
                return None  # the nearest source of that name is the one that is meant
        return None

    def find_here(self, name: str, source_name: str | None) -> str | None:
        """As `find`, of this scope's own sources alone."""
        wanted = name.lower()
        having = [
            source
            for source in self.sources
            if wanted in source.columns and source_name in (None, source.name)
        ]
        if len(having) > 1:
            raise Refused(SqlCode.COLUMN_AMBIGUOUS)
        return f"`{having[0].alias}`.`{having[0].columns[wanted]}`" if having else None

    def source(self, name: str) -> Source | None:
        """This scope's own source of that name."""
        return next((source for source in self.sources if source.name == name), None)

    def _outwards(self) -> Iterator["Scope"]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer


Renderer = Callable[[Any, Scope], str]
"""What makes text of one kind of node."""


def by_lower_name(names: Sequence[str]) -> Mapping[str, str]:
    """Names by themselves in lower case. Two that are one to the server are refused."""
    known = {name.lower(): name for name in names}
    if len(known) < len(names):
        raise Refused(SqlCode.COLUMN_AMBIGUOUS)
    return known

"""What a statement may read, and the closed codes for why one is refused."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from agrajag.errors import ConfigError
from agrajag.investigation.shown_values import names_a_secret

MAX_NAME_CHARS = 64
_NEVER_IN_NAMES = frozenset("`'\"\\")


class SqlCode(StrEnum):
    """Why a statement is not sent. These are codes of failed observations, so the model can mend its statement."""

    SQL_NOT_PARSED = "SQL_NOT_PARSED"
    SQL_NOT_ONE_SELECT = "SQL_NOT_ONE_SELECT"
    SQL_NOT_ALLOWED = "SQL_NOT_ALLOWED"
    SQL_READS_NO_TABLE = "SQL_READS_NO_TABLE"
    SQL_TOO_COMPLEX = "SQL_TOO_COMPLEX"
    TABLE_NOT_ALLOWED = "TABLE_NOT_ALLOWED"
    COLUMN_NOT_ALLOWED = "COLUMN_NOT_ALLOWED"
    COLUMN_AMBIGUOUS = "COLUMN_AMBIGUOUS"
    FUNCTION_NOT_ALLOWED = "FUNCTION_NOT_ALLOWED"


class Refused(Exception):
    """The statement is not sent. Leaves this package as a value only."""

    def __init__(self, code: SqlCode) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class SqlTables:
    """The one schema, its tables that may be read, and of each the columns that may be. Raises ConfigError."""

    schema: str
    columns: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        names = [self.schema, *self.columns, *(name for table in self.columns.values() for name in table)]
        problems = [f"SQL name {name!r}: cannot be used" for name in names if not is_name(name)]
        problems += [
            f"SQL table {table}: has no columns" for table, columns in self.columns.items() if not columns
        ]
        problems += [
            f"SQL table {table}: two columns differ in case alone"
            for table, columns in self.columns.items()
            if len({column.lower() for column in columns}) < len(columns)
        ]
        problems += [
            f"SQL column {table}.{column}: holds secrets, as its name says; a statement could call it something else"
            for table, columns in self.columns.items()
            for column in columns
            if names_a_secret(column)
        ]
        if not self.columns:
            problems.append("SQL tables: must not be empty")
        if problems:
            raise ConfigError(*problems)

    def table(self, name: str) -> str | None:
        """The table that is meant, as the schema calls it: by its very name, else by the only one but for case."""
        if name in self.columns:
            return name
        alike = [table for table in self.columns if table.lower() == name.lower()]
        return alike[0] if len(alike) == 1 else None


def is_name(name: str) -> bool:
    """Whether it is a name that stands between backticks as it is, in every SQL mode."""
    return (
        0 < len(name) <= MAX_NAME_CHARS
        and name.isprintable()
        and name == name.strip()
        and not _NEVER_IN_NAMES & set(name)
        and max(name) <= "\uffff"
    )

"""What the model may ask each tool for: the typed business request inside every envelope.

Bounds that a source sets for itself (which services, tables and columns there are) are the adapter's to check; what
stands here holds for every source, and breaking it is a REPAIR, before any source is asked.
"""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AwareDatetime, Field, StringConstraints, model_validator

from agrajag.investigation.frozen_model import FrozenModel

MAX_WINDOW = timedelta(days=7)


class ToolName(StrEnum):
    """The three tools, and no others (spec single-react: Evidence Tools)."""

    LOOKUP_KNOWLEDGE = "lookup_knowledge"
    QUERY_LOGS = "query_logs"
    QUERY_MYSQL = "query_mysql"


class LogLevel(StrEnum):
    """Levels of log lines, in their order."""

    DEBUG = "DEBUG"
    INFO = "INFO"
    WARN = "WARN"
    ERROR = "ERROR"


_Words = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"\S")]


class KnowledgeRequest(FrozenModel):
    """Words to look for in the runbooks."""

    query: _Words
    limit: Annotated[int, Field(ge=1, le=10)] = 5


class LogRequest(FrozenModel):
    """A bounded piece of the log: from `since` to before `until`, of one service or of all.

    `level` is the lowest to be shown. `contains` is looked for as it is, `pattern` is RE2; at most one of them.
    """

    since: AwareDatetime
    until: AwareDatetime
    service: Annotated[str, StringConstraints(min_length=1, max_length=120, pattern=r"\S")] | None = None
    level: LogLevel | None = None
    contains: _Words | None = None
    pattern: _Words | None = None
    limit: Annotated[int, Field(ge=1, le=50)] = 20

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if not timedelta(0) < self.until - self.since <= MAX_WINDOW:
            raise ValueError("until: must be after since, and at most seven days after it")
        if self.contains is not None and self.pattern is not None:
            raise ValueError("pattern: not together with contains")
        return self


class MysqlRequest(FrozenModel):
    """One SELECT. Only what its parse tree may hold is rendered anew and sent; the text itself never is."""

    sql: Annotated[str, StringConstraints(min_length=1, max_length=4_000, pattern=r"\S")]

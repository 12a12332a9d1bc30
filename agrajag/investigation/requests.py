"""What the model may ask each tool for: the typed business request inside every envelope.

Bounds that a source sets for itself (which services, tables and columns there are) are the adapter's to check; what
stands here holds for every source, and breaking it is a REPAIR, before any source is asked.
"""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import (
    AfterValidator,
    AwareDatetime,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
)

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


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("its zone carries it out of the years 1 to 9999") from None


_Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]


class KnowledgeRequest(FrozenModel):
    """Words to look for in the runbooks."""

    query: _Words
    limit: Annotated[int, Field(ge=1, le=10)] = 5


class LogRequest(FrozenModel):
    """A bounded piece of the log: from `since` to before `until`, of one service or of all.

    `level` is the lowest to be shown. `contains` is looked for as it is, `pattern` is RE2; at most one of them.
    """

    since: _Moment
    until: _Moment
    service: Annotated[str, StringConstraints(min_length=1, max_length=120, pattern=r"\S")] | None = None
    level: LogLevel | None = None
    contains: _Words | None = None
    pattern: _Words | None = None
    limit: Annotated[int, Field(ge=1, le=50)] = 20

    @field_validator("until")
    @classmethod
    def _bounded(cls, until: datetime, so_far: ValidationInfo) -> datetime:
        since: datetime | None = so_far.data.get("since")  # absent where it is wrong itself
        if since is not None and not timedelta(0) < until - since <= MAX_WINDOW:
            raise ValueError("must be after since, and at most seven days after it")
        return until

    @field_validator("pattern")
    @classmethod
    def _alone(cls, pattern: str | None, so_far: ValidationInfo) -> str | None:
        if pattern is not None and so_far.data.get("contains") is not None:
            raise ValueError("not together with contains")
        return pattern


class MysqlRequest(FrozenModel):
    """One SELECT. Only what its parse tree may hold is rendered anew and sent; the text itself never is."""

    sql: Annotated[str, StringConstraints(min_length=1, max_length=4_000, pattern=r"\S")]

"""Reads a corpus: failures that somebody has labelled, one JSON object a line, as the errors a reporter would send.

A reporter hands on what its client saw: class, status, headers and body, and the tool's own error code where its client
knows it, wherever in the response that stands. It calls the kind of system `toolFamily`. The call failed when the
response's `date` header says, else now.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple, Self

import orjson
from pydantic import Field, ValidationError, model_validator

from agrajag.core.rules import Problem
from agrajag.core.score import Labelled
from agrajag.core.shown import shown
from agrajag.errors import InputError
from agrajag.model.enums import Classification
from agrajag.model.wire_model import MAX_BODY, Id, WireModel
from agrajag.wire.past_errors import Given, arrival_of

_TENANT = "corpus"
_USER = "somebody"


class CorpusRecord(WireModel):
    """One line of a corpus; other fields of it are for people."""

    id: Id
    family: Id
    transport: str
    tool_name: Id | None = None
    exception_type: str | None = None
    http_status: int | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    body: str | None = None
    body_pad_before: int = Field(0, ge=0, le=10 * MAX_BODY)
    error_code: str | None = None
    expected_classification: Classification
    alternatives: tuple[Classification, ...] = ()
    ambiguous: bool
    expected_cooldown_seconds: float | None = None
    fidelity: str

    @model_validator(mode="after")
    def _is_labelled_soundly(self) -> Self:
        if self.ambiguous != bool(self.alternatives):
            raise ValueError("ambiguous must be true exactly where there are alternatives")
        return self

    def event(self) -> bytes:
        """The event that a reporter of this failure sends."""
        body = self.body
        if body is not None:
            body = "." * self.body_pad_before + body
        report = {
            "exceptionType": self.exception_type,
            "httpStatus": self.http_status,
            "headers": self.headers,
            "body": body,
            "errorCode": self.error_code,
        }
        return orjson.dumps(
            {
                "eventId": self.id,
                "tenantId": _TENANT,
                "userId": _USER,
                "toolName": self.tool_name or self.family,
                "toolFamily": self.family,
                "transport": self.transport,
                "error": report,
            }
        )


class Corpus(NamedTuple):
    """The records of some files, and the lines that hold none."""

    records: tuple[Labelled, ...]
    problems: tuple[Problem, ...]


def read_corpus(lines: Iterable[bytes], source: str, now: datetime) -> Corpus:
    """The records in `lines` of the file `source`; what is wrong with a line is told by its number. Never raises."""
    records: dict[str, Labelled] = {}
    problems: list[Problem] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = _labelled(line, now)
        except (InputError, ValidationError) as error:
            problems.append(Problem(source, None, f"line {number}", _told(error)))
            continue
        if record.id in records:
            problems.append(Problem(source, None, f"line {number}", f"{shown(record.id)} stands twice"))
        else:
            records[record.id] = record
    return Corpus(tuple(records.values()), tuple(problems))


def _labelled(line: bytes, now: datetime) -> Labelled:
    record = CorpusRecord.from_json(line)
    at = _date(record.headers) or now
    return Labelled(
        id=record.id,
        family=record.family,
        fidelity=record.fidelity,
        expected=record.expected_classification,
        alternatives=frozenset(record.alternatives),
        cooldown_seconds=record.expected_cooldown_seconds,
        arrival=arrival_of(Given(record.event(), timestamp=int(at.timestamp() * 1000))),
    )


def _date(headers: dict[str, str]) -> datetime | None:
    dates = [value for name, value in headers.items() if name.lower() == "date"]
    try:
        return parsedate_to_datetime(dates[0]).astimezone(UTC) if dates else None
    except (ValueError, OverflowError):
        return None


def _told(error: InputError | ValidationError) -> str:
    if isinstance(error, InputError):
        return str(error)
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg']}" if where else first["msg"]

"""Reads a record of any of our topics for a person who looks at it: what it says, or why it says nothing.

Secrets that are recognised are left out, as error text may hold them.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from agrajag.core.redact import redacted_line, redacted_tree
from agrajag.errors import InputError
from agrajag.model.answers import CheckResult, CommandResult, Document, HealthCommand
from agrajag.model.events import SystemEvent, ToolCallError, ToolCallSucceeded, ToolLink
from agrajag.model.health import HealthEntry
from agrajag.model.jobs import DiagnosisJob, DiagnosisResult
from agrajag.model.keys import parts
from agrajag.model.wire_model import WireModel
from agrajag.wire.codec import decode
from agrajag.wire.dead_letters import marked_id
from agrajag.wire.health_records import health_change
from agrajag.wire.inbox_records import inbox_change
from agrajag.wire.letters import letter_of, shown
from agrajag.wire.origin import ReceivedRecord
from agrajag.wire.process_records import read_process_record
from agrajag.wire.topics import MAX_REQUEST_BYTES, TOPICS, Topic

_MAX_KEY = 1_000


class TailedTopic(NamedTuple):
    """One of our topics, or the dead letters of one."""

    topic: Topic
    dead_letters: bool = False

    def __str__(self) -> str:
        """`tool-call-errors`, or `tool-call-errors.dlq`."""
        return f"{self.topic}.dlq" if self.dead_letters else str(self.topic)


TAILED: Mapping[str, TailedTopic] = MappingProxyType(
    {
        str(tailed): tailed
        for spec in TOPICS
        for tailed in (TailedTopic(spec.topic), TailedTopic(spec.topic, True))
        if spec.dead_letters or not tailed.dead_letters
    }
)
"""Every topic that can be read so, by the name that a person gives."""


class SeenRecord(NamedTuple):
    """A record as a person sees it. `value` is what it says, as JSON data.

    There is none in a record that says that what stands under its key is gone, nor in one that cannot be used:
    `problem` says why.
    """

    place: str
    at: datetime | None
    key: str
    tenant_id: str | None
    tool_name: str | None
    value: dict[str, Any] | None
    problem: str | None = None

    def as_data(self) -> dict[str, Any]:
        """The same as JSON data; what has no value is left out, but for the value."""
        data = {
            "place": self.place,
            "at": self.at.isoformat() if self.at else None,
            "key": self.key,
            "problem": self.problem,
        }
        return {name: told for name, told in data.items() if told is not None} | {"value": self.value}


def seen_record(tailed: TailedTopic, record: ReceivedRecord) -> SeenRecord | None:
    """What a record of that topic is to a person; None for a mark that one of the dead letters was sent again."""
    if tailed.dead_letters and marked_id(record) is not None:
        return None
    key = (record.key or b"").decode("utf-8", "replace")
    named = _named_in(key, tailed.topic)
    value: dict[str, Any] | None = None
    problem = None
    try:
        if tailed.dead_letters:
            letter = shown(letter_of(record, tailed.topic))
            value, problem = letter, f"{letter['reason']}: {letter['detail']}"
        elif (found := _READERS[tailed.topic](record)) is not None:
            value = redacted_tree(found.model_dump(mode="json", exclude_none=True))
    except InputError as error:
        problem = f"{error.reason}: {error}"
    told = value or {}
    return SeenRecord(
        place=f"{record.partition}:{record.offset}",
        at=_moment(record.timestamp),
        key=redacted_line(key, _MAX_KEY),
        tenant_id=told.get("tenantId", named.get("tenant")),
        tool_name=told.get("toolName", named.get("tool")),
        value=value,
        problem=problem,
    )


def _named_in(key: str, topic: Topic) -> dict[str, str]:
    """The parts of the key by their names in the specification of the topic, where there are as many."""
    names = next(spec.key for spec in TOPICS if spec.topic is topic).split("|")
    found = parts(key)
    return dict(zip(names, found, strict=True)) if len(found) == len(names) else {}


def _moment(timestamp_ms: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(timestamp_ms / 1_000, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _entry(record: ReceivedRecord) -> WireModel | None:
    return None if record.value is None else decode(HealthEntry, record, max_bytes=MAX_REQUEST_BYTES)


def _document(record: ReceivedRecord) -> WireModel | None:
    return None if record.value is None else decode(Document, record, max_bytes=MAX_REQUEST_BYTES)


_READERS: Mapping[Topic, Callable[[ReceivedRecord], WireModel | None]] = MappingProxyType(
    {
        Topic.TOOL_CALL_ERRORS: partial(decode, ToolCallError),
        Topic.TOOL_CALL_SUCCESSES: partial(decode, ToolCallSucceeded),
        Topic.SYSTEM_EVENTS: partial(decode, SystemEvent),
        Topic.TOOL_LINKS: partial(decode, ToolLink),
        Topic.HEALTH_COMMANDS: partial(decode, HealthCommand),
        Topic.COMMAND_RESULTS: partial(decode, CommandResult),
        Topic.DIAGNOSIS_JOBS: partial(decode, DiagnosisJob),
        Topic.DIAGNOSIS_RESULTS: partial(decode, DiagnosisResult),
        Topic.CHECK_RESULTS: partial(decode, CheckResult),
        Topic.HEALTH_CHANGED: lambda record: health_change(record).health,
        Topic.HEALTH_CHANGELOG: _entry,
        Topic.DOCUMENTS: _document,
        Topic.INBOX_ITEMS: lambda record: inbox_change(record).item,
        Topic.PROCESS_EVENTS: read_process_record,
    }
)

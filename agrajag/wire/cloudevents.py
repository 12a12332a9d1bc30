"""CloudEvents 1.0 on Kafka: the headers we write, and the id and time of an event that others wrote.

Binary mode keeps the attributes in `ce_*` headers and the event alone in the value; structured mode wraps
the event in a JSON envelope. Attributes only ever fill what the event itself leaves open; the event's own
fields win. An id of CloudEvents is unique within its source only, so both together name the event.
"""

import base64
import hashlib
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import AwareDatetime, TypeAdapter, ValidationError

from agrajag.errors import InputError
from agrajag.metrics import REPAIRS
from agrajag.model.wire_model import Id
from agrajag.wire.reasons import DeadLetterReason, RepairKind

Headers = tuple[tuple[str, bytes], ...]
ReceivedHeaders = Sequence[tuple[str, bytes | None]]

_STRUCTURED = b"application/cloudevents+json"
_ID: TypeAdapter[str] = TypeAdapter(Id)
_TIME: TypeAdapter[datetime] = TypeAdapter(AwareDatetime)


class EventType(StrEnum):
    """The `ce_type` of each record; its number grows when a reader of the old form could not read the new."""

    TOOL_CALL_ERROR = "agrajag.tool-call-error.v1"
    TOOL_CALL_SUCCEEDED = "agrajag.tool-call-succeeded.v1"
    SYSTEM_EVENT = "agrajag.system-event.v1"
    TOOL_LINK = "agrajag.tool-link.v1"
    HEALTH_COMMAND = "agrajag.health-command.v1"
    COMMAND_RESULT = "agrajag.command-result.v1"
    DIAGNOSIS_JOB = "agrajag.diagnosis-job.v1"
    DIAGNOSIS_RESULT = "agrajag.diagnosis-result.v1"
    CHECK_RESULT = "agrajag.check-result.v1"
    HEALTH_CHANGED = "agrajag.health-changed.v1"
    DOCUMENT = "agrajag.document.v1"
    INBOX_ITEM = "agrajag.inbox-item.v1"
    PROCESS_EVENT = "agrajag.process-event.v1"
    SESSION_EVENT = "agrajag.session-event.v1"
    TOOL_CALL_EVENT = "agrajag.tool-call-event.v1"
    RUN_USAGE = "agrajag.run-usage.v1"


class Attributes(NamedTuple):
    """What an envelope says of its event, as it was received and not yet believed."""

    event_id: object = None
    time: object = None
    source: object = None

    def valid_id(self) -> str | None:
        """`<source>#<id>`, never the same for two events; where that is no id, a hash of it that is.

        Without a source it is the id alone. An id that cannot be one is ignored and counted.
        """
        if self.event_id is None:
            return None
        given = _as_id(self.event_id)
        if given is None:
            REPAIRS.labels(RepairKind.CE_ID_IGNORED).inc()
            return None
        # A source may hold a `#`, so the id must not: the last one separates them.
        name = given.replace("%", "%25").replace("#", "%23")
        if isinstance(self.source, str) and self.source:
            name = f"{self.source}#{name}"
        return _as_id(name) or f"sha256:{hashlib.sha256(name.encode()).hexdigest()}"

    def valid_time(self) -> datetime | None:
        """The time, if it is one and has a zone; anything else is ignored and counted."""
        if self.time is None:
            return None
        try:
            return _TIME.validate_python(self.time, strict=False)
        except ValidationError:
            REPAIRS.labels(RepairKind.CE_TIME_IGNORED).inc()
            return None


class Envelope(NamedTuple):
    """A structured-mode event taken apart: its attributes, and the event as a JSON tree or as bytes."""

    attributes: Attributes
    event: Any


@lru_cache(maxsize=256)
def _constant_headers(event_type: EventType, source: str) -> Headers:
    return (
        ("ce_specversion", b"1.0"),
        ("ce_type", event_type.value.encode()),
        ("ce_source", source.encode()),
        ("content-type", b"application/json"),
    )


def binary_headers(event_type: EventType, source: str, event_id: str) -> Headers:
    """The headers of a binary-mode event. `source` is one of a few names, such as `agrajag/triage`."""
    return (*_constant_headers(event_type, source), ("ce_id", event_id.encode()))


def binary_attributes(headers: ReceivedHeaders) -> Attributes:
    """Id, time and source from `ce_*` headers; the last of a name counts."""
    event_id = time = source = None
    for name, value in headers:
        if name == "ce_id":
            event_id = value
        elif name == "ce_time":
            time = value
        elif name == "ce_source":
            source = value
    return Attributes(_text(event_id), _text(time), _text(source))


def opened_envelope(tree: dict[str, Any], headers: ReceivedHeaders) -> Envelope | None:
    """The event inside a structured-mode envelope, or None if `tree` is not one.

    It is one if the content type says so, or if it has a `specversion` and data: many producers set no
    content type. Raises InputError if the envelope holds no readable event.
    """
    declared = any(
        name == "content-type" and (value or b"").lower().startswith(_STRUCTURED) for name, value in headers
    )
    has_event = "data" in tree or "data_base64" in tree
    if not declared and not ("specversion" in tree and has_event):
        return None
    if not has_event:
        raise InputError(DeadLetterReason.BAD_ENVELOPE, "the envelope has neither data nor data_base64")
    attributes = Attributes(tree.get("id"), tree.get("time"), tree.get("source"))
    if "data" in tree:
        return Envelope(attributes, tree["data"])
    try:
        return Envelope(attributes, base64.b64decode(tree["data_base64"], validate=True))
    except (ValueError, TypeError):
        raise InputError(DeadLetterReason.BAD_ENVELOPE, "data_base64 is not base64") from None


def _as_id(text: object) -> str | None:
    try:
        return _ID.validate_python(text, strict=True)
    except ValidationError:
        return None


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "replace")

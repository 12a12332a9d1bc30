"""Writes and reads the records of the topic of process events, whose `kind` says what each of them is."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from datetime import datetime
from types import MappingProxyType

import orjson

from agrajag.errors import InputError
from agrajag.model.enums import ProcessStatus
from agrajag.model.keys import lane_key
from agrajag.model.processes import (
    PROCESS_RECORDS,
    ProcessEvent,
    ProcessRecord,
    RunUsage,
    SessionEvent,
    ToolCallEvent,
)
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.cloudevents import EventType, binary_headers
from agrajag.wire.codec import decode
from agrajag.wire.following import follow, records_to_end
from agrajag.wire.origin import ReceivedRecord
from agrajag.wire.outputs import Output
from agrajag.wire.reasons import DeadLetterReason
from agrajag.wire.topics import Topic, Topics

_TYPES: Mapping[type[object], EventType] = MappingProxyType(
    {
        ProcessEvent: EventType.PROCESS_EVENT,
        SessionEvent: EventType.SESSION_EVENT,
        ToolCallEvent: EventType.TOOL_CALL_EVENT,
        RunUsage: EventType.RUN_USAGE,
    }
)

_CLOSED = ProcessStatus.CLOSED.encode()


def process_record_id(record: ProcessRecord) -> str:
    """What names a record: the same for a repeat, and for no other record."""
    match record:
        case ProcessEvent(
            is_superseded=True
        ):  # after a crash the same process may begin again, and really end
            return f"{record.process_id}:{record.status}:tried-again"
        case ProcessEvent():
            return f"{record.process_id}:{record.status}"
        case SessionEvent():
            return f"{record.session_id}:{record.seq}"
        case ToolCallEvent():
            return f"{record.process_id}:{record.call_id}:{record.status}"
        case RunUsage():
            return f"{record.process_id}:usage"


def process_output(topics: Topics, record: ProcessRecord, source: str) -> Output:
    """The record as it is written. `source` is one of a few names, such as `agrajag/service`."""
    return Output(
        topics.name(Topic.PROCESS_EVENTS),
        lane_key(record.tenant_id, record.project_id).encode(),
        record.to_json(),
        binary_headers(_TYPES[type(record)], source, process_record_id(record)),
    )


def read_process_record(record: ReceivedRecord) -> ProcessRecord:
    """The value of a record of that topic. Raises InputError, and nothing else."""
    try:
        data = orjson.loads(record.value or b"")
    except orjson.JSONDecodeError:
        raise InputError(DeadLetterReason.NOT_JSON, "the value is no JSON") from None
    if not isinstance(data, dict):
        raise InputError(DeadLetterReason.NOT_AN_OBJECT, "the value is no JSON object")
    kind = data.get("kind")
    model = PROCESS_RECORDS.get(kind) if isinstance(kind, str) else None
    if model is None:
        raise InputError(DeadLetterReason.INVALID_FIELD, f"kind: must be one of {', '.join(PROCESS_RECORDS)}")
    decoded: ProcessRecord = decode(model, record)
    return decoded


async def past_process_records(
    connection: KafkaConnection, topics: Topics, since: datetime | None = None
) -> AsyncGenerator[ProcessRecord, None]:
    """What the topic still keeps, or what of it is not older than `since`; what cannot be read is passed over.

    Raises TransientError or PermanentError.
    """
    name = topics.name(Topic.PROCESS_EVENTS)
    async with aclosing(records_to_end(connection, name, since)) as records:
        async for record in records:
            with suppress(InputError):
                yield read_process_record(record)


async def closing_of(
    connection: KafkaConnection, topics: Topics, job_id: str, since: datetime | None
) -> ProcessEvent:
    """The CLOSED that ends the job, once it is on the topic; one that is older than `since`, if given, is not found.

    A process that was closed because its job is tried again ends no job. Waits until then, or until it is cancelled.
    Raises TransientError or PermanentError.
    """
    named = job_id.encode()
    async with aclosing(follow(connection, topics.name(Topic.PROCESS_EVENTS), since)) as following:
        async for followed in following:
            for record in followed.records:
                if named not in (record.value or b""):
                    continue
                with suppress(InputError):
                    event = closing_in(record)
                    if event is not None and event.job_id == job_id:
                        return event
    raise AssertionError("a topic has no end")


def closing_in(record: ReceivedRecord) -> ProcessEvent | None:
    """The CLOSED that ends a job, if the record is one. Raises InputError for one that nobody can read."""
    if _CLOSED not in (record.value or b""):
        return None
    event = read_process_record(record)
    if not isinstance(event, ProcessEvent) or event.is_superseded:
        return None
    return event if event.status is ProcessStatus.CLOSED else None

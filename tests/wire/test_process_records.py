"""The records of processes: each read as what its kind says, named so that a repeat is the same."""

from typing import Any

import pytest

from agrajag.errors import InputError
from agrajag.model.enums import CloseReason, ProcessStatus, SessionStatus, ToolCallStatus
from agrajag.model.processes import (
    TRIED_AGAIN,
    ProcessEvent,
    ProcessRecord,
    RunUsage,
    SessionEvent,
    ToolCallEvent,
)
from agrajag.wire.process_records import process_output, process_record_id, read_process_record
from agrajag.wire.topics import Topics
from tests.builders import NOW
from tests.wire.records import received

_PROCESS: dict[str, Any] = {"process_id": "proc-1", "job_id": "job-1", "tenant_id": "acme", "at": NOW}
_RECORDS: list[ProcessRecord] = [
    ProcessEvent(**_PROCESS, session_id="sess-1", service_name="agrajag", status=ProcessStatus.RUNNING),
    SessionEvent(
        session_id="sess-1",
        seq=7,
        tenant_id="acme",
        service_name="agrajag",
        display_name="_agrajag",
        status=SessionStatus.ACTIVE,
        worker_id="w",
        at=NOW,
    ),
    ToolCallEvent(**_PROCESS, call_id="c1", tool_name="search", status=ToolCallStatus.STARTED),
    RunUsage(**_PROCESS, service_name="agrajag", tokens=5),
]


@pytest.mark.parametrize("record", _RECORDS, ids=lambda record: record.kind)
def test_a_record_is_read_as_it_was_written(record: ProcessRecord) -> None:
    output = process_output(Topics("test"), record, "agrajag/service")
    assert (output.topic, output.key) == ("test.process-events.v1", b"acme|-")
    assert dict(output.headers)["ce_id"].decode() == process_record_id(record)
    assert read_process_record(received(output.value, output.headers)) == record


def test_every_record_has_a_name_of_its_own() -> None:
    assert [process_record_id(record) for record in _RECORDS] == [
        "proc-1:RUNNING",
        "sess-1:7",
        "proc-1:c1:STARTED",
        "proc-1:usage",
    ]


def test_that_a_job_is_tried_again_is_no_repeat_of_the_end_of_its_process() -> None:
    closed = ProcessEvent(
        **_PROCESS,
        session_id="sess-1",
        service_name="agrajag",
        status=ProcessStatus.CLOSED,
        close_reason=CloseReason.STALE,
        reason="unclaimed",
    )
    superseded = closed.with_changes(reason=TRIED_AGAIN)
    assert [record.is_superseded for record in (closed, superseded)] == [False, True]
    assert process_record_id(closed) != process_record_id(superseded)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "not_json"),
        (b"{", "not_json"),
        (b"[" * 100_000, "not_json"),
        ([], "not_an_object"),
        ({}, "invalid_field"),
        ({"kind": "dance"}, "invalid_field"),
        ({"kind": ["process"]}, "invalid_field"),
        ({"kind": "process"}, "missing_field"),
        ({"kind": "usage", "tokens": "many"}, "missing_field"),
    ],
)
def test_what_is_no_record_says_why(value: Any, reason: str) -> None:
    with pytest.raises(InputError) as told:
        read_process_record(received(value))
    assert told.value.reason == reason

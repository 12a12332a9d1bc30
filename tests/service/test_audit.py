"""The audit of a process: each call named, redacted, cut, and on the brokers before it counts."""

from typing import Any

import pytest

from agrajag.errors import TransientError
from agrajag.harness import Failed, Ready, ToolCall
from agrajag.model.enums import Scope, ToolCallStatus
from agrajag.model.processes import MAX_OBSERVATION, ToolCallEvent
from agrajag.service.audit import ProcessAudit
from agrajag.service.health_tools import ReadHealth
from agrajag.service.records import ProcessRecords
from tests.builders import NOW, a_job
from tests.service.attempting import TOPICS, Clock, Kept


def _call(arguments: Any = None, call_id: str = "toolu_1") -> ToolCall:
    return ToolCall("sess-1", "proc-1", call_id, "tool_health_read", arguments)


def _audit(sender: Kept) -> ProcessAudit:
    return ProcessAudit(ProcessRecords(sender, TOPICS), a_job(), "proc-1", Clock())


async def _written(arguments: Any) -> str:
    sender = Kept()
    await _audit(sender).started(_call(arguments))
    (event,) = sender.of_kind("toolCall")
    assert event.arguments is not None
    return str(event.arguments)


async def test_a_call_is_written_when_it_begins_and_when_it_ends() -> None:
    sender = Kept()
    audit = _audit(sender)
    await audit.started(_call({"toolName": "search"}))
    await audit.ended(_call(), Ready({"status": "DOWN"}))
    await audit.ended(_call(call_id="toolu_2"), Failed("TOOL_TIMEOUT"))
    common: dict[str, Any] = {
        "process_id": "proc-1",
        "job_id": "job-1",
        "tenant_id": "acme",
        "project_id": "essays",
        "tool_name": "tool_health_read",
        "at": NOW,
    }
    assert sender.of_kind("toolCall") == [
        ToolCallEvent(
            call_id="toolu_1", status=ToolCallStatus.STARTED, arguments='{"toolName": "search"}', **common
        ),
        ToolCallEvent(
            call_id="toolu_1", status=ToolCallStatus.READY, observation='{"status": "DOWN"}', **common
        ),
        ToolCallEvent(call_id="toolu_2", status=ToolCallStatus.FAILED, code="TOOL_TIMEOUT", **common),
    ]
    assert {output.key for output in sender.outputs} == {b"acme|essays"}
    ids = [dict(output.headers)["ce_id"] for output in sender.outputs]
    assert ids == [b"proc-1:toolu_1:STARTED", b"proc-1:toolu_1:READY", b"proc-1:toolu_2:FAILED"]


async def test_arguments_that_a_tool_has_read_are_written_as_they_were_sent() -> None:
    text = await _written(ReadHealth(tool_name="search", scope=Scope.USER))
    assert text == '{"scope": "USER", "scopeId": null, "toolName": "search"}'


@pytest.mark.parametrize(
    "arguments",
    [
        {"password": "hunter2-and-more"},
        {"url": "https://alice:hunter2-and-more@example.com/"},
        {"headers": {"Authorization": "Bearer hunter2-and-more-of-it"}},
        {"text": "-----BEGIN PRIVATE KEY-----\nhunter2/and+more\n-----END PRIVATE KEY-----\n"},
        {"text": 'it said {"api_key": "hunter2-and-more-of-it"}'},
        ["x" * (MAX_OBSERVATION - 30), "password=hunter2-and-more"],
    ],
)
async def test_no_secret_is_written_down(arguments: Any) -> None:
    assert "hunter2" not in await _written(arguments)


@pytest.mark.parametrize(
    "arguments",
    ["x" * 100_000, {"a": ["y"] * 10_000}, "\ud800\u202e", {"a": object()}, None, float("nan")],
    ids=["long", "many", "no Unicode", "no JSON", "nothing", "no number"],
)
async def test_whatever_a_model_writes_fits_into_the_record(arguments: Any) -> None:
    text = await _written(arguments)
    assert len(text) <= MAX_OBSERVATION
    assert text.isprintable()


@pytest.mark.parametrize("call_id", ["", "x" * 300, "a\u202eb", "a\nb"])
async def test_a_call_whose_id_can_be_none_is_written_under_another_always_the_same(call_id: str) -> None:
    sender = Kept()
    await _audit(sender).started(_call(call_id=call_id))
    await _audit(sender).started(_call(call_id=call_id))
    first, again = sender.of_kind("toolCall")
    assert first.call_id == again.call_id
    assert first.call_id.startswith("call-")


async def test_what_cannot_be_written_is_told_to_whoever_asked() -> None:
    sender = Kept()
    sender.away = True
    with pytest.raises(TransientError):
        await _audit(sender).started(_call())

"""Each way in which a model can fail is one named end, after exactly one request, and tells nothing of its text."""

import json
from dataclasses import replace
from typing import Any

import pytest

from agrajag.harness import StopKind, StopReason, run_agent
from tests.harness.replies import Body, Cut, Message, Reply, Status, calls, text, use
from tests.harness.runs import TASK, Looking, Recorded, access, connected, context, run
from tests.harness.scripted_model import ScriptedModel

STATUSES = [
    (400, StopReason.REQUEST_REJECTED),
    (401, StopReason.ACCESS_DENIED),
    (402, StopReason.ACCESS_DENIED),
    (403, StopReason.ACCESS_DENIED),
    (404, StopReason.REQUEST_REJECTED),
    (408, StopReason.MODEL_TIMEOUT),
    (409, StopReason.SERVER_ERROR),
    (413, StopReason.REQUEST_REJECTED),
    (422, StopReason.REQUEST_REJECTED),
    (429, StopReason.RATE_LIMITED),
    (500, StopReason.SERVER_ERROR),
    (502, StopReason.SERVER_ERROR),
    (503, StopReason.OVERLOADED),
    (504, StopReason.MODEL_TIMEOUT),
    (529, StopReason.OVERLOADED),
]


@pytest.mark.parametrize(("code", "stop"), STATUSES)
async def test_a_refused_request_is_not_sent_again(code: int, stop: StopReason) -> None:
    headers = {"x-should-retry": "true", "retry-after-ms": "1"}
    async with ScriptedModel([Status(code, headers=headers), text("done")]) as server:
        result = await run(server)
    assert (result.stop, result.http_status, len(server.requests)) == (stop, code, 1)
    assert result.request_id == "req_scripted"
    assert "SECRET" not in repr(result)


@pytest.mark.parametrize("kind", ["thread_unsupported_request", "thread_not_found", "overloaded_error"])
async def test_the_sdk_does_not_repeat_a_second_round_behind_our_back(kind: str) -> None:
    async with ScriptedModel([calls(use("a")), Status(400, kind), text("done")]) as server:
        result = await run(server)
    assert (result.stop, len(server.requests)) == (StopReason.REQUEST_REJECTED, 2)


async def test_a_rate_limit_says_when_to_come_back() -> None:
    async with ScriptedModel([Status(429, headers={"retry-after": "17"})]) as server:
        result = await run(server)
    assert (result.stop.kind, result.retry_after_seconds) == (StopKind.TRANSIENT, 17.0)


@pytest.mark.parametrize("sent_bytes", [0, 40, 150, 5_000])
async def test_an_answer_that_is_cut_is_a_lost_connection(sent_bytes: int) -> None:
    async with ScriptedModel([Cut(sent_bytes), text("done")]) as server:
        result = await run(server)
    assert (result.stop, len(server.requests)) == (StopReason.CONNECTION_LOST, 1)


async def test_a_model_that_is_not_there_is_a_lost_connection() -> None:
    async with ScriptedModel([]) as server:
        url = server.url
    async with connected(url) as model:
        result = await run_agent(model, context(), TASK, [Looking().tool()], Recorded())
    assert (result.stop, result.stop.kind) == (StopReason.CONNECTION_LOST, StopKind.TRANSIENT)


def message(**changes: Any) -> Body:
    """A reply of which something is not as the API describes it; None leaves the field out."""
    usual: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "done"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    } | changes
    return Body(json.dumps({name: value for name, value in usual.items() if value is not None}).encode())


def nested(depth: int) -> Any:
    found: Any = "x"
    for _ in range(depth):
        found = [found]
    return found


MALFORMED: dict[str, Reply] = {
    "empty": Body(b""),
    "no JSON": Body(b"<html>maintenance</html>"),
    "a page": Body(b"<html>maintenance</html>", {"content-type": "text/html"}),
    "no object": Body(b'"done"'),
    "null": Body(b"null"),
    "a list": Body(b"[1]"),
    "half of it": Body(b'{"id": "msg_1", "type": "message", "content": ['),
    "no UTF-8": Body(b'{"content": "\xff"}'),
    "half a character": message(content=[{"type": "text", "text": "\ud800"}]),
    "too deep to repeat": message(content=[{**use("a"), "input": nested(500)}], stop_reason="tool_use"),
    "deeper than any stack": Body(b"[" * 100_000),
    "a number of 5,000 digits": Body(b'{"usage": ' + b"9" * 5_000 + b"}"),
    "no content": message(content=None),
    "content as text": message(content="done"),
    "content of numbers": message(content=[1, 2]),
    "content without types": message(content=[{"text": "done"}]),
    "text as a number": message(content=[{"type": "text", "text": 5}]),
    "another role": message(role="user"),
    "a call without an id": message(content=[{"type": "tool_use", "name": "look", "input": {}}]),
    "a call with an empty id": message(content=[use("")], stop_reason="tool_use"),
    "a call with a long id": message(content=[use("x" * 257)], stop_reason="tool_use"),
    "a call with an unseen id": message(content=[use("a\u202eb")], stop_reason="tool_use"),
    "a call without a name": message(content=[{"type": "tool_use", "id": "a", "input": {}}]),
    "a block that nobody asked for": message(content=[{**use("a"), "type": "server_tool_use"}]),
    "a thought of another kind": message(content=[{"type": "thinking", "thinking": 5, "signature": "s"}]),
    "an unknown stop": message(stop_reason="tea_break"),
    "no stop": message(stop_reason=None),
    "an end that asks for tools": message(content=[use("a")]),
    "a call for tools without one": message(stop_reason="tool_use"),
    "compressed": Body(b"\x1f\x8b", {"content-type": "application/json", "content-encoding": "gzip"}),
    "a reply of another status": replace(message(), code=201),
    "a call of another status": replace(message(content=[use("a")], stop_reason="tool_use"), code=206),
    "no content at all": Body(b"", code=204),
    "moved elsewhere": Status(302, headers={"location": "http://127.0.0.1:1/"}),
}


@pytest.mark.parametrize("reply", MALFORMED.values(), ids=MALFORMED)
async def test_what_is_no_reply_is_malformed_and_runs_no_tool(reply: Reply) -> None:
    looking = Looking()
    async with ScriptedModel([reply, text("done")]) as server:
        result = await run(server, looking.tool())
    assert (result.stop, result.texts, looking.calls) == (StopReason.MALFORMED_REPLY, (), [])
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reason", "stop"),
    [("refusal", StopReason.REFUSED), ("model_context_window_exceeded", StopReason.TRUNCATED)],
)
async def test_a_reply_that_ends_otherwise_gives_no_answer_and_runs_no_tool(
    reason: str, stop: StopReason
) -> None:
    looking = Looking()
    script = [Message([{"type": "text", "text": "No."}, use("a")], stop_reason=reason), text("done")]
    async with ScriptedModel(script) as server:
        result = await run(server, looking.tool())
    assert (result.stop, result.stop.kind, result.texts) == (stop, StopKind.PERMANENT, ())
    assert (len(server.requests), looking.calls) == (1, [])


async def test_an_answer_without_text_is_an_answer() -> None:
    async with ScriptedModel([Message([])]) as server:
        result = await run(server)
    assert (result.stop, result.texts) == (StopReason.COMPLETED, ())


@pytest.mark.parametrize(
    "usage", ["lots", 5, {"input_tokens": "many", "output_tokens": -3}, {"input_tokens": True}]
)
async def test_a_usage_that_is_none_counts_nothing(usage: Any) -> None:
    async with ScriptedModel([text("done", usage=usage)]) as server:
        result = await run(server)
    assert (result.stop, result.usage.total, result.usage_complete) == (StopReason.COMPLETED, 0, False)


async def test_arguments_that_are_no_object_are_left_to_the_rule_of_admission() -> None:
    looking = Looking()
    inputs = ('{"place": "x"}', None, [1])
    blocks = [{**use(f"call-{number}"), "input": given} for number, given in enumerate(inputs)]
    async with ScriptedModel([calls(*blocks), text("done")]) as server:
        await run(server, looking.tool())
    assert [call.arguments for call in looking.calls] == ['{"place": "x"}', None, [1]]
    assert all(block["input"] == {} for block in server.requests[1].body["messages"][1]["content"])


def test_every_end_has_a_kind() -> None:
    assert {stop.kind for stop in StopReason} == set(StopKind)


def test_the_key_is_not_in_the_text_of_an_access() -> None:
    assert "sk-test" not in repr(access("http://127.0.0.1:1"))

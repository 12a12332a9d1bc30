"""Whatever an MCP server answers is an outcome."""

import asyncio
from typing import Any

import anyio
import orjson
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, jsonrpc_message_adapter

from agrajag.core.targets import McpCall
from agrajag.diagnosis.adapter import MAX_BODY_BYTES, RawOutcome
from agrajag.diagnosis.mcp_bounds import BoundedMessages, Sent, Streams
from agrajag.diagnosis.mcp_exchange import Exchange

WELCOME = {"supportedVersions": ["2026-07-28"], "capabilities": {}, "resultType": "complete", "ttlMs": 0}
WELCOME |= {"cacheScope": "public"}
OLDER_WELCOME = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "serverInfo": {"name": "s", "version": "1"},
}
TOOL = {"name": "search", "inputSchema": {"type": "object"}}
LISTED = {"tools": [TOOL], "resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
CALLED = {"content": [{"type": "text", "text": "tea"}], "resultType": "complete"}
NAMES = st.sampled_from(
    [
        "tools",
        "name",
        "inputSchema",
        "outputSchema",
        "nextCursor",
        "content",
        "isError",
        "structuredContent",
        "type",
        "text",
        "resultType",
        "protocolVersion",
        "supportedVersions",
        "capabilities",
        "_meta",
        "x-mcp-header",
        "code",
        "message",
        "data",
        "properties",
        "annotations",
        "readOnlyHint",
        "inputRequests",
        "ttlMs",
    ]
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
)
VALUES = st.recursive(
    LEAVES
    | st.sampled_from(["text", "complete", "input_required", "object", "search", "2025-11-25", "2026-07-28"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=15,
)
CHANGES = st.dictionaries(NAMES, VALUES, max_size=2)
RESULTS = (
    st.builds(
        lambda result, changes: result | changes,
        st.sampled_from([WELCOME, OLDER_WELCOME, LISTED, CALLED]),
        CHANGES,
    )
    | st.builds(lambda changes: LISTED | {"tools": [TOOL | changes]}, CHANGES)
    | st.dictionaries(NAMES, VALUES, max_size=5)
)
ERRORS = (
    st.fixed_dictionaries({"code": st.integers(-33_000, 33_000), "message": st.text(max_size=20)}) | VALUES
)
ANSWERS = st.builds(lambda result: {"result": result}, RESULTS) | st.builds(
    lambda error: {"error": error}, ERRORS
)


async def exchanged(answers: list[dict[str, Any]]) -> RawOutcome:
    """What comes of a server that gives these answers in turn, and then none."""
    to_us, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, asked = anyio.create_memory_object_stream[SessionMessage](0)
    script = iter(answers)

    async def serve() -> None:
        async for message in asked:
            if not isinstance(message.message, JSONRPCRequest):
                continue
            answer = next(script, None)
            if answer is None:
                await to_us.aclose()
                continue
            line = orjson.dumps({"jsonrpc": "2.0", "id": message.message.id} | answer)
            try:
                await to_us.send(SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False)))
            except ValueError as unreadable:
                await to_us.send(unreadable)
                await to_us.aclose()

    async with to_us, received, sent, asked:
        serving = asyncio.create_task(serve())
        try:
            exchange = Exchange(McpCall("search", call_tool=True), {"q": "tea"}, "probe-1", 5.0)
            return await exchange.held_over(Streams(BoundedMessages(received), Sent(sent)))
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)


@given(st.integers(0, 2), st.lists(ANSWERS, min_size=1, max_size=2))
def test_whatever_a_server_answers_is_an_outcome(healthy: int, hostile: list[dict[str, Any]]) -> None:
    in_order = [{"result": result} for result in (WELCOME, LISTED, CALLED)]
    outcome = asyncio.run(exchanged([*in_order[:healthy], *hostile, *in_order[healthy + 1 :]]))
    assert outcome.ok or outcome.exception_type is not None
    assert len(outcome.body) <= MAX_BODY_BYTES


@given(VALUES)
def test_a_tool_works_unless_its_result_says_that_it_is_an_error(structured: Any) -> None:
    called = CALLED | {"structuredContent": structured}
    begun: list[dict[str, Any]] = [{"result": WELCOME}, {"result": LISTED}]
    outcome = asyncio.run(exchanged([*begun, {"result": called | {"isError": True}}]))
    assert (outcome.ok, outcome.exception_type) == (False, "ToolException")
    assert asyncio.run(exchanged([*begun, {"result": called}])).ok

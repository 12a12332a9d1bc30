"""MCP servers at an address: what they answer, how they fail, and that each failure has a name and an end."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from agrajag.core.targets import CredentialRef, Credentials, McpCall, SecretStore, Target
from agrajag.diagnosis.adapter import RawOutcome, Secret
from agrajag.diagnosis.mcp_exchange import MAX_PAGES
from agrajag.diagnosis.mcp_target import McpAdapter
from agrajag.diagnosis.network import Network
from agrajag.diagnosis.probe import ProbeRefusal
from tests.diagnosis.carrying import LOOPBACK, REQUEST
from tests.diagnosis.mcp_servers import Answer, Between, Seen, hang, paged, pouring, serving, status, tools

IN_TIME = 20.0
TOO_LONG = 1.0


async def probed(
    url: str,
    tool: str = "search",
    *,
    call_tool: bool = True,
    seconds: float = IN_TIME,
    credential: Secret | None = None,
) -> RawOutcome:
    credentials = Credentials(user=CredentialRef(SecretStore.USER_VAULT, "search"))
    target = Target("search", "tools.yaml", McpCall(tool, url, call_tool=call_tool), credentials=credentials)
    outcome = await McpAdapter(LOOPBACK).call(target, credential, {"q": "tea"}, REQUEST, seconds)
    assert isinstance(outcome, RawOutcome)
    return outcome


def instead_of(method: str, answer: Answer) -> Callable[[Seen], Answer | None]:
    """`answer` for JSON-RPC requests of this method."""
    return lambda seen: answer if seen.asks(method) else None


def older(answers: Callable[[Seen], Answer | None]) -> Callable[[Seen], Answer | None]:
    """A server that does not know `server/discover`, and otherwise `answers`."""
    return lambda seen: status(400) if seen.asks("server/discover") else answers(seen)


async def behind(instead: Callable[[Seen], Answer | None], **how: Any) -> tuple[RawOutcome, Between]:
    """What a probe of a server shows where somebody stands before it."""
    between = Between(tools().streamable_http_app(), instead)
    async with serving(between) as url:
        return await probed(f"{url}/mcp", **how), between


@pytest.mark.parametrize("stateless", [True, False])
@pytest.mark.parametrize("json_response", [True, False])
async def test_a_healthy_server_is_asked_and_its_answer_kept(stateless: bool, json_response: bool) -> None:
    server = tools().streamable_http_app(stateless_http=stateless, json_response=json_response)
    async with serving(server) as url:
        outcome = await probed(f"{url}/mcp")
    assert (outcome.ok, outcome.status, outcome.body) == (True, 200, b"nothing about tea")


async def test_an_older_server_is_spoken_to_by_handshake_and_its_session_ended() -> None:
    outcome, between = await behind(older(lambda _seen: None))
    assert outcome.body == b"nothing about tea"
    ended = [seen.headers["mcp-session-id"] for seen in between.seen if seen.method == "DELETE"]
    assert len(ended) == 1


async def test_a_server_that_leaves_discovery_unanswered_is_an_older_one() -> None:
    outcome, _ = await behind(instead_of("server/discover", hang), seconds=6.0)
    assert outcome.body == b"nothing about tea"


async def test_a_probe_is_marked_as_one_and_sends_the_credential_as_a_header() -> None:
    _, between = await behind(lambda _seen: None, credential=Secret("token-of-zaphod"))
    assert {seen.headers["agrajag-probe"] for seen in between.seen} == {"probe-1"}
    assert {seen.headers["authorization"] for seen in between.seen} == {"Bearer token-of-zaphod"}
    (called,) = [seen for seen in between.seen if seen.asks("tools/call")]
    assert b'"Agrajag-Probe":"probe-1"' in called.body


async def test_a_tool_is_only_called_where_the_operator_says_so_whatever_the_server_claims() -> None:
    outcome, between = await behind(lambda _seen: None, call_tool=False)
    assert outcome.ok
    assert outcome.body == b"listed: search: Searches the guide."
    assert not [seen for seen in between.seen if seen.asks("tools/call")]


async def test_a_tool_that_is_not_there_is_named() -> None:
    outcome, _ = await behind(lambda _seen: None, tool="deep_thought")
    assert (outcome.ok, outcome.exception_type, outcome.status) == (False, "McpToolMissing", None)


async def test_a_list_without_end_is_read_up_to_a_number_of_pages() -> None:
    endless = Between(paged())
    async with serving(endless) as url:
        outcome = await probed(f"{url}/mcp")
    assert outcome.exception_type == "McpListTooLong"
    assert len([seen for seen in endless.seen if seen.asks("tools/list")]) == MAX_PAGES + 1


async def test_a_tool_that_is_on_a_later_page_is_found() -> None:
    async with serving(paged()) as url:
        outcome = await probed(f"{url}/mcp", "tool-7", call_tool=False)
    assert outcome.ok


async def test_a_result_that_is_an_error_fails_with_its_text_for_the_rules() -> None:
    outcome, _ = await behind(lambda _seen: None, tool="broken")
    assert (outcome.ok, outcome.exception_type) == (False, "ToolException")
    assert b"502 Bad Gateway" in outcome.body
    assert outcome.status is None, "the 200 is that of the messenger"


async def test_a_result_without_its_declared_structure_violates_the_schema() -> None:
    unstructured = b'{"jsonrpc":"2.0","id":3,"result":{"content":[],"resultType":"complete"}}'
    outcome, _ = await behind(
        instead_of("tools/call", status(200, unstructured, content_type="application/json"))
    )
    assert outcome.exception_type == "McpSchemaViolation"
    assert b"__schema_violation__" in outcome.body


async def test_an_error_of_the_protocol_keeps_its_code() -> None:
    refusal = b'{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"q is too short"}}'
    outcome, _ = await behind(instead_of("tools/call", status(200, refusal, content_type="application/json")))
    assert (outcome.ok, outcome.error_code, outcome.status) == (False, "-32602", None)
    assert outcome.exception_type == "mcp.shared.exceptions.MCPError"
    assert b"q is too short" in outcome.body


async def test_an_answer_that_is_none_is_named() -> None:
    answer = b'{"jsonrpc":"2.0","id":3,"result":{"content":"tea"}}'
    outcome, _ = await behind(instead_of("tools/call", status(200, answer, content_type="application/json")))
    assert (outcome.ok, outcome.exception_type) == (False, "McpAnswerInvalid")


@pytest.mark.parametrize("code", [401, 403, 429, 500, 503])
async def test_a_refusal_by_http_keeps_status_headers_and_body(code: int) -> None:
    refuse = status(code, b"no towel", retry_after="42", content_type="text/plain")
    outcome, _ = await behind(lambda _seen: refuse)
    assert (outcome.ok, outcome.status, outcome.body) == (False, code, b"no towel")
    assert outcome.headers["retry-after"] == "42"


async def test_a_refusal_that_never_ends_keeps_its_status_and_a_bounded_body() -> None:
    async def half(_seen: Seen, send: Any) -> None:
        await send({"type": "http.response.start", "status": 503, "headers": []})
        await send({"type": "http.response.body", "body": b"b" * 40_000, "more_body": True})
        await asyncio.Event().wait()

    outcome, _ = await behind(lambda _seen: half, seconds=TOO_LONG)
    assert (outcome.status, len(outcome.body)) == (503, 16_384)


async def test_a_session_that_the_server_has_lost_is_told_from_a_tool_that_is_not_found() -> None:
    outcome, _ = await behind(older(instead_of("tools/list", status(404, b"no such session"))))
    assert (outcome.ok, outcome.status, outcome.exception_type) == (False, 404, "McpSessionLost")


async def test_an_address_without_a_server_of_mcp_is_a_404() -> None:
    async with serving(tools().streamable_http_app()) as url:
        outcome = await probed(f"{url}/elsewhere")
    assert (outcome.ok, outcome.status, outcome.exception_type) == (False, 404, None)


async def test_a_refused_connection_is_named_as_the_rules_know_it() -> None:
    async with serving(tools().streamable_http_app()) as url:
        pass
    outcome = await probed(f"{url}/mcp")
    assert (outcome.ok, outcome.exception_type) == (False, "httpx2.ConnectError")


@pytest.mark.parametrize("method", ["initialize", "tools/list", "tools/call"])
async def test_a_server_that_falls_silent_has_timed_out_and_is_told_where(method: str) -> None:
    outcome, _ = await behind(older(instead_of(method, hang)), seconds=TOO_LONG)
    assert (outcome.ok, outcome.exception_type) == (False, "TimeoutError")
    assert method in (outcome.message or "")


async def test_a_server_that_is_stuck_in_the_handshake_costs_no_more_than_the_deadline() -> None:
    began = asyncio.get_running_loop().time()
    outcome, _ = await behind(older(instead_of("notifications/initialized", hang)), seconds=TOO_LONG)
    assert outcome.exception_type == "TimeoutError"
    assert asyncio.get_running_loop().time() - began < TOO_LONG + 3


@pytest.mark.parametrize("answer", [hang, pouring(b"x" * 1_000)])
async def test_a_session_that_cannot_be_ended_costs_little_and_changes_nothing(answer: Answer) -> None:
    began = asyncio.get_running_loop().time()
    outcome, _ = await behind(older(lambda seen: answer if seen.method == "DELETE" else None))
    assert outcome.ok
    assert asyncio.get_running_loop().time() - began < IN_TIME / 2


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (pouring(b" " * 65_536, content_type="application/json"), "McpTooMuchSaid"),
        (pouring(b": " + b" " * 65_536 + b"\n", content_type="text/event-stream"), "McpTooMuchSaid"),
        (pouring(b"data: " + b"x" * 65_536, content_type="text/event-stream"), "mcp"),
        (
            pouring(b'data: {"jsonrpc":"2.0","method":"x"}\n\n', content_type="text/event-stream"),
            "McpTooManyMessages",
        ),
        (
            pouring(b"\0" * 1_000, content_type="application/json", content_encoding="gzip"),
            "McpAnswerCompressed",
        ),
    ],
)
async def test_a_server_is_not_heard_beyond_a_bound(answer: Answer, name: str) -> None:
    outcome, _ = await behind(instead_of("tools/call", answer))
    assert not outcome.ok
    assert (outcome.exception_type or "").startswith(name)


async def test_an_address_that_may_not_be_called_is_refused_before_anything_is_sent() -> None:
    between = Between(tools().streamable_http_app())
    async with serving(between) as url:
        target = Target("search", "tools.yaml", McpCall("search", f"{url}/mcp"))
        refused = await McpAdapter(Network()).call(target, None, {}, REQUEST, IN_TIME)
    assert refused is ProbeRefusal.ADDRESS_REFUSED
    assert between.seen == []


async def test_a_resolver_that_is_away_says_nothing_about_the_tool() -> None:
    async def away(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    target = Target("search", "tools.yaml", McpCall("search", "http://mcp.example.com/mcp"))
    found = await McpAdapter(Network(resolve=away)).call(target, None, {}, REQUEST, IN_TIME)
    assert found is ProbeRefusal.NO_NETWORK


async def test_a_credential_that_cannot_be_a_header_is_not_sent() -> None:
    between = Between(tools().streamable_http_app())
    async with serving(between) as url:
        target = Target("search", "tools.yaml", McpCall("search", f"{url}/mcp"))
        refused = await McpAdapter(LOOPBACK).call(target, Secret("two\nlines"), {}, REQUEST, IN_TIME)
    assert refused is ProbeRefusal.CREDENTIAL_MISSING
    assert between.seen == []


@pytest.mark.parametrize(
    "location", ["http://169.254.169.254/latest", "http://127.0.0.2:1/mcp", "http://[::1/mcp"]
)
async def test_a_redirect_to_another_host_is_not_followed(location: str) -> None:
    outcome, _ = await behind(lambda _seen: status(307, location=location))
    assert (outcome.ok, outcome.status) == (False, 307)


async def test_a_late_answer_to_what_was_given_up_says_nothing() -> None:
    given_up = asyncio.Event()

    async def late(seen: Seen, send: Any) -> None:
        await given_up.wait()
        await status(504)(seen, send)

    def instead(seen: Seen) -> Answer | None:
        if seen.asks("tools/call"):
            given_up.set()
            return hang
        return late if seen.asks("server/discover") else None

    outcome, _ = await behind(instead, seconds=3.0)
    assert (outcome.status, outcome.exception_type) == (None, "TimeoutError")


async def test_a_cancelled_probe_leaves_no_task_behind() -> None:
    reached = asyncio.Event()
    welcome = (
        b'{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25","capabilities":{},'
        b'"serverInfo":{"name":"s","version":"1"}}}'
    )

    def instead(seen: Seen) -> Answer:
        if seen.asks("initialize"):
            return status(200, welcome, content_type="application/json", mcp_session_id="s-1")
        if seen.asks("notifications/initialized"):
            return status(202)
        if seen.asks("tools/list"):
            reached.set()
        return status(400) if seen.asks("server/discover") else hang

    async with serving(Between(tools().streamable_http_app(), instead)) as url:
        before = asyncio.all_tasks()
        probing = asyncio.create_task(probed(f"{url}/mcp"))
        await asyncio.wait_for(reached.wait(), IN_TIME)
        probing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await probing
        assert [task for task in asyncio.all_tasks() - before if "uvicorn" not in repr(task)] == []

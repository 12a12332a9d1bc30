"""A real MCP server whose tools fail in eight ways, and a real client of it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent

from agrajag.client.adapters.mcp import AttendedSession
from agrajag.client.outbox import Limits
from agrajag.client.reporter import ToolErrorReporter
from agrajag.documents.pack_files import packed_rules
from agrajag.embedded import EmbeddedKafka
from agrajag.model.enums import Classification, Status, Transport
from agrajag.model.health import VerdictFacet
from tests.builders import a_health
from tests.client.attending import Surroundings, unheard
from tests.client.reporting import Place
from tests.diagnosis.mcp_servers import Answer, Between, Seen, hang, serving, status


def _server() -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("sirius", log_level="CRITICAL")

    @server.tool()
    def works(q: str) -> str:
        """Answers."""
        return f"nothing about {q}"

    @server.tool()
    def says_so() -> CallToolResult:
        """Returns an error."""
        return CallToolResult(
            content=[TextContent(type="text", text="upstream said 502 Bad Gateway")], is_error=True
        )

    @server.tool()
    def raises() -> str:
        """Raises."""
        raise ToolError("the token of alice has expired: expired_token")

    @server.tool()
    def refuses() -> str:
        """Answers by an error of the protocol."""
        raise MCPError(-32000, "too many requests", {"retryAfter": 5})

    for name in ("hangs", "is_away", "forbids", "is_garbled"):
        server.add_tool(lambda: "never", name=name, description="Never answers by itself.")
    return server


def _instead(seen: Seen) -> Answer | None:
    if not seen.asks("tools/call"):
        return None
    answers = {
        b'"hangs"': hang,
        b'"is_away"': status(503, b"maintenance", retry_after="120"),
        b'"forbids"': status(
            401, b'{"error": "invalid_token"}', www_authenticate="Bearer", set_cookie="sid=s3cr3t"
        ),
        b'"is_garbled"': status(200, b"<html>", content_type="application/json"),
    }
    return next((answer for name, answer in answers.items() if name in seen.body), None)


@asynccontextmanager
async def _connected() -> AsyncIterator[Client]:
    app = Between(_server().streamable_http_app(stateless_http=True), _instead)
    async with serving(app) as url, Client(f"{url}/mcp", raise_exceptions=True) as client:
        yield client


async def test_each_of_eight_ways_to_fail_is_reported_as_what_it_is(
    kafka: EmbeddedKafka, topic_prefix: str
) -> None:
    place = await Place.made(kafka, topic_prefix)
    limits = Limits(window_seconds=60)
    async with (
        ToolErrorReporter(place.connection, place.topics, tenant_id="acme", limits=limits) as reporter,
        _connected() as client,
    ):
        session = AttendedSession(
            client, Surroundings(rules=packed_rules()).attendant(reporter), prefix="sirius_", user="alice"
        )
        assert (await session.call_tool("works", {"q": "towels"})).content[0].text == "nothing about towels"
        for name in ("says_so", "raises", "works"):
            assert (await session.call_tool(name)).is_error
        for name in ("refuses", "is_away", "forbids", "is_garbled"):
            with pytest.raises(Exception) as raised:  # noqa: PT011 - whatever the client makes of it
                await session.call_tool(name)
            assert not isinstance(raised.value, AssertionError)
        with pytest.raises(MCPError):
            await session.call_tool("hangs", {}, read_timeout_seconds=0.2)
    errors = await place.errors()
    assert {(event.user_id, event.transport) for event in errors} == {("alice", Transport.MCP)}
    guard = Surroundings(rules=packed_rules()).guard()
    told = {
        event.tool_name.removeprefix("sirius_"): (
            (event.error.exception_type or "").rpartition(".")[2],
            event.error.error_code,
            guard.check(event).classification,
        )
        for event in errors
    }
    assert told == {
        "says_so": ("ToolException", None, Classification.UNCLEAR),
        "raises": ("ToolException", None, Classification.USER_SPECIFIC_TECHNICAL),
        "works": ("ToolException", None, Classification.USER_INPUT),
        "refuses": ("MCPError", "-32000", Classification.INTERMITTENT),
        "is_away": ("MCPError", "-32603", Classification.UNCLEAR),
        "forbids": ("MCPError", "-32603", Classification.UNCLEAR),
        "is_garbled": ("MCPError", "-32700", Classification.TECHNICALLY_BROKEN),
        "hangs": ("MCPError", "-32001", Classification.UNCLEAR),
    }
    (timeout,) = (event for event in errors if event.tool_name == "sirius_hangs")
    assert timeout.error.exception_chain == ("TimeoutError",)
    assert all("s3cr3t" not in event.to_json().decode() for event in errors)


@pytest.fixture
def reporter() -> Iterator[ToolErrorReporter]:
    reporter = unheard()
    reporter.start()
    yield reporter
    reporter.close(0.01)


async def test_a_dead_tool_is_not_called_again_and_its_result_says_why(reporter: ToolErrorReporter) -> None:
    calls = []
    server: MCPServer[Any] = MCPServer("sirius", log_level="CRITICAL")

    @server.tool()
    def search() -> str:
        """Searches."""
        calls.append(1)
        raise ToolError("connect ECONNREFUSED 10.0.0.7:5432")

    async with Client(server) as client:
        session = AttendedSession(client, Surroundings(rules=packed_rules()).attendant(reporter))
        first, second = [await session.call_tool("search") for _ in range(2)]
    assert calls == [1]
    assert first.content[0].text.endswith("connect ECONNREFUSED 10.0.0.7:5432")
    assert second.is_error
    assert second.content[0].text.startswith("search was not called: the backend is unavailable")


async def test_the_list_of_tools_says_which_are_not_well_and_all_else_is_the_sessions_own(
    reporter: ToolErrorReporter,
) -> None:
    now = datetime.now(UTC)
    verdict = VerdictFacet(
        status=Status.DOWN,
        since=now,
        evidence_at=now,
        classification=Classification.TECHNICALLY_BROKEN,
        note="moved",
    )
    known = Surroundings(a_health(tenant_id="acme", tool_name="sirius_works", verdict=verdict))
    async with Client(_server()) as client:
        session = AttendedSession(client, known.attendant(reporter), prefix="sirius_")
        described = {tool.name: tool.description or "" for tool in (await session.list_tools()).tools}
        assert session.protocol_version == client.protocol_version
    assert described["raises"] == "Raises."
    assert described["works"].startswith("Answers.\n\nWarning: currently unavailable, since ")
    assert described["works"].endswith(", moved")

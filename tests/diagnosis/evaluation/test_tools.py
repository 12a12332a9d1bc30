"""The tools of scenarios are real servers that do as they are told, to whom they are told."""

import asyncio
from typing import Any

import httpx2
import orjson
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from agrajag.diagnosis.evaluation.mcp_tool import McpTool
from agrajag.diagnosis.evaluation.running import EvaluationBounds
from agrajag.diagnosis.evaluation.scenario import ToolPart
from agrajag.diagnosis.evaluation.tool import ClosedPort, Credentials, HttpTool
from tests.diagnosis.evaluation.scenarios import a_scenario

SECRETS = Credentials(user="secret-of-alice", system="secret-of-all")
USER = {"authorization": "Bearer secret-of-alice"}
SYSTEM = {"x-api-key": "secret-of-all"}


def a_tool(**parts: Any) -> ToolPart:
    return ToolPart.model_validate_json(orjson.dumps(parts))


def http(**parts: Any) -> HttpTool:
    return HttpTool(a_tool(**parts), SECRETS)


async def test_each_identity_has_answers_of_its_own_and_the_last_one_stays() -> None:
    tool = http(
        user=[{"status": 401}, {"status": 200, "body": {"well": True}}],
        system=[{"status": 503, "headers": {"Retry-After": "9"}, "body": "<p>later"}],
    )

    async with tool.serve() as server, httpx2.AsyncClient(base_url=f"http://{server.address}") as client:
        as_user = [await client.get("/search", headers=USER) for _ in range(3)]
        as_system = await client.get("/search", headers=SYSTEM)
        as_nobody = await client.get("/search")

    assert [response.status_code for response in as_user] == [401, 200, 200]
    assert as_user[2].json() == {"well": True}
    assert (as_system.status_code, as_system.headers["retry-after"], as_system.text) == (503, "9", "<p>later")
    assert as_system.headers["content-type"].startswith("text/html")
    assert as_nobody.status_code == 401


async def test_whoever_has_no_answers_of_their_own_is_anyone() -> None:
    async with (
        http(user=[{"status": 500}], anyone=[{"status": 204}]).serve() as server,
        httpx2.AsyncClient(base_url=f"http://{server.address}") as client,
    ):
        assert (await client.get("/", headers=SYSTEM)).status_code == 204
        assert (await client.get("/", headers=USER)).status_code == 500


@pytest.mark.parametrize(
    ("instead", "error"),
    [
        ("hang", httpx2.ReadTimeout),
        ("reset", httpx2.RemoteProtocolError),
        ("cut", httpx2.RemoteProtocolError),
    ],
)
async def test_a_tool_may_fail_to_answer(instead: str, error: type[Exception]) -> None:
    async with (
        http(anyone=[{"instead": instead}]).serve() as server,
        httpx2.AsyncClient(base_url=f"http://{server.address}", timeout=0.2) as client,
    ):
        with pytest.raises(error):
            await client.get("/")


async def test_a_flood_ends_with_its_reader() -> None:
    async with (
        http(anyone=[{"instead": "flood"}]).serve() as server,
        httpx2.AsyncClient(base_url=f"http://{server.address}") as client,
        client.stream("GET", "/") as response,
    ):
        assert response.status_code == 200
        async for chunk in response.aiter_raw():
            assert set(chunk) == {ord(" ")}
            break


async def test_a_port_may_be_closed_and_a_tool_may_speak_no_tls() -> None:
    async with (
        ClosedPort() as nobody,
        http(anyone=[{"status": 200}]).serve() as server,
        httpx2.AsyncClient(timeout=20) as client,
    ):
        with pytest.raises(httpx2.ConnectError):
            await client.get(f"http://{nobody.address}/")
        with pytest.raises((httpx2.ConnectError, httpx2.RemoteProtocolError)):
            await client.get(f"https://{server.address}/")


def test_only_a_tool_that_hangs_is_given_little_time() -> None:
    bounds = EvaluationBounds(hang_seconds=1, probe_seconds=20)
    hanging = a_scenario(server={"user": [{"instead": "hang"}], "anyone": [{"status": 500}]})

    assert bounds.probe(hanging) == 1
    assert bounds.probe(a_scenario()) == bounds.probe(a_scenario(server=None, target=None)) == 20


async def test_an_answer_takes_its_time() -> None:
    async with (
        http(anyone=[{"status": 200, "afterSeconds": 0.1}]).serve() as server,
        httpx2.AsyncClient(base_url=f"http://{server.address}", timeout=5) as client,
    ):
        began = asyncio.get_running_loop().time()
        await client.get("/")

    assert asyncio.get_running_loop().time() - began >= 0.09


async def ask(server_address: str, headers: dict[str, str], mode: str) -> Any:
    """What one client hears: the error flag and the text of the tool `find`."""
    async with (
        httpx2.AsyncClient(headers=headers) as http_client,
        Client(
            streamable_http_client(f"http://{server_address}/mcp", http_client=http_client), mode=mode
        ) as client,
    ):
        listed = [tool.name for tool in (await client.list_tools()).tools]
        if "find" not in listed:
            return listed
        result = await client.call_tool("find", {"q": "ping"})
        (content,) = result.content
        assert isinstance(content, TextContent)
        return result.is_error, content.text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_an_mcp_tool_answers_each_identity_with_its_next_answer(mode: str) -> None:
    tool = a_tool(
        kind="mcp",
        user=[{"text": "no such board", "isError": True}, {"text": "two boards"}],
        anyone=[{"text": "nobody is known"}],
    )

    async with McpTool(tool, "find", SECRETS).serve() as server:
        heard = [await ask(server.address, USER, mode) for _ in range(3)]
        as_nobody = await ask(server.address, {}, mode)

    assert heard == [(True, "no such board"), (False, "two boards"), (False, "two boards")]
    assert as_nobody == (False, "nobody is known")


@pytest.mark.parametrize("at", ["handshake", "list", "call"])
async def test_an_mcp_server_may_misbehave_at_each_step(at: str) -> None:
    tool = a_tool(kind="mcp", user=[{"status": 404, "at": at}], anyone=[{"text": "found"}])

    async with McpTool(tool, "find", SECRETS).serve() as server:
        with pytest.raises((MCPError, ExceptionGroup)):
            await ask(server.address, USER, "legacy")
        assert await ask(server.address, SYSTEM, "legacy") == (False, "found")


async def test_an_mcp_server_may_list_other_tools() -> None:
    tool = a_tool(kind="mcp", lists=["seek"], anyone=[{"text": "found"}])

    async with McpTool(tool, "find", SECRETS).serve() as server:
        assert await ask(server.address, USER, "auto") == ["seek"]

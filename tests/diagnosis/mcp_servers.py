"""MCP servers on loopback, written with the SDK, and what may stand between them and a client."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ListToolsResult, PaginatedRequestParams, Tool, ToolAnnotations

from tests.waiting import eventually

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Answer: TypeAlias = Callable[["Seen", Send], Awaitable[None]]
"""Answers a request instead of the server."""


@dataclass(frozen=True)
class Seen:
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def asks(self, method: str) -> bool:
        """Whether it is a JSON-RPC request of this method."""
        return f'"method":"{method}"'.encode() in self.body.replace(b" ", b"")


@dataclass
class Between:
    """Passes requests on to `app`, unless `instead` has an answer of its own; remembers them all."""

    app: App
    instead: Callable[[Seen], Answer | None] = lambda _seen: None
    seen: list[Seen] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        messages = [await receive()]
        while messages[-1].get("more_body"):
            messages.append(await receive())
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        body = b"".join(message.get("body", b"") for message in messages)
        request = Seen(scope["method"], scope["path"], headers, body)
        self.seen.append(request)
        answer = self.instead(request)
        if answer is not None:
            await answer(request, send)
            return
        again = iter(messages)

        async def replayed() -> MutableMapping[str, Any]:
            return next(again, None) or await receive()

        await self.app(scope, replayed, send)


def status(code: int, body: bytes = b"", **headers: str) -> Answer:
    """An answer by HTTP alone."""

    async def answer(_seen: Seen, send: Send) -> None:
        named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": code, "headers": named})
        await send({"type": "http.response.body", "body": body})

    return answer


async def hang(_seen: Seen, _send: Send) -> None:
    """Never answers."""
    await asyncio.Event().wait()


def pouring(chunk: bytes, **headers: str) -> Answer:
    """An answer of such chunks without end."""

    async def answer(_seen: Seen, send: Send) -> None:
        named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": 200, "headers": named})
        while True:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await asyncio.sleep(0)

    return answer


def tools() -> MCPServer[Any]:
    """A server with tools that work, fail, and claim to be harmless."""
    server: MCPServer[Any] = MCPServer("sirius", log_level="CRITICAL")

    @server.tool(annotations=ToolAnnotations(read_only_hint=True, destructive_hint=False))
    def search(q: str) -> str:
        """Searches the guide."""
        return f"nothing about {q}"

    @server.tool()
    def broken() -> str:
        """Always fails."""
        raise ToolError("upstream said 502 Bad Gateway")

    return server


def paged() -> App:
    """A server whose list of tools has one tool per page, and no last page."""

    async def listed(_context: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
        number = int(params.cursor) if params is not None and params.cursor else 0
        tool = Tool(name=f"tool-{number}", input_schema={"type": "object"})
        return ListToolsResult(tools=[tool], next_cursor=str(number + 1))

    return Server("paged", on_list_tools=listed).streamable_http_app(stateless_http=True)


@asynccontextmanager
async def serving(app: App) -> AsyncIterator[str]:
    """The address of `app` on a free port of loopback, while it is served."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="critical", ws="none", timeout_graceful_shutdown=0)
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        await eventually(lambda: server.started)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        listening.close()

"""The tool of a scenario behind a real MCP server: the official SDK's, with a door in front that misbehaves.

The door lets a message through to the server, or answers it as the script says. A handshake begins a new call: what
comes after it belongs to the same answer, until the next handshake of the same caller.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx2
import orjson
from mcp.server.lowlevel import Server
from mcp_types import CallToolResult, ListToolsResult, TextContent
from mcp_types import Tool as ListedTool

from agrajag.diagnosis.evaluation.scenario import Answer, Step, ToolPart
from agrajag.diagnosis.evaluation.tool import Callers, Credentials, RunningTool, reply_of
from agrajag.diagnosis.loopback import LoopbackServer, Reply, Request, Whole
from agrajag.model.enums import ProbeIdentity

_STEPS: Mapping[str, Step] = {"tools/list": "list", "tools/call": "call"}
_NOT_ALLOWED = Whole(405, b"", {"allow": "POST"})
_HOP = frozenset({"host", "content-length", "connection", "transfer-encoding"})


class McpTool:
    """One MCP server with the scenario's tool."""

    def __init__(self, tool: ToolPart, tool_name: str, credentials: Credentials) -> None:
        self._tool = tool
        self._names = tool.lists or (tool_name,)
        self._callers = Callers(tool)
        self._credentials = credentials
        self._current: dict[ProbeIdentity | None, Answer] = {}
        self._in_handshake: set[ProbeIdentity | None] = set()
        self._client: httpx2.AsyncClient | None = None

    @asynccontextmanager
    async def _serving(self) -> AsyncIterator[RunningTool]:
        server: Server[Any] = Server("scripted", on_list_tools=self._listed, on_call_tool=self._called)
        app = server.streamable_http_app(json_response=True)
        async with (
            app.router.lifespan_context(app),
            LoopbackServer(self._answer) as door,
            httpx2.AsyncClient(
                transport=httpx2.ASGITransport(app), base_url=door.url, trust_env=False
            ) as client,
        ):
            self._client = client
            yield door

    def serve(self) -> AbstractAsyncContextManager[RunningTool]:
        """The server, running while it is entered."""
        return self._serving()

    async def _answer(self, request: Request) -> Reply:
        if request.method == "GET":  # a stream for what the server has to say by itself, which is nothing
            return _NOT_ALLOWED
        identity = self._credentials.identity(request.headers)
        step = _step_of(request)
        answer = self._turn(identity, step)
        if answer.text is None and (answer.at or "call") == step:
            return await reply_of(answer)
        if self._client is None:
            raise RuntimeError("the server does not run")
        headers = {name: value for name, value in request.headers.items() if name not in _HOP}
        response = await self._client.request(
            request.method, request.target, headers=headers, content=request.body
        )
        kept = {name: value for name, value in response.headers.items() if name not in _HOP}
        return Whole(response.status_code, response.content, kept)

    def _turn(self, identity: ProbeIdentity | None, step: Step) -> Answer:
        begins = step == "handshake" and identity not in self._in_handshake
        if step == "handshake":
            self._in_handshake.add(identity)
        else:
            self._in_handshake.discard(identity)
        if begins or identity not in self._current:
            self._current[identity] = self._callers.next_answer(identity)
        return self._current[identity]

    async def _listed(self, context: Any, params: Any) -> ListToolsResult:
        schema = {"type": "object"}
        return ListToolsResult(tools=[ListedTool(name=name, input_schema=schema) for name in self._names])

    async def _called(self, context: Any, params: Any) -> CallToolResult:
        answer = self._current[self._credentials.identity(dict(context.request.headers))]
        text = answer.text or ""
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=answer.is_error)


def _step_of(request: Request) -> Step:
    try:
        message = orjson.loads(request.body)
    except orjson.JSONDecodeError:
        message = None
    method = message.get("method") if isinstance(message, dict) else None
    return _STEPS.get(str(method), "handshake")

"""The tools of the demo that can be probed: on loopback, some of them broken on purpose.

They are declared as an operator would do it, and their credentials are kept where an operator would keep them.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx2
import orjson
from mcp.server.lowlevel import Server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

from agrajag.diagnosis.credentials import secret_path
from agrajag.diagnosis.loopback import LoopbackServer, Reply, Request, Whole

_TENANTS = ("magrathea", "milliways", "sirius")
_SYSTEM, _GOOD, _REVOKED = "booking-of-milliways", "booking-of-a-guest", "booking-of-a-guest-who-left"
_GUESTS = tuple(f"milliways-user-{number:03}" for number in range(18))
REVOKED_USERS = _GUESTS[:2]
"""Whose token `table_booking` refuses; those of the other guests work."""

_JSON = {"content-type": "application/json"}
_HOP = frozenset({"host", "content-length", "connection", "transfer-encoding"})


def declarations(address: str) -> Mapping[str, str]:
    """The text of `_vance/tools.yaml` for each tenant, where the tools are at `address`."""
    folder = resources.files("agrajag").joinpath("defaults/demo/tools")
    texts = {tenant: folder.joinpath(f"{tenant}.yaml").read_text("utf-8") for tenant in _TENANTS}
    return MappingProxyType({tenant: text.replace("$address", address) for tenant, text in texts.items()})


def write_credentials(secrets_dir: Path, vault_dir: Path) -> None:
    """Writes the credentials of the tools into the two directories that a diagnosis reads them from."""
    _write(secret_path(secrets_dir, "milliways", "booking"), _SYSTEM)
    _write(secret_path(secrets_dir, "magrathea", "render"), "render-of-magrathea")
    for guest in _GUESTS:
        token = _REVOKED if guest in REVOKED_USERS else _GOOD
        _write(secret_path(vault_dir, "milliways", guest, "booking"), token)


@asynccontextmanager
async def demo_tools() -> AsyncIterator[str]:
    """The address of all of them, while they are served; they bind to 127.0.0.1 alone."""
    server: Server[Any] = Server("sirius", on_list_tools=_listed, on_call_tool=_called)
    app = server.streamable_http_app(json_response=True)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1:1") as client,
    ):

        async def answer(request: Request) -> Reply:
            path = request.target.partition("?")[0]
            if path == "/mcp":
                return await _by_mcp(client, request)
            return _by_http(path, request.headers.get("authorization", ""))

        async with LoopbackServer(answer) as door:
            yield door.url


def _by_http(path: str, authorization: str) -> Whole:
    match path:
        case "/inventory":
            return _json(200, {"item": "towel", "left": 42})
        case "/render":
            return Whole(502, b"<html><h1>502 Bad Gateway</h1></html>", {"content-type": "text/html"})
        case "/booking" if authorization in (f"Bearer {_SYSTEM}", f"Bearer {_GOOD}"):
            return _json(200, {"table": 1, "free": True})
        case "/booking":
            return _json(401, {"error": {"code": "unauthorized", "message": "Unauthorized"}})
        case _:
            return _json(404, {"error": {"code": "not_found"}})


async def _by_mcp(client: httpx2.AsyncClient, request: Request) -> Whole:
    if request.method == "GET":  # a stream for what the server has to say by itself, which is nothing
        return Whole(405, b"", {"allow": "POST, DELETE"})
    sent = {name: value for name, value in request.headers.items() if name not in _HOP}
    response = await client.request(request.method, request.target, headers=sent, content=request.body)
    kept = {name: value for name, value in response.headers.items() if name not in _HOP}
    return Whole(response.status_code, response.content, kept)


async def _listed(_context: Any, _params: Any) -> ListToolsResult:
    return ListToolsResult(tools=[Tool(name="ticket_search", input_schema={"type": "object"})])


async def _called(_context: Any, _params: Any) -> CallToolResult:
    told = "Error executing tool ticket_search: index 'tickets-2026' is read-only"
    return CallToolResult(content=[TextContent(type="text", text=told)], is_error=True)


def _json(status: int, body: object) -> Whole:
    return Whole(status, orjson.dumps(body), _JSON)


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file.write_text(text, "utf-8")
    file.chmod(0o600)

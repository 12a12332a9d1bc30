"""What is said to an MCP server in one probe: agree on a version, look for the tool, and call it if that is declared.

What a server says about its tools, annotations included, is a claim: whether a tool is called is up to the operator's
declaration alone. No schema of a server is ever carried out here either, for its patterns can take for ever.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import anyio
import orjson
from mcp import ClientSession, MCPError
from mcp_types import (
    UNSUPPORTED_PROTOCOL_VERSION,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    InputRequiredResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)
from pydantic import TypeAdapter, ValidationError

from agrajag import __version__
from agrajag.core.targets import McpCall
from agrajag.diagnosis.adapter import MAX_BODY_BYTES, PROBE_HEADER, RawOutcome, failed
from agrajag.diagnosis.mcp_bounds import Streams

MAX_PAGES = 50
_DISCOVERY_SHARE = 1 / 3  # of the time; an older server may leave the question unanswered
_CLIENT = Implementation(name="agrajag-probe", version=__version__)
_RESULT: TypeAdapter[CallToolResult | InputRequiredResult] = TypeAdapter(CallToolResult | InputRequiredResult)
_SCHEMA_MARKER = "__schema_violation__"  # what the rule of that name looks for


class McpFailure(StrEnum):
    """What an MCP server did that has no exception of its own; the value names it for Layer 1's rules."""

    TOOL_MISSING = "McpToolMissing"
    LIST_TOO_LONG = "McpListTooLong"
    ANSWER_INVALID = "McpAnswerInvalid"
    VERSION_UNSUPPORTED = "McpVersionUnsupported"
    INPUT_REQUIRED = "McpInputRequired"
    SCHEMA_VIOLATION = "McpSchemaViolation"
    TOOL_FAILED = "ToolException"
    """A result that says that it is an error; rules know that name."""
    NOT_SPOKEN = "McpNotSpoken"
    SERVER_ENDED = "McpServerEnded"
    SESSION_LOST = "McpSessionLost"


@dataclass(slots=True)
class Exchange:
    """One probe's exchange. `step`: what the server was last asked, for whoever has to say where it ended."""

    call: McpCall
    sample: Mapping[str, Any]
    probe_id: str
    seconds: float
    step: str = "server/discover"

    async def held_over(self, streams: Streams) -> RawOutcome:
        """What the server showed. What it answers is never raised; what becomes of its connection may be."""
        async with ClientSession(streams.received, streams.sent, client_info=_CLIENT) as session:
            try:
                await self._agree(session)
                tool = await self._listed(session)
                if isinstance(tool, RawOutcome):
                    return tool
                return await self._called(session, tool) if self.call.call_tool else _shown(_listing(tool))
            except MCPError as error:
                return refused(error)
            except ValidationError as error:
                return _failure(
                    McpFailure.ANSWER_INVALID, f"the answer to {self.step} has {error.error_count()} faults"
                )
            except RuntimeError:  # the SDK's word for a version that it does not know
                if self.step != "initialize":
                    raise
                return _failure(McpFailure.VERSION_UNSUPPORTED, "the server speaks no version that we know")

    async def _agree(self, session: ClientSession) -> None:
        try:
            with anyio.fail_after(self.seconds * _DISCOVERY_SHARE):
                await session.discover()
                return
        except (MCPError, ValidationError, RuntimeError, TimeoutError):
            self.step = "initialize"  # no sign of a newer server: shake hands as with an older one
        try:
            await session.initialize()
        except MCPError as error:
            # A newer server that was too slow to be discovered says so now.
            if error.code != UNSUPPORTED_PROTOCOL_VERSION:
                raise
            await session.discover()

    async def _listed(self, session: ClientSession) -> Tool | RawOutcome:
        self.step = "tools/list"
        page = await session.list_tools()
        for _ in range(MAX_PAGES):
            for tool in page.tools:
                if tool.name == self.call.tool:
                    return tool
            if not page.next_cursor:
                return _failure(McpFailure.TOOL_MISSING, f"the server has no tool {self.call.tool}")
            page = await session.list_tools(params=PaginatedRequestParams(cursor=page.next_cursor))
        return _failure(
            McpFailure.LIST_TOO_LONG, f"{self.call.tool} is on none of the first {MAX_PAGES} pages"
        )

    async def _called(self, session: ClientSession, tool: Tool) -> RawOutcome:
        self.step = "tools/call"
        params = CallToolRequestParams(name=tool.name, arguments=dict(self.sample))
        asked = CallToolRequest(params=params.model_copy(update={"meta": {PROBE_HEADER: self.probe_id}}))
        result = await session.send_request(asked, _RESULT)
        if isinstance(result, InputRequiredResult):
            return _failure(McpFailure.INPUT_REQUIRED, f"{tool.name} asks back instead of answering")
        body = _text_of(result)
        if result.is_error:
            return replace(_shown(body), ok=False, exception_type=McpFailure.TOOL_FAILED)
        if tool.output_schema is not None and "structured_content" not in result.model_fields_set:
            told = f"{_SCHEMA_MARKER}: a result without the structure that {tool.name} declares\n{body}"
            return replace(_shown(told), ok=False, exception_type=McpFailure.SCHEMA_VIOLATION)
        return _shown(body)


def refused(error: MCPError) -> RawOutcome:
    """The outcome of an error that came over JSON-RPC; its code is the tool's own."""
    told = {"error": {"code": error.code, "message": error.message, "data": error.data}}
    shown = _shown(orjson.dumps(told, default=str).decode())
    return replace(failed(error), body=shown.body, truncated=shown.truncated, error_code=str(error.code))


def _failure(kind: McpFailure, message: str) -> RawOutcome:
    return RawOutcome(ok=False, exception_type=kind, message=message)


def _shown(text: str) -> RawOutcome:
    body = text.encode("utf-8", "replace")
    return RawOutcome(ok=True, body=body[:MAX_BODY_BYTES], truncated=len(body) > MAX_BODY_BYTES)


def _listing(tool: Tool) -> str:
    return f"listed: {tool.name}: {tool.description or ''}"


def _text_of(result: CallToolResult) -> str:
    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    if texts or result.structured_content is None:
        return "\n".join(texts)
    return orjson.dumps(result.structured_content, default=str).decode()

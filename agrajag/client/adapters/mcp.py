"""Attends the tool calls of an MCP client session, and tells in its list of tools which are not well.

```python
import asyncio

from mcp import Client

from agrajag.client import Agrajag


async def main() -> None:
    async with (
        Client("http://127.0.0.1:8000/mcp") as client,
        Agrajag.connect("127.0.0.1:9092", tenant="acme") as agrajag,
    ):
        tools = agrajag.mcp(client, user="alice")
        result = await tools.call_tool("search", {"q": "towels"})
        print(result.content[0].text)


asyncio.run(main())
```
"""

from collections.abc import Callable
from typing import Any, Protocol, Unpack, cast

from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

from agrajag.client.attending import Attendant
from agrajag.client.call import Call
from agrajag.client.refused import refusal_text
from agrajag.client.reporter import CallFields
from agrajag.model.enums import Transport


class Session(Protocol):
    """An MCP client: the SDK's `ClientSession`, or its `Client`."""

    @property
    def call_tool(self) -> Callable[..., Any]:
        """Calls a tool."""
        ...

    @property
    def list_tools(self) -> Callable[..., Any]:
        """Lists the tools."""
        ...


class AttendedSession:
    """A session whose `call_tool` and `list_tools` are attended; all else is the session's own.

    A tool is known to Agrajag by `prefix` and its name, for two servers may have tools of one name. `fields` are known
    of every call; `who` tells what is known of one, from its name and arguments.
    """

    def __init__(
        self,
        session: Session,
        attendant: Attendant,
        /,
        *,
        prefix: str = "",
        who: Callable[[str, dict[str, Any]], CallFields] | None = None,
        **fields: Unpack[CallFields],
    ) -> None:
        self._session = session
        self._attendant = attendant
        self._prefix = prefix
        self._who = who
        self._fields = fields

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    async def call_tool(
        self, name: str, arguments: dict[str, Any] | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        """As the session's own. A call that is not made is a result that is an error, and says why and until when."""
        call = self._call(name, arguments)
        admission = self._attendant.ask(call)
        if not admission.is_allowed:
            text = refusal_text(name, admission)
            return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)
        attended = self._attendant.begin(call)
        try:
            result = await self._session.call_tool(name, arguments, *args, **kwargs)
        except BaseException as error:
            attended.raised(error)
            raise
        attended.returned(result)
        return result

    async def list_tools(self, *args: Any, **kwargs: Any) -> ListToolsResult:
        """As the session's own; the description of a tool that is not well says so."""
        listed: ListToolsResult = await self._session.list_tools(*args, **kwargs)
        return listed.model_copy(update={"tools": [self._annotated(tool) for tool in listed.tools]})

    def _annotated(self, tool: Tool) -> Tool:
        annotation = self._attendant.annotation(self._call(tool.name, None))
        if annotation is None:
            return tool
        return tool.model_copy(
            update={"description": "\n\n".join(filter(None, (tool.description, annotation)))}
        )

    def _call(self, name: str, arguments: dict[str, Any] | None) -> Call:
        known = self._who(name, arguments or {}) if self._who is not None else {}
        fields = cast(CallFields, {"transport": Transport.MCP, **self._fields, **known})
        return self._attendant.call(f"{self._prefix}{name}", fields)

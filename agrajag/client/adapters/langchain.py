'''Attends the tool calls of a LangChain agent as a middleware, and tells the model which tools are not well.

```python
from langchain.agents import create_agent

from agrajag.client import Agrajag


def search(q: str) -> str:
    """Searches the guide."""
    return f"nothing about {q}"


with Agrajag.connect("127.0.0.1:9092", tenant="acme") as agrajag:
    agent = create_agent(MODEL, [search], middleware=[agrajag.langchain(user="alice")])
    answer = agent.invoke({"messages": [("user", "What is known about towels?")]})
    print(answer["messages"][-1].content)
```
'''

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias, Unpack, cast

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt.tool_node import TOOL_INVOCATION_ERROR_TEMPLATE
from langgraph.types import Command

from agrajag.client.attending import Attendant, Attended
from agrajag.client.call import Call
from agrajag.client.failures import TOOL_FAILED, facts_of
from agrajag.client.redaction import reported
from agrajag.client.refused import refusal_text
from agrajag.client.reporter import CallFields
from agrajag.model.answers import CheckResult
from agrajag.model.events import ErrorReport

Result: TypeAlias = ToolMessage | Command[Any]

_WRONG_ARGUMENTS = TOOL_INVOCATION_ERROR_TEMPLATE.partition("{")[0]


class ToolHealthMiddleware(AgentMiddleware[Any, Any]):
    """Put it last among the middleware, so that it is the one right beside the tools.

    A call that is not made is answered by a ToolMessage with the status `error`, which says why and until when. What a
    tool raises is raised on, unless `answers_errors`: then it becomes such a message too, with a hint what to do.
    `fields` are known of every call; `who` tells what is known of one. It is used sync and async alike.
    """

    def __init__(
        self,
        attendant: Attendant,
        *,
        answers_errors: bool = False,
        who: Callable[[ToolCallRequest], CallFields] | None = None,
        **fields: Unpack[CallFields],
    ) -> None:
        super().__init__()
        self._attendant = attendant
        self._answers_errors = answers_errors
        self._who = who
        self._fields = fields

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]
    ) -> Result:
        """Asks, calls, and reports."""
        call = self._call(request)
        if (refused := self._refused(request, call)) is not None:
            return refused
        attended = self._attendant.begin(call)
        try:
            result = handler(request)
        except BaseException as error:
            return self._raised(request, attended, error)
        return self._returned(attended, result)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        """Asks, calls, and reports."""
        call = self._call(request)
        if (refused := self._refused(request, call)) is not None:
            return refused
        attended = self._attendant.begin(call)
        try:
            result = await handler(request)
        except BaseException as error:
            return self._raised(request, attended, error)
        return self._returned(attended, result)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Shows the model each tool with what is known against it."""
        return handler(request.override(tools=self._annotated(request.tools)))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Shows the model each tool with what is known against it."""
        return await handler(request.override(tools=self._annotated(request.tools)))

    def _call(self, request: ToolCallRequest) -> Call:
        known = self._who(request) if self._who is not None else {}
        fields = cast(CallFields, {**self._fields, **known})
        return self._attendant.call(request.tool_call["name"], fields)

    def _refused(self, request: ToolCallRequest, call: Call) -> ToolMessage | None:
        admission = self._attendant.ask(call)
        return None if admission.is_allowed else _message(request, refusal_text(call.tool_name, admission))

    def _raised(self, request: ToolCallRequest, attended: Attended, error: BaseException) -> ToolMessage:
        if isinstance(error, GraphBubbleUp):  # the tool asks a person, or hands over to another agent
            raise error
        check = attended.raised(error)
        if not self._answers_errors or not isinstance(error, Exception):
            raise error
        return _message(request, _failure_text(request.tool_call["name"], error, check))

    def _returned(self, attended: Attended, result: Result) -> Result:
        if isinstance(result, ToolMessage) and result.status == "error":
            told = str(result.text)
            if not told.startswith(_WRONG_ARGUMENTS):  # such a call never came to the tool
                attended.failed(ErrorReport(exception_type=TOOL_FAILED, body=told[:65_536]))
        else:
            attended.returned(getattr(result, "artifact", None))
        return result

    def _annotated(self, tools: Sequence[BaseTool | dict[str, Any]]) -> list[BaseTool | dict[str, Any]]:
        return [self._with_annotation(tool) if isinstance(tool, BaseTool) else tool for tool in tools]

    def _with_annotation(self, tool: BaseTool) -> BaseTool:
        annotation = self._attendant.annotation(self._attendant.call(tool.name, self._fields))
        if annotation is None:
            return tool
        return tool.model_copy(update={"description": f"{tool.description}\n\n{annotation}"})


def _message(request: ToolCallRequest, text: str) -> ToolMessage:
    call = request.tool_call
    return ToolMessage(content=text, name=call["name"], tool_call_id=call["id"], status="error")


def _failure_text(tool_name: str, error: Exception, check: CheckResult | None) -> str:
    report = reported(facts_of(error))
    told = f"{tool_name} failed: {report.exception_type}: {report.message}"
    return f"{told}\n{check.hint}" if check is not None and check.hint else told

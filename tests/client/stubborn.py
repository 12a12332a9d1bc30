"""A chat model that does not know when to stop."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field


class Stubborn(BaseChatModel):
    """Calls `search` as often as it is told to, whatever comes back."""

    tries: int
    arguments: dict[str, Any] = Field(default={"q": "towels"})
    shown: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "stubborn"

    def bind_tools(self, tools: Any, **_: Any) -> "Stubborn":
        self.shown.extend(tool.description for tool in tools)
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        done = sum(isinstance(message, ToolMessage) for message in messages)
        calls = (
            [{"name": "search", "args": self.arguments, "id": f"call-{done}"}] if done < self.tries else []
        )
        message = AIMessage(content="" if calls else "I give up.", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])

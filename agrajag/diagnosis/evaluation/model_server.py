"""A Messages API on loopback behind which a policy sits instead of a model: the same request, the same reply.

The client, the socket and the harness are the real ones, so what is measured is the way of a diagnosis through a model
that answers so; it says nothing about what any model would answer.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from agrajag.diagnosis.loopback import LoopbackServer, Reply, Request, Whole

_JSON = {"content-type": "application/json"}
_CHARACTERS_PER_TOKEN = 4
_TOOL_NAME = re.compile(r"toolName: (\"[^\n]*\")")


class Seen(NamedTuple):
    """A tool call of the conversation, and the observation that came of it."""

    tool_name: str
    observation: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a request tells a model. `rounds`: how often it has answered before; `may_call`: tools are still offered."""

    prompt: str
    seen: tuple[Seen, ...]
    rounds: int
    may_call: bool

    @property
    def tool_name(self) -> str:
        """The tool that the report is about."""
        found = _TOOL_NAME.search(self.prompt)
        return str(orjson.loads(found[1])) if found else ""

    def of(self, tool_name: str) -> dict[str, Any] | None:
        """What the last call of a tool has shown."""
        found = [seen.observation for seen in self.seen if seen.tool_name == tool_name]
        return found[-1] if found else None


class Call(NamedTuple):
    """A tool call that a policy makes."""

    tool_name: str
    arguments: dict[str, Any] = {}  # noqa: RUF012 - read, never written


Policy = Callable[[Conversation], list[Call] | str]
"""Which tools are called next, or the text of the answer."""


def model_server(policy: Policy) -> LoopbackServer:
    """The server, which runs while it is entered."""

    async def answer(request: Request) -> Reply:
        body = orjson.loads(request.body)
        said = policy(_conversation(body))
        content = [{"type": "text", "text": said}] if isinstance(said, str) else list(_blocks(said, body))
        message = {
            "id": "msg_scripted",
            "type": "message",
            "role": "assistant",
            "model": "scripted",
            "content": content,
            "stop_reason": "end_turn" if isinstance(said, str) else "tool_use",
            "stop_sequence": None,
            "usage": {
                "input_tokens": _tokens(request.body),
                "output_tokens": _tokens(orjson.dumps(content)),
            },
        }
        return Whole(200, orjson.dumps(message), _JSON)

    return LoopbackServer(answer)


def _blocks(calls: list[Call], body: Any) -> Iterator[dict[str, Any]]:
    place = len(body["messages"])
    for number, call in enumerate(calls):
        yield {
            "type": "tool_use",
            "id": f"call_{place}_{number}",
            "name": call.tool_name,
            "input": call.arguments,
        }


def _conversation(body: Any) -> Conversation:
    names: dict[str, str] = {}
    seen: list[Seen] = []
    prompt: list[str] = []
    for message in body["messages"]:
        for block in _content(message):
            if block["type"] == "tool_use":
                names[block["id"]] = block["name"]
            elif block["type"] == "tool_result":
                seen.append(Seen(names[block["tool_use_id"]], _observation(block["content"])))
            elif block["type"] == "text" and message["role"] == "user":
                prompt.append(block["text"])
    choice = body.get("tool_choice") or {"type": "auto"}
    may_call = choice["type"] != "none" and bool(body.get("tools"))
    rounds = sum(message["role"] == "assistant" for message in body["messages"])
    return Conversation("\n".join(prompt), tuple(seen), rounds, may_call)


def _content(message: Any) -> list[Any]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _observation(content: Any) -> dict[str, Any]:
    """What a tool has said; a text that is no object says nothing."""
    text = content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
    try:
        said = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return said if isinstance(said, dict) else {}


def _tokens(text: bytes) -> int:
    return len(text) // _CHARACTERS_PER_TOKEN + 1

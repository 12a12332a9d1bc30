"""What a scripted model may answer with, as values."""

from dataclasses import dataclass, field
from typing import Any

from agrajag.diagnosis.loopback import Cut, Endless, Hang, Trickle

__all__ = [
    "Block",
    "Body",
    "Cut",
    "Endless",
    "Hang",
    "Message",
    "Reply",
    "Status",
    "Trickle",
    "calls",
    "text",
    "use",
]

Block = dict[str, Any]
USAGE: dict[str, Any] = {"input_tokens": 100, "output_tokens": 20}


@dataclass(frozen=True)
class Message:
    """A reply as the API gives it."""

    content: Any
    stop_reason: str | None = "end_turn"
    usage: Any = field(default_factory=lambda: dict(USAGE))


@dataclass(frozen=True)
class Status:
    """An error of the API."""

    code: int
    kind: str = "api_error"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Body:
    """An answer that holds just this."""

    body: bytes
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    code: int = 200


Reply = Message | Status | Body | Cut | Hang | Trickle | Endless


def text(*texts: str, **changes: Any) -> Message:
    """The final answer."""
    return Message([{"type": "text", "text": said} for said in texts], **changes)


def use(call_id: str, name: str = "look", **arguments: Any) -> Block:
    """A tool call as a block."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def calls(*blocks: Block, **changes: Any) -> Message:
    """A reply that asks for tools."""
    return Message(list(blocks), stop_reason="tool_use", **changes)

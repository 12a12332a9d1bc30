"""The rules of the Messages API about what a request must be, as far as a loop of tool calls can break them."""

from collections.abc import Iterator, Sequence
from typing import Any

_FIELDS = {
    *("model", "max_tokens", "messages", "system", "tools", "tool_choice", "output_config", "metadata"),
    *("stop_sequences", "stream", "thinking", "cache_control"),
}


def broken_rule(request: Any) -> str | None:
    """What the API would refuse this request for."""
    if not isinstance(request, dict):
        return "the body is no object"
    unknown = sorted(set(request) - _FIELDS)
    if unknown:
        return f"{unknown[0]}: extra inputs are not permitted"
    if not isinstance(request.get("max_tokens"), int) or request["max_tokens"] < 1:
        return "max_tokens: must be at least 1"
    if "tool_choice" in request and not request.get("tools"):
        return "tool_choice may only be specified while providing tools"
    messages = request.get("messages")
    if not messages or messages[0]["role"] != "user":
        return "messages: first message must use the user role"
    if not request.get("tools") and any(_of_type(messages, "tool_use", "tool_result")):
        return "requests which include tool_use or tool_result blocks must define tools"
    ids = [block["id"] for block in _of_type(messages, "tool_use")]
    if len(set(ids)) < len(ids):
        return "tool_use ids must be unique"
    return _empty(messages) or _unpaired(messages)


def _empty(messages: Sequence[Any]) -> str | None:
    for number, message in enumerate(messages):
        blocks = _blocks(message)
        last_reply = message["role"] == "assistant" and number == len(messages) - 1
        if not blocks and not last_reply:
            return f"messages.{number}: all messages must have non-empty content"
        if any(block["type"] == "text" and not block["text"] for block in blocks):
            return f"messages.{number}: text content blocks must be non-empty"
    return None


def _unpaired(messages: Sequence[Any]) -> str | None:
    """Every tool_use is answered in the next message, results stand first in it, and none is for no call."""
    for number, message in enumerate(messages):
        asked = [block["id"] for block in _of_type([message], "tool_use")]
        if asked and number == len(messages) - 1:
            return f"messages.{number}: tool_use ids were found without tool_result blocks immediately after"
        before = [block["id"] for block in _of_type(messages[max(number - 1, 0) : number], "tool_use")]
        blocks = _blocks(message)
        results = [block["tool_use_id"] for block in _of_type([message], "tool_result")]
        if sorted(results) != sorted(before):
            return f"messages.{number}: tool_result blocks do not match the tool_use blocks before them"
        if any(block["type"] != "tool_result" for block in blocks[: len(results)]):
            return f"messages.{number}: tool_result blocks must come first"
    return None


def _of_type(messages: Sequence[Any], *kinds: str) -> Iterator[Any]:
    return (block for message in messages for block in _blocks(message) if block["type"] in kinds)


def _blocks(message: Any) -> list[Any]:
    content = message["content"]
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content)

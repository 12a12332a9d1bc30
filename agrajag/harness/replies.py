"""Decides what a reply of the model is: usable, and then with which tool calls or which answer.

The SDK builds its objects from whatever JSON arrives, without a check. So a reply is looked at here before anything
believes it; what is not as the API describes it is MALFORMED_REPLY, and none of it goes further.
"""

from collections.abc import Iterable
from typing import NamedTuple

import orjson
from anthropic.types.beta import (
    BetaMessage,
    BetaRedactedThinkingBlock,
    BetaTextBlock,
    BetaThinkingBlock,
    BetaToolUseBlock,
)

from agrajag.harness.boundary import AskedCall
from agrajag.harness.stops import Stopped, StopReason

_MAX_CALL_ID = 256
_MAX_DEPTH = 100
_ENDS = {
    "end_turn": StopReason.COMPLETED,
    "refusal": StopReason.REFUSED,
    "max_tokens": StopReason.TRUNCATED,
    "model_context_window_exceeded": StopReason.TRUNCATED,
}


class Answer(NamedTuple):
    """How the last reply ended the run; `texts` are its text blocks, and empty unless it is COMPLETED."""

    stop: StopReason
    texts: tuple[str, ...] = ()


def is_plain(body: bytes) -> bool:
    """Whether a body is JSON that can be sent back: UTF-8, no half characters, no depth that breaks a stack."""
    try:
        level = [orjson.loads(body)]
    except orjson.JSONDecodeError:
        return False
    for _ in range(_MAX_DEPTH):
        level = [item for value in level for item in _items(value)]
        if not level:
            return True
    return False


def _items(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def checked(reply: object) -> BetaMessage:
    """The reply, if it is one. Raises Stopped."""
    if not isinstance(reply, BetaMessage) or reply.role != "assistant" or not isinstance(reply.content, list):
        raise Stopped(StopReason.MALFORMED_REPLY)
    if not all(map(_is_usable, reply.content)):
        raise Stopped(StopReason.MALFORMED_REPLY)
    return reply


def asked_calls(reply: BetaMessage) -> list[AskedCall]:
    """The tool calls of a checked reply, in their order.

    A call whose arguments are no object goes back to the model with an empty one, as the API takes no other; who
    answers the call sees what came.
    """
    asked: list[AskedCall] = []
    for block in reply.content:
        if block.type == "tool_use":
            arguments: object = block.input
            if not isinstance(arguments, dict):
                block.input = {}
            asked.append(AskedCall(block.id, block.name, arguments, block.input))
    return asked


def answer_of(reply: BetaMessage) -> Answer:
    """What a checked reply after which the SDK's loop has ended means for the run."""
    stop = _ENDS.get(reply.stop_reason or "", StopReason.MALFORMED_REPLY)
    if stop is not StopReason.COMPLETED:
        return Answer(stop)
    if any(
        block.type == "tool_use" for block in reply.content
    ):  # it says that it has ended, and asks for something
        return Answer(StopReason.MALFORMED_REPLY)
    return Answer(stop, tuple(block.text for block in reply.content if block.type == "text"))


def _is_usable(block: object) -> bool:
    """Whether it is one of the blocks that a model without the API's own tools can answer with."""
    match block:
        case (
            BetaTextBlock(type="text", text=str())
            | BetaRedactedThinkingBlock(type="redacted_thinking", data=str())
        ):
            return True
        case BetaThinkingBlock(type="thinking", thinking=str(), signature=str()):
            return True
        case BetaToolUseBlock(type="tool_use", id=call_id, name=str()):
            return _is_call_id(call_id)
    return False


def _is_call_id(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _MAX_CALL_ID and value.isprintable()

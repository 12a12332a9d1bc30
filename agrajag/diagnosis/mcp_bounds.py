"""Bounds what an MCP server may say in one probe, whatever carries it.

The SDK starts a task for each message, so their number has to be bounded beside their size. Who breaks a bound is heard
no further: for the SDK its connection is closed, and what it broke is told by whoever kept the bound.
"""

from enum import StrEnum
from typing import NamedTuple, Protocol

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage

MAX_MESSAGE_BYTES = 1_048_576
MAX_EXCHANGE_BYTES = 4 * MAX_MESSAGE_BYTES
MAX_MESSAGES = 1_000


class McpOverrun(StrEnum):
    """The bounds of one exchange; the value names the failure where one is broken."""

    MESSAGE_TOO_LARGE = "McpMessageTooLarge"
    TOO_MUCH = "McpTooMuchSaid"
    TOO_MANY = "McpTooManyMessages"
    COMPRESSED = "McpAnswerCompressed"


class Received(Protocol):
    """Where the messages of a server come from, as the SDK has it."""

    async def receive(self) -> SessionMessage | Exception:
        """The next one, or what made it unreadable."""

    async def aclose(self) -> None:
        """Nothing is received any more."""


class Sending(Protocol):
    """Where our messages go, as the SDK has it."""

    async def send(self, item: SessionMessage, /) -> None:
        """Takes one message."""

    async def aclose(self) -> None:
        """Nothing is sent any more."""


class BoundedMessages(ObjectReceiveStream[SessionMessage | Exception]):
    """Messages of a server, up to `MAX_MESSAGES`."""

    def __init__(self, messages: Received) -> None:
        self._messages = messages
        self._left = MAX_MESSAGES

    @property
    def overrun(self) -> McpOverrun | None:
        """TOO_MANY once there were more."""
        return McpOverrun.TOO_MANY if self._left < 0 else None

    async def receive(self) -> SessionMessage | Exception:
        """The next one. Raises EndOfStream after the last that is heard."""
        message = await self._messages.receive()
        self._left -= 1
        if self._left < 0:
            raise anyio.EndOfStream
        return message

    async def aclose(self) -> None:
        """Closes what they come from."""
        await self._messages.aclose()


class Sent(ObjectSendStream[SessionMessage]):
    """Our messages, without those that take a question back.

    The SDK says such a thing for up to five seconds after a deadline, to a server that may be stuck. Here whoever gives
    up a question ends the connection too.
    """

    def __init__(self, messages: Sending) -> None:
        self._messages = messages

    async def send(self, item: SessionMessage) -> None:
        """Sends one message on."""
        if getattr(item.message, "method", None) != "notifications/cancelled":
            await self._messages.send(item)

    async def aclose(self) -> None:
        """Closes where they go."""
        await self._messages.aclose()


class Streams(NamedTuple):
    """What a session is held over."""

    received: BoundedMessages
    sent: Sent

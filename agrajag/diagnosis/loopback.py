"""An HTTP server on loopback that does with each request as it is told, the worst things included.

It speaks HTTP/1.1 by itself, because a proper server would not send half of an answer, or none.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self, TypeAlias

_HUGE_BYTES = 5 * 1024**3
_CHUNK = b" " * 65_536
_TRICKLE_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class Request:
    """What came; header names in small letters."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Whole:
    """A complete response."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cut:
    """A response of which only the first bytes come before the connection closes; of 0 bytes not even a status."""

    sent_bytes: int


@dataclass(frozen=True, slots=True)
class Hang:
    """No response, until the client goes away."""


@dataclass(frozen=True, slots=True)
class Trickle:
    """A response that never ends and is never silent for long."""


@dataclass(frozen=True, slots=True)
class Endless:
    """A response that is as large as the client will take, and comes as fast as it can."""


Reply: TypeAlias = Whole | Cut | Hang | Trickle | Endless


class LoopbackServer:
    """Answers each request with what `answer` says. Runs while it is entered; what hangs is let go at the end."""

    def __init__(self, answer: Callable[[Request], Awaitable[Reply]]) -> None:
        self._answer = answer
        self._handlers: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.sent_bytes = 0
        """How much of endless responses was sent."""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=128)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is None:
            return
        self._server.close()
        for handler in self._handlers:
            handler.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def address(self) -> str:
        """Host and port."""
        if self._server is None:
            raise RuntimeError("the server does not run")
        return f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://{self.address}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._handlers.add(task)
            task.add_done_callback(self._handlers.discard)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while await self._exchange(reader, writer):
                    pass
        except ValueError:  # no HTTP, or too much of it: a TLS greeting, for one
            pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its reply; whether the connection may be used again."""
        reply = await self._answer(await _request(reader))
        match reply:
            case Whole(status, body, headers):
                writer.write(_head(status, len(body), headers) + body)
                await writer.drain()
                return True
            case Cut(sent_bytes):
                head = _head(200, 10_000, {"content-type": "application/json"})
                writer.write((head + b"{" * sent_bytes)[:sent_bytes])
                await writer.drain()
            case _:
                await self.endless(reply, reader, writer)
        return False

    async def endless(
        self, reply: Hang | Trickle | Endless, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Carry out a reply that only the client ends."""
        if not isinstance(reply, Hang):
            writer.write(_head(200, _HUGE_BYTES, {"content-type": "application/json"}))
        gone = asyncio.create_task(reader.read(1))
        try:
            while not gone.done():
                if isinstance(reply, Endless):
                    writer.write(_CHUNK)
                    self.sent_bytes += len(_CHUNK)
                    await writer.drain()
                elif isinstance(reply, Trickle):
                    writer.write(b" ")
                await asyncio.wait([gone], timeout=None if isinstance(reply, Hang) else _TRICKLE_SECONDS)
        finally:
            gone.cancel()


async def _request(reader: asyncio.StreamReader) -> Request:
    first = await reader.readexactly(1)
    if not first.isalpha():  # a TLS greeting would be waited for without end
        raise ValueError("the client speaks no HTTP")
    head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ", 2)
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, target, headers, body)


def _head(status: int, length: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Scripted", f"content-length: {length}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")

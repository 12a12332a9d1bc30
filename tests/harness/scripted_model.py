"""A Messages API on loopback that answers by a script, over a real socket, and keeps what it was asked."""

import asyncio
import contextlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from tests.harness.message_rules import broken_rule
from tests.harness.replies import Body, Cut, Endless, Hang, Message, Reply, Status, Trickle

KEY = "sk-test-0123456789abcdef"
_CHUNK = b" " * 65_536
_OUT_OF_SCRIPT = Status(418, "script_has_ended")


@dataclass(frozen=True)
class Request:
    """What the client sent."""

    path: str
    headers: dict[str, str]
    body: Any

    @property
    def tools(self) -> str:
        """The tools, as text that differs if anything of them does, their order included."""
        return json.dumps(self.body.get("tools"))

    @property
    def results(self) -> list[dict[str, Any]]:
        """The observations in the last message, read."""
        last = self.body["messages"][-1]["content"]
        return [json.loads(block["content"]) for block in last if block["type"] == "tool_result"]


@dataclass
class ScriptedModel:
    """Answers with `script`: replies in their order, or a function of the request.

    `checks`: refuse what the API would refuse, as it does; a gateway may be less strict.
    """

    script: Sequence[Reply] | Callable[[Request], Reply]
    checks: bool = True
    requests: list[Request] = field(default_factory=list)
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    """A reply that does not end by itself has begun."""
    abandoned: asyncio.Event = field(default_factory=asyncio.Event)
    """The client has gone away from such a reply."""
    sent_bytes: int = 0

    async def __aenter__(self) -> Self:
        self._handlers: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=128)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for handler in self._handlers:
            handler.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        """The base URL for a client."""
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._handlers.add(task)
        task.add_done_callback(self._handlers.discard)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while await self._exchange(reader, writer):
                    pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its reply; whether the connection may be used again."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)
        }
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        request = Request(head[0].split(" ")[1], headers, json.loads(raw) if raw else None)
        self.requests.append(request)
        reply = self._reply(request)
        match reply:
            case Message():
                await self._send(writer, 200, _message(reply), {"content-type": "application/json"})
            case Status():
                headers = {"content-type": "application/json", **reply.headers}
                await self._send(writer, reply.code, _error(reply), headers)
            case Body():
                await self._send(writer, 200, reply.body, reply.headers)
            case Cut():
                writer.write(_head(200, 10_000, {"content-type": "application/json"})[: reply.sent_bytes])
                writer.write(b"{" * max(0, reply.sent_bytes - 100))
                await writer.drain()
                return False
            case _:
                await self._endless(reply, reader, writer)
                return False
        return True

    def _reply(self, request: Request) -> Reply:
        problem = broken_rule(request.body) if self.checks else None
        if problem is not None:
            return Status(400, problem)
        if callable(self.script):
            return self.script(request)
        number = len(self.requests) - 1
        return self.script[number] if number < len(self.script) else _OUT_OF_SCRIPT

    async def _send(
        self, writer: asyncio.StreamWriter, code: int, body: bytes, headers: dict[str, str]
    ) -> None:
        writer.write(_head(code, len(body), headers) + body)
        await writer.drain()

    async def _endless(
        self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if not isinstance(reply, Hang):
            writer.write(_head(200, 5 * 1024**3, {"content-type": "application/json"}))
        self.reached.set()
        gone = asyncio.create_task(reader.read(1))
        try:
            while not gone.done():
                if isinstance(reply, Endless):
                    writer.write(_CHUNK)
                    self.sent_bytes += len(_CHUNK)
                    await writer.drain()
                elif isinstance(reply, Trickle):
                    writer.write(b" ")
                await asyncio.wait([gone], timeout=None if isinstance(reply, Hang) else 0.005)
        except ConnectionError:
            pass
        finally:
            gone.cancel()
            self.abandoned.set()


def _head(code: int, length: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {code} Scripted", f"content-length: {length}", "request-id: req_scripted"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _message(reply: Message) -> bytes:
    message = {
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": reply.content,
        "stop_reason": reply.stop_reason,
        "stop_sequence": None,
        "usage": reply.usage,
    }
    return json.dumps(
        {name: value for name, value in message.items() if name != "usage" or value is not None}
    ).encode()


def _error(reply: Status) -> bytes:
    return json.dumps(
        {"type": "error", "error": {"type": reply.kind, "message": f"{reply.kind} SECRET"}}
    ).encode()

"""A tool on loopback that behaves as a test wants, over a real socket, and keeps what it was asked."""

import asyncio
import contextlib
import gzip
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

TLS_FILES = Path(__file__).parents[1] / "wire" / "tls"
_CHUNK = b"x" * 65_536


@dataclass(frozen=True)
class Asked:
    """One request; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Behaviour: TypeAlias = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]
"""Answers one request; the connection is closed afterwards."""


@dataclass
class ToolServer:
    """Behaves as `behaviour` says. `tls`: as the owner of a certificate for 127.0.0.1 that `TLS_FILES` holds."""

    behaviour: Behaviour
    tls: bool = False
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    abandoned: asyncio.Event = field(default_factory=asyncio.Event)
    """A client has gone away before the end."""

    async def __aenter__(self) -> Self:
        self._handlers: set[asyncio.Task[None]] = set()
        context = None
        if self.tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(TLS_FILES / "broker.pem", TLS_FILES / "broker.key.pem")
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
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
    def port(self) -> int:
        """Where it listens."""
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        """An address of it."""
        return f"http{'s' if self.tls else ''}://{host}:{self.port}{path}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._handlers.add(task)
        task.add_done_callback(self._handlers.discard)
        self.connections += 1
        try:
            with contextlib.suppress(asyncio.CancelledError):
                await self._exchange(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            self.abandoned.set()
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)
        }
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        method, path, _ = head[0].split(" ")
        asked = Asked(method, path, headers, body)
        self.asked.append(asked)
        answering = asyncio.ensure_future(self.behaviour(asked, writer))
        leaving = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                self.abandoned.set()
            else:
                await answering
        finally:
            for one in (answering, leaving):
                one.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)


def answers(status: int = 200, body: bytes = b"", **headers: str) -> Behaviour:
    """An ordinary answer; `_` in the name of a header is `-`."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{name}: {value}" for name, value in {"Content-Length": str(len(body)), **given}.items()]
        writer.write("\r\n".join([f"HTTP/1.1 {status} Said", *lines, "", ""]).encode("latin-1"))
        writer.write(b"" if asked.method == "HEAD" else body)
        await writer.drain()

    return behave


def redirects(location: str, status: int = 302) -> Behaviour:
    """Sends its caller elsewhere."""
    return answers(status, b"moved", Location=location)


def says(raw: bytes) -> Behaviour:
    """Sends these bytes, whether they are HTTP or not, and hangs up."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        await writer.drain()

    return behave


def hangs(first: bytes = b"") -> Behaviour:
    """Sends these bytes and then nothing, for ever."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        await writer.drain()
        await asyncio.Event().wait()

    return behave


def trickles(status: int = 200, seconds: float = 0.05) -> Behaviour:
    """Sends a body byte by byte, for ever."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 {status} Said\r\nContent-Length: 1000000\r\n\r\n".encode())
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(seconds)

    return behave


def pours(total: int = 5_000_000_000, status: int = 200) -> Behaviour:
    """Sends a body of this many bytes as fast as anybody takes it."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 {status} Said\r\nContent-Length: {total}\r\n\r\n".encode())
        for _ in range(total // len(_CHUNK)):
            writer.write(_CHUNK)
            await writer.drain()

    return behave


def explodes(unfolded: int = 50_000_000) -> Behaviour:
    """A small body that unfolds to this many bytes, whether compression was asked for or not."""
    return answers(200, gzip.compress(b"x" * unfolded), Content_Encoding="gzip", Content_Type="text/plain")


def wants_bearer(token: str, otherwise: Behaviour) -> Behaviour:
    """401 without this token, which it repeats with; else as `otherwise`."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        given = asked.headers.get("authorization", "nothing")
        if given == f"Bearer {token}":
            await otherwise(asked, writer)
        else:
            refusal = f'{{"error": "not with {given}"}}'.encode()
            await answers(401, refusal, WWW_Authenticate='Bearer realm="tool"')(asked, writer)

    return behave

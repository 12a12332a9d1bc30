"""Servers that say what no honest MySQL says, and keep what they are told."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from pymysql.constants import CLIENT

from agrajag.investigation.mysql import MysqlAccess

_CAPABILITIES = CLIENT.PROTOCOL_41 | CLIENT.SECURE_CONNECTION | CLIENT.PLUGIN_AUTH | CLIENT.LOCAL_FILES
OK = b"\x00\x00\x00\x02\x00\x00\x00"

Talk = Callable[["Told"], Awaitable[None]]


class Told:
    """One connection: `heard` is all that has come over it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, heard: bytearray) -> None:
        self._reader = reader
        self._writer = writer
        self.heard = heard

    async def say(self, number: int, payload: bytes) -> None:
        """Send one packet."""
        self._writer.write(len(payload).to_bytes(3, "little") + bytes([number]) + payload)
        await self._writer.drain()

    async def hear(self) -> bytes:
        """The next packet. Raises IncompleteReadError where the other side has hung up."""
        header = await self._reader.readexactly(4)
        payload = await self._reader.readexactly(int.from_bytes(header[:3], "little"))
        self.heard += header + payload
        return payload

    async def greet(self, plugin: str = "mysql_native_password", capabilities: int = _CAPABILITIES) -> None:
        """Say hello, and how a password is wanted."""
        low, high = capabilities & 0xFFFF, capabilities >> 16
        head = b"\x0a8.0.0-fake\x00" + b"\x07\x00\x00\x00" + b"saltsalt" + b"\x00"
        caps = low.to_bytes(2, "little") + b"\x2d" + b"\x02\x00" + high.to_bytes(2, "little")
        await self.say(
            0, head + caps + bytes([21]) + bytes(10) + b"saltsaltsalt\x00" + plugin.encode() + b"\x00"
        )


@asynccontextmanager
async def a_server(talk: Talk) -> AsyncIterator[tuple[MysqlAccess, bytearray]]:
    """A server on loopback that talks so, how it is reached, and what it has heard."""
    heard = bytearray()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talk(Told(reader, writer, heard))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield MysqlAccess("127.0.0.1", port, "reader", "the password of the reader"), heard

"""A client of the stream of changes, as anybody could write it: it comes back with the id that it had last."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx


class Event(NamedTuple):
    """One event; a block without data has the kind that blocks without a name have."""

    kind: str
    data: dict[str, Any] | None
    id: str | None

    @property
    def place(self) -> tuple[str, int]:
        """Which document it tells, as of which revision."""
        assert self.data is not None
        if self.kind == "gone":
            return self.data["key"], self.data["revision"]
        return self.data["key"], self.data["health"]["revision"]


class Follower:
    """What one client has heard. Waits that the server asked for are in `retries`."""

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        self.url = url
        self._headers = headers
        self.last_id: str | None = None
        self.retries: list[int] = []
        self.answer = httpx.Response(0)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncIterator[Event]]:
        """The events of one connection; it is cut at the end, whatever is on its way."""
        headers = self._headers | ({} if self.last_id is None else {"Last-Event-ID": self.last_id})
        no_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # the machine's authorities take long to read
        async with (
            httpx.AsyncClient(timeout=30.0, verify=no_tls) as client,
            client.stream("GET", self.url, headers=headers) as self.answer,
        ):
            yield self._events(self.answer)

    async def until(self, wanted: int | str) -> list[Event]:
        """The events of one connection up to that many, or up to one of that kind."""
        async with self.open() as events:
            return await heard(events, wanted)

    async def _events(self, answer: httpx.Response) -> AsyncIterator[Event]:
        if answer.status_code != 200:
            await answer.aread()
            return
        text = ""
        async for piece in answer.aiter_text():
            *blocks, text = (text + piece).split("\n\n")
            for block in blocks:
                event = self._read(block)
                if event is not None:
                    yield event

    def _read(self, block: str) -> Event | None:
        fields: dict[str, str] = {}
        for line in block.split("\n"):
            name, _, value = line.partition(": ")
            fields[name] = value
        if "retry" in fields:
            self.retries.append(int(fields["retry"]))
        if "id" in fields:
            self.last_id = fields["id"]
        if "id" not in fields and "data" not in fields:
            return None
        data = json.loads(fields["data"]) if "data" in fields else None
        return Event(fields.get("event", "message"), data, fields.get("id"))


async def heard(events: AsyncIterator[Event], wanted: int | str, timeout: float = 30.0) -> list[Event]:
    """The next events up to that many, or up to one of that kind, or to the end; heartbeats do not count."""
    found: list[Event] = []
    async with asyncio.timeout(timeout):
        async for event in events:
            if event.data is not None:
                found.append(event)
            if len(found) == wanted or event.kind == wanted:
                break
    return found


@asynccontextmanager
async def opened(url: str, path: str, headers: dict[str, str]) -> AsyncIterator[asyncio.StreamReader]:
    """A bare connection on which a stream was asked for: cheap, so that there may be a thousand."""
    host, port = url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    told = {"Host": f"{host}:{port}"} | headers
    lines = (f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in told.items()), "", "")
    writer.write("\r\n".join(lines).encode())
    try:
        yield reader
    finally:
        writer.transport.abort()

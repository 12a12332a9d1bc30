"""Speaks MCP over Streamable HTTP, through the same guarded transport as every other probe.

The SDK tells a refusal by HTTP as an error of its own making, so what HTTP itself said is kept here beside it. A
redirect is followed by the SDK within the origin of the address only, and its answers are read up to a bound.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import NamedTuple, cast

import anyio
import httpx2
import orjson
from mcp.client.streamable_http import streamable_http_client

from agrajag.diagnosis.mcp_bounds import (
    MAX_EXCHANGE_BYTES,
    MAX_MESSAGE_BYTES,
    BoundedMessages,
    McpOverrun,
    Sent,
    Streams,
)
from agrajag.diagnosis.network import NotSent
from agrajag.diagnosis.probe import ProbeRefusal
from agrajag.model.events import MAX_HEADER_NAME, MAX_HEADER_VALUE, MAX_HEADERS

_IDENTITY = "identity"
_REFUSAL_BYTES = 16_384
_GOODBYE_SECONDS = 0.5  # to end a session; a server that does not answer keeps it
_SESSION_HEADER = "mcp-session-id"


class HttpRefusal(NamedTuple):
    """An answer by which HTTP itself said no. `truncated`: `body` may have no more than its start.

    `in_session`: to a request that named a session.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    truncated: bool
    in_session: bool


class OverrunError(httpx2.TransportError):
    """A bound was broken; what came after it was not read."""


class WatchedTransport(httpx2.AsyncBaseTransport):
    """Carries one probe's requests by `carrier`; it owns the carrier."""

    def __init__(self, carrier: httpx2.AsyncBaseTransport) -> None:
        self._carrier = carrier
        self._left_bytes = MAX_EXCHANGE_BYTES
        self._asked: object = None
        self._has_answered = False
        self.not_sent: ProbeRefusal | None = None
        """Why nothing was sent, where nothing was."""
        self.refusal: HttpRefusal | None = None
        """What became of the latest question to the server, if HTTP refused it."""
        self.status: int | None = None
        """The status of the answer to the latest question."""
        self.overrun: McpOverrun | None = None
        """Which bound was broken; nothing was sent or read after that."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """One exchange. Raises OverrunError once a bound is broken."""
        if self.overrun is not None:
            raise OverrunError(self.overrun)
        if request.method == "DELETE":
            return await self._ended(request)
        asked = _asked(request)
        if asked is not None:
            self._asked, self.status, self.refusal = asked, None, None
        try:
            response = await self._carrier.handle_async_request(request)
        except NotSent as error:
            self.not_sent = None if self._has_answered else error.refusal
            raise
        self._has_answered = True
        if response.headers.get("content-encoding", _IDENTITY).lower() != _IDENTITY:
            # It was asked not to, and could unfold to any size.
            await response.aclose()
            self.overrun = McpOverrun.COMPRESSED
            raise OverrunError(self.overrun)
        stream = _Bounded(cast(httpx2.AsyncByteStream, response.stream), self)
        response.stream = stream
        if asked is not None and asked == self._asked:  # a late answer to what was given up says nothing
            self.status = response.status_code
            if response.status_code >= httpx2.codes.MULTIPLE_CHOICES:
                await self._keep(request, response, stream)
        return response

    async def aclose(self) -> None:
        """Closes the carrier."""
        await self._carrier.aclose()

    def count(self, size_bytes: int) -> None:
        """Counts what was read. Raises OverrunError where it is too much."""
        self._left_bytes -= size_bytes
        if self._left_bytes < 0:
            self.overrun = McpOverrun.TOO_MUCH
            raise OverrunError(self.overrun)

    async def _ended(self, request: httpx2.Request) -> httpx2.Response:
        """The end of a session; nobody needs more of the answer than its status."""
        with anyio.move_on_after(_GOODBYE_SECONDS):
            response = await self._carrier.handle_async_request(request)
            await response.aclose()
            return httpx2.Response(response.status_code, request=request)
        raise httpx2.ReadTimeout("the session was not ended in time", request=request)

    async def _keep(self, request: httpx2.Request, response: httpx2.Response, stream: "_Bounded") -> None:
        body, truncated = b"", True
        try:
            async for chunk in stream:
                body = (body + chunk)[:_REFUSAL_BYTES]
                if len(body) == _REFUSAL_BYTES:
                    break
            else:
                truncated = False
        finally:  # it may be cut, and has said its status all the same
            kept = {
                name[:MAX_HEADER_NAME]: value[:MAX_HEADER_VALUE]
                for name, value in list(response.headers.items())[:MAX_HEADERS]
            }
            in_session = _SESSION_HEADER in request.headers
            self.refusal = HttpRefusal(response.status_code, kept, body, truncated, in_session)
        await stream.aclose()
        response.stream = httpx2.ByteStream(body)


def _asked(request: httpx2.Request) -> object:
    """The id of the question that is sent; None for a notification, an answer of ours, and what is no message."""
    if request.method != "POST":
        return None
    message = orjson.loads(request.content)
    return message.get("id") if "method" in message else None


class _Bounded(httpx2.AsyncByteStream):
    """A body that counts for its probe."""

    def __init__(self, stream: httpx2.AsyncByteStream, watched: WatchedTransport) -> None:
        self._stream = stream
        self._watched = watched

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._watched.count(len(chunk))
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


@asynccontextmanager
async def connected(
    watched: WatchedTransport, url: str, headers: Mapping[str, str]
) -> AsyncIterator[Streams]:
    """The streams of a session with the server at `url`; the session is ended and the carrier closed afterwards.

    It waits without a limit of its own: whoever uses it sets the deadline of everything together.
    """
    sent = {"user-agent": "agrajag-probe", "accept-encoding": _IDENTITY, **headers}
    async with (
        httpx2.AsyncClient(transport=watched, headers=sent, timeout=None, trust_env=False) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES) as (
            received,
            out,
        ),
    ):
        yield Streams(BoundedMessages(received), Sent(out))

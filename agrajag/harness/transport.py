"""Bounds what is read of an answer, whatever the other side sends.

The SDK reads an answer as a whole, so a limit has to stand below it. Answers are asked for uncompressed; one that is
compressed all the same could unfold to any size, and is not read.
"""

import re
import ssl
from collections.abc import AsyncIterator
from functools import cache

import httpx2

from agrajag.harness.stops import Stopped, StopReason

IDENTITY = "identity"
_SENT_HEADERS = re.compile(
    r"host|connection|authorization|user-agent|accept|accept-encoding|content-type|content-length|"
    r"transfer-encoding|anthropic-(version|beta)|x-stainless-.*",
    re.ASCII | re.IGNORECASE,
)


@cache
def _trusted() -> ssl.SSLContext:
    """Read once for all models of a process: parsing every authority takes a good part of a second."""
    return httpx2.create_ssl_context(trust_env=False)


class BoundedTransport(httpx2.AsyncHTTPTransport):
    """HTTP without retries, redirects or settings from the environment; an answer has at most `max_bytes`."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(
            verify=_trusted(), trust_env=False, limits=httpx2.Limits(max_keepalive_connections=100)
        )
        self._max_bytes = max_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """One exchange. Raises Stopped for an answer that is compressed."""
        # The SDK adds headers that it finds in the environment.
        for name in [name for name in request.headers if not _SENT_HEADERS.fullmatch(name)]:
            del request.headers[name]
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", IDENTITY).lower() != IDENTITY:
            await response.aclose()
            raise Stopped(StopReason.MALFORMED_REPLY)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Bounded(response.stream, self._max_bytes)
        return response


class _Bounded(httpx2.AsyncByteStream):
    """A body that ends the run where it is longer than it may be."""

    def __init__(self, stream: httpx2.AsyncByteStream, max_bytes: int) -> None:
        self._stream = stream
        self._left = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                raise Stopped(StopReason.REPLY_TOO_LARGE)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()

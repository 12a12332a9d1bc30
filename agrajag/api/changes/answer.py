"""Connects a stream with the client's connection: begins where there is room, and ends with whichever ends first."""

import asyncio
from contextlib import aclosing

import structlog
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from agrajag.api.changes.stream import ChangeStream
from agrajag.api.parts import Parts
from agrajag.api.problems import ProblemType, Refused
from agrajag.metrics import STREAMS_ENDED, STREAMS_OPEN, StreamEnd

log = structlog.get_logger(__name__)

MEDIA_TYPE = "text/event-stream"
_RETRY_AFTER_SECONDS = 10
_HEADERS = {
    "Cache-Control": "no-store, no-transform",
    "X-Accel-Buffering": "no",  # nginx would hold events back until it has a few kB of them
}


class ChangesAnswer(Response):
    """The stream as an answer; a 503 where the process has as many as it may."""

    media_type = MEDIA_TYPE

    def __init__(self, parts: Parts, stream: ChangeStream) -> None:
        super().__init__(headers=_HEADERS)
        del self.headers["content-length"]
        self._parts = parts
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the stream ends, the client leaves, or it takes nothing for too long."""
        open_streams = self._parts.open_streams
        if len(open_streams) >= self._parts.values.streams:
            await _full().response()(scope, receive, send)
            return
        open_streams.add(self._stream)
        STREAMS_OPEN.inc()
        watching = (
            asyncio.create_task(self._until_gone(receive)),
            asyncio.create_task(self._until_the_end()),
        )
        try:
            await self._send_all(send)
        except asyncio.CancelledError:
            self._stream.end(StreamEnd.ENDING)
            raise
        finally:
            for task in watching:
                task.cancel()
            self._stream.end(StreamEnd.FAULT)  # unless it has ended for a better reason
            open_streams.discard(self._stream)
            STREAMS_OPEN.dec()
            STREAMS_ENDED.labels(self._stream.ended).inc()

    async def _send_all(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            async with aclosing(self._stream.chunks()) as chunks:
                async for chunk in chunks:
                    async with asyncio.timeout(self._parts.values.stream_send_seconds):
                        await send({"type": "http.response.body", "body": chunk, "more_body": True})
                    if self._stream.ended is StreamEnd.CLIENT:
                        return
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            self._stream.end(StreamEnd.SLOW)
        except OSError:
            self._stream.end(StreamEnd.CLIENT)

    async def _until_gone(self, receive: Receive) -> None:
        try:
            while (await receive())["type"] != "http.disconnect":
                pass
        except Refused:
            pass  # it sends what is no part of such a request
        self._stream.end(StreamEnd.CLIENT)

    async def _until_the_end(self) -> None:
        await self._parts.ending.wait()
        self._stream.end(StreamEnd.ENDING)


def _full() -> Refused:
    return Refused(
        ProblemType.TOO_MANY,
        "as many streams are open as this process may have",
        headers={"Retry-After": str(_RETRY_AFTER_SECONDS)},
        status=503,
    )

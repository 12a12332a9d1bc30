"""What the server bears of strangers: a body that does not come, and more connections than there is room for."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fastapi import FastAPI

from agrajag.api.edge import Edge
from agrajag.api.parts import ApiValues
from agrajag.api.problems import tell_problems
from agrajag.api.serve import listening, serve
from tests.waiting import eventually

HOST = "127.0.0.1"


def an_app() -> FastAPI:
    app = FastAPI()
    tell_problems(app, lambda _path: ())

    @app.post("/taken")
    async def taken(body: dict[str, Any]) -> dict[str, Any]:
        return body

    return app


@asynccontextmanager
async def served(values: ApiValues) -> AsyncIterator[int]:
    """The port of a server with these limits."""
    edge = Edge(an_app(), max_body_bytes=values.max_body_bytes, request_seconds=values.request_seconds)
    there = listening(HOST, 0)
    serving = asyncio.create_task(serve(edge, there, values, asyncio.Event()))
    try:
        yield there.getsockname()[1]
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


def head(length: int) -> bytes:
    return (
        f"POST /taken HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


@pytest.mark.parametrize("sent", [b"", b'{"a'], ids=["nothing of it", "half of it"])
async def test_a_body_that_does_not_come_is_answered_with_408_and_the_connection_ends(sent: bytes) -> None:
    async with served(ApiValues(request_seconds=0.2, ending_seconds=0.1)) as port:
        reader, writer = await asyncio.open_connection(HOST, port)
        writer.write(head(100) + sent)
        answer = await asyncio.wait_for(reader.read(), 10.0)
        writer.close()
    status, _, body = answer.partition(b"\r\n\r\n")
    assert status.startswith(b"HTTP/1.1 408 ")
    assert b"content-type: application/problem+json" in status.lower()
    assert "0.2 s" in json.loads(body)["detail"]


async def test_a_body_that_comes_slowly_but_in_time_is_taken() -> None:
    async with served(ApiValues(request_seconds=30.0, ending_seconds=0.1)) as port:
        reader, writer = await asyncio.open_connection(HOST, port)
        writer.write(head(7))
        for byte in b'{"a":1}':
            await writer.drain()
            writer.write(bytes([byte]))
        assert b" 200 " in await asyncio.wait_for(reader.readline(), 10.0)
        writer.close()


async def test_beyond_its_connections_a_server_refuses_and_takes_again_when_one_ends() -> None:
    async with served(ApiValues(connections=3, ending_seconds=0.1)) as port:
        idle = [await asyncio.open_connection(HOST, port) for _ in range(3)]

        async def status() -> bytes:
            reader, writer = await asyncio.open_connection(HOST, port)
            writer.write(head(2) + b"{}")
            line = await asyncio.wait_for(reader.readline(), 10.0)
            writer.close()
            await writer.wait_closed()
            return line

        async def refused() -> bool:
            return b" 503 " in await status()

        async def taken() -> bool:
            return b" 200 " in await status()

        await eventually(refused)
        for _, writer in idle:
            writer.close()
        await eventually(taken)

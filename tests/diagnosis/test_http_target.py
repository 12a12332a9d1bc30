"""What a probe by HTTP makes of everything a tool may do: a named outcome, in bounded time and memory."""

import asyncio
import json
import socket
import time
import tracemalloc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from agrajag.diagnosis.adapter import MAX_BODY_BYTES, PROBE_HEADER, RawOutcome
from agrajag.diagnosis.probe import ProbeRefusal
from tests.diagnosis.probe_cases import a_network, a_target, call_of, called
from tests.diagnosis.tool_servers import (
    Behaviour,
    ToolServer,
    answers,
    explodes,
    hangs,
    pours,
    says,
    trickles,
)
from tests.waiting import eventually

_REFUSED_PORT = "http://127.0.0.1:1/"


@asynccontextmanager
async def _outcome(behaviour: Behaviour, **given: Any) -> AsyncIterator[tuple[RawOutcome, ToolServer]]:
    async with ToolServer(behaviour) as server:
        yield await called(a_target(server.url()), **given), server


async def test_a_tool_that_answers_works() -> None:
    async with _outcome(answers(200, b'{"hits": 1}', Content_Type="application/json")) as (outcome, _):
        assert (outcome.ok, outcome.status, outcome.body) == (True, 200, b'{"hits": 1}')
        assert (outcome.exception_type, outcome.truncated) == (None, False)
        assert outcome.headers["content-type"] == "application/json"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 418, 429, 500, 503, 599])
async def test_a_tool_that_answers_with_an_error_fails_with_its_status_and_text(status: int) -> None:
    async with _outcome(answers(status, b"no", Retry_After="30")) as (outcome, _):
        assert (outcome.ok, outcome.status, outcome.body) == (False, status, b"no")
        assert outcome.headers["retry-after"] == "30"


async def test_the_declaration_says_which_statuses_are_a_success() -> None:
    async with ToolServer(answers(404)) as server:
        assert (await called(a_target(server.url(), ok_statuses=frozenset({404})))).ok
        assert not (await called(a_target(server.url(), ok_statuses=frozenset({200})))).ok


async def test_the_request_says_that_it_is_a_probe_and_asks_for_no_compression() -> None:
    async with _outcome(answers()) as (_, server):
        (asked,) = server.asked
        assert asked.headers[PROBE_HEADER.lower()] == "probe-1"
        assert asked.headers["accept-encoding"] == "identity"
        assert "authorization" not in asked.headers
        assert "cookie" not in asked.headers


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
async def test_a_sample_is_the_query_of_a_method_that_only_reads(method: str) -> None:
    async with ToolServer(answers(200, b"x")) as server:
        target = a_target(server.url("/find?lang=de"), method=method, headers={"Accept": "text/plain"})
        outcome = await called(target, sample={"q": "ä b&c", "n": 3, "deep": True, "tag": ["x", "y"]})
        assert outcome.ok
        (asked,) = server.asked
        assert (asked.method, asked.body, asked.headers["accept"]) == (method, b"", "text/plain")
        assert asked.path == "/find?lang=de&q=%C3%A4+b%26c&n=3&deep=true&tag=x&tag=y"


async def test_a_sample_is_the_json_body_of_any_other_method() -> None:
    async with ToolServer(answers()) as server:
        target = a_target(server.url(), method="POST", read_only_call=True)
        await called(target, sample={"q": {"deep": [1, None]}})
        (asked,) = server.asked
        assert (asked.method, json.loads(asked.body)) == ("POST", {"q": {"deep": [1, None]}})
        assert asked.headers["content-type"] == "application/json"


async def test_a_sample_that_is_no_query_is_refused_before_anything_is_sent() -> None:
    async with ToolServer(answers()) as server:
        found = await call_of(a_target(server.url()), sample={"q": {"deep": 1}})
        assert (found, server.connections) == (ProbeRefusal.SAMPLE_REFUSED, 0)


@pytest.mark.parametrize(
    ("behaviour", "status", "named"),
    [
        (hangs(), None, "TimeoutError"),
        (hangs(b"HTTP/1.1 200 OK\r\nContent-Le"), None, "TimeoutError"),
        (hangs(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), 200, "TimeoutError"),
        (trickles(), 200, "TimeoutError"),
        (trickles(503), 503, "TimeoutError"),
    ],
    ids=["no word", "half a head", "half a body", "a trickle", "a trickle of an error"],
)
async def test_a_tool_that_does_not_come_to_an_end_has_failed_at_the_deadline(
    behaviour: Behaviour, status: int | None, named: str
) -> None:
    started = time.monotonic()
    async with _outcome(behaviour, seconds=0.3) as (outcome, server):
        assert time.monotonic() - started < 3
        assert (outcome.ok, outcome.status, outcome.exception_type) == (False, status, named)
        await asyncio.wait_for(server.abandoned.wait(), 5)


@pytest.mark.parametrize("status", [200, 500])
async def test_of_five_gigabytes_the_beginning_is_read(status: int) -> None:
    tracemalloc.start()
    try:
        started = time.monotonic()
        async with _outcome(pours(5_000_000_000, status), seconds=20) as (outcome, server):
            assert (outcome.ok, outcome.status, outcome.truncated) == (status == 200, status, True)
            assert outcome.body == b"x" * MAX_BODY_BYTES
            await asyncio.wait_for(server.abandoned.wait(), 5)
        assert time.monotonic() - started < 10
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


async def test_a_body_that_is_compressed_is_not_unfolded() -> None:
    tracemalloc.start()
    try:
        async with ToolServer(explodes()) as server:
            tracemalloc.reset_peak()
            outcome = await called(a_target(server.url()))
            assert tracemalloc.get_traced_memory()[1] < 5_000_000
        assert (outcome.ok, outcome.status, outcome.body) == (True, 200, b"")
        assert outcome.message is not None
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("raw", "named"),
    [
        (b"", "RemoteProtocolError"),
        (b"220 mail.example.com ESMTP\r\n", "RemoteProtocolError"),
        (b"\x00\xff" * 5_000, "RemoteProtocolError"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100_000, "RemoteProtocolError"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "RemoteProtocolError"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "RemoteProtocolError"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "RemoteProtocolError"),
        (b"HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n", None),
    ],
    ids=[
        "nothing", "another protocol", "noise", "a head without end", "half a body", "a length below zero",
        "chunks that are none", "a status that is none",
    ],
)  # fmt: skip
async def test_what_is_no_http_is_a_failure_with_a_name(raw: bytes, named: str | None) -> None:
    async with _outcome(says(raw)) as (outcome, _):
        assert not outcome.ok
        assert outcome.exception_type == (named and f"httpx2.{named}")


async def test_a_port_where_nobody_listens_is_a_refused_connection() -> None:
    outcome = await called(a_target(_REFUSED_PORT))
    assert (outcome.ok, outcome.status, outcome.exception_type) == (False, None, "httpx2.ConnectError")
    assert "ConnectionRefusedError" in outcome.exception_chain


async def test_a_host_without_an_address_is_an_unknown_host() -> None:
    async def nowhere(host: str, port: int) -> Sequence[str]:
        return []

    outcome = await called(a_target("http://tool.example.com/"), network=a_network(nowhere))
    assert (outcome.ok, outcome.exception_type) == (False, "socket.gaierror")


async def test_a_resolver_that_hangs_or_is_away_says_nothing_about_the_tool() -> None:
    async def never(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        raise AssertionError

    async def away(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    target = a_target("http://tool.example.com/")
    for resolve in (never, away):
        network = replace(a_network(resolve), lookup_seconds=0.1)
        assert await call_of(target, network=network) is ProbeRefusal.NO_NETWORK


_BROADCAST = "127.255.255.255"
"""There is no way to it by TCP, from any machine."""


async def test_a_machine_that_has_no_way_to_a_tool_says_nothing_about_it() -> None:
    assert await call_of(a_target(f"http://{_BROADCAST}:9/")) is ProbeRefusal.NO_NETWORK


@pytest.mark.parametrize("addresses", [[_BROADCAST, "127.0.0.1"], ["127.0.0.1", _BROADCAST]])
async def test_what_one_address_tells_counts_though_there_is_no_way_to_another(addresses: list[str]) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    outcome = await called(a_target("http://tool.example.com:1/"), network=a_network(resolve))
    assert "ConnectionRefusedError" in outcome.exception_chain


async def test_a_certificate_that_nobody_vouches_for_is_a_tls_failure_and_no_refused_connection() -> None:
    async with ToolServer(answers(), tls=True) as server:
        outcome = await called(a_target(server.url()), secret="t0ken")
        assert (outcome.ok, outcome.exception_type) == (False, "ssl.SSLCertVerificationError")
        assert "ConnectError" not in str(outcome.exception_chain)
        assert server.asked == []


async def test_a_certificate_of_another_host_is_a_tls_failure_though_the_address_is_right() -> None:
    async with ToolServer(answers(), tls=True) as server:

        async def resolve(host: str, port: int) -> Sequence[str]:
            return ["127.0.0.1"]

        network = a_network(resolve, trusts_tests=True)
        other = await called(a_target(server.url(host="tool.example.com")), network=network)
        assert (other.ok, other.exception_type) == (False, "ssl.SSLCertVerificationError")
        assert (await called(a_target(server.url()), network=network)).ok


async def test_plain_http_where_tls_is_spoken_and_the_other_way_round_are_failures() -> None:
    async with ToolServer(answers(), tls=True) as secured, ToolServer(hangs()) as plain:
        one = await called(a_target(secured.url().replace("https", "http")), seconds=2)
        other = await called(a_target(plain.url().replace("http", "https")), seconds=0.5)
        assert (one.ok, other.ok) == (False, False)
        assert other.exception_type == "TimeoutError"


async def test_the_name_of_the_host_stays_in_the_request() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    async with ToolServer(answers()) as server:
        target = a_target(server.url(host="tool.example.com"))
        assert (await called(target, network=a_network(resolve))).ok
        assert server.asked[0].headers["host"] == f"tool.example.com:{server.port}"


async def test_the_next_address_of_a_host_is_tried_where_one_is_away() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.2", "127.0.0.1"]

    async with ToolServer(answers()) as server:
        target = a_target(server.url(host="tool.example.com"))
        assert (await called(target, network=a_network(resolve))).ok


async def test_the_next_address_of_a_host_is_tried_where_one_is_silent() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.2", "127.0.0.1"]

    network = replace(a_network(resolve), connect_seconds=0.2)
    async with ToolServer(hangs()) as server, await asyncio.start_server(silent, "127.0.0.2", server.port):
        outcome = await called(
            a_target(server.url(host="tool.example.com").replace("http", "https")), network=network, seconds=1
        )
        assert outcome.exception_type != "httpx2.ConnectTimeout"
        await eventually(lambda: server.connections)


@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
@pytest.mark.parametrize("behaviour", [hangs(), trickles()], ids=["hang", "trickle"])
async def test_a_cancellation_ends_a_call_at_once_and_leaves_no_socket(
    behaviour: Behaviour, tls: bool
) -> None:
    async with ToolServer(behaviour, tls=tls) as server:
        network = a_network(trusts_tests=True)
        call = asyncio.create_task(call_of(a_target(server.url()), seconds=60, network=network))
        await eventually(lambda: server.asked)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(server.abandoned.wait(), 5)


@pytest.mark.filterwarnings("error::ResourceWarning")
async def test_a_call_that_is_cancelled_while_tls_begins_leaves_no_socket() -> None:
    left = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1_000):
            pass
        left.set()
        writer.close()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        outcome = await called(a_target(f"https://127.0.0.1:{port}/"), seconds=0.2)
        assert outcome.exception_type == "TimeoutError"
        await asyncio.wait_for(left.wait(), 5)


async def test_the_environment_says_nothing_about_how_a_tool_is_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, _REFUSED_PORT)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with _outcome(answers()) as (outcome, _):
        assert outcome.ok

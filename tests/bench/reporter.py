"""What a service pays for each failing call that it reports."""

import gc
import time
from statistics import median

import httpx

from agrajag.client.call import Call
from agrajag.client.reporter import ToolErrorReporter
from agrajag.errors import TransientError
from agrajag.wire.clients import KafkaConnection, admin_client
from agrajag.wire.topic_admin import ensure_topics
from agrajag.wire.topics import Topics

TURNS = 40
CALLS = 100
_BODY = '{"error": {"code": "upstream_unavailable", "message": "the upstream server did not answer in time"}}'


async def measure(bootstrap_servers: str) -> dict[str, float]:
    """`client.report_us`: the caller's CPU for a report of a failed HTTP call, each with another text.

    `client.report_repeat_us`: the same where each is equal to the one before. The median of short turns, while another
    thread sends what was reported.
    """
    connection, topics = KafkaConnection(bootstrap_servers), Topics("bench-reporter", partitions=4)
    async with admin_client(connection) as admin:
        await ensure_topics(admin, topics)
    async with ToolErrorReporter(connection, topics, tenant_id="acme") as reporter:
        distinct, repeated = [], []
        gc.collect()
        for turn in range(TURNS + 1):
            failures = [_failure(f"{turn}-{number}") for number in range(CALLS)]
            distinct.append(_taken_us(reporter, failures))
            repeated.append(_taken_us(reporter, [failures[0]] * CALLS))
            await _flushed(reporter)
        assert reporter.dropped() == {}
    return {"client.report_us": median(distinct[1:]), "client.report_repeat_us": median(repeated[1:])}


def _failure(request_id: str) -> httpx.HTTPStatusError:
    request = httpx.Request("GET", f"https://api.example.com/v1/search?request={request_id}")
    response = httpx.Response(502, headers={"x-request-id": request_id}, text=_BODY, request=request)
    return httpx.HTTPStatusError(
        f"Server error '502 Bad Gateway' for url '{request.url}'", request=request, response=response
    )


def _taken_us(reporter: ToolErrorReporter, failures: list[httpx.HTTPStatusError]) -> float:
    call = Call("acme", "search", project_id="p", user_id="alice", session_id="s")
    started = time.thread_time()
    for failure in failures:
        reporter.report(call, failure)
    return (time.thread_time() - started) / len(failures) * 1e6


async def _flushed(reporter: ToolErrorReporter) -> None:
    while True:
        try:
            return await reporter.flush_async()
        except TransientError:
            continue

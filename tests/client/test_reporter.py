import asyncio
import os
import time
from collections.abc import Callable
from typing import NamedTuple

import httpx
import pytest
from structlog.testing import capture_logs

from agrajag.client.call import Call
from agrajag.client.outbox import Limits
from agrajag.client.reporter import ToolErrorReporter
from agrajag.embedded import EmbeddedKafka
from agrajag.errors import PermanentError
from agrajag.metrics import DropReason
from agrajag.model.enums import CredentialKind, Status, Transport
from agrajag.model.events import ErrorReport, ToolCallError
from agrajag.model.health import VerdictFacet
from agrajag.model.keys import tool_key
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.partition import partition_for
from agrajag.wire.topics import Topic
from tests.builders import a_health
from tests.client.reporting import PARTITIONS, Known, Place, now

NOWHERE = KafkaConnection("127.0.0.1:1")
CALL = Call("acme", "search", user_id="alice", transport=Transport.HTTP, credential_kind=CredentialKind.USER)


@pytest.fixture
async def place(kafka: EmbeddedKafka, topic_prefix: str) -> Place:
    return await Place.made(kafka, topic_prefix)


def _reporter(place: Place, health: Known | None = None, window_seconds: float = 60.0) -> ToolErrorReporter:
    return ToolErrorReporter(
        place.connection,
        place.topics,
        tenant_id="acme",
        health=health,
        limits=Limits(window_seconds=window_seconds),
    )


async def test_an_error_comes_to_its_partition_as_a_cloud_event_and_says_all_that_is_known(
    place: Place,
) -> None:
    began = now()
    async with _reporter(place) as reporter:
        event_id = reporter.report(CALL, httpx.Response(502, text="Bad Gateway"))
    (record,) = await place.records(Topic.TOOL_CALL_ERRORS)
    headers = dict(record.headers)
    assert record.key == tool_key("acme", "search").encode()
    assert record.partition == partition_for(record.key, PARTITIONS)
    assert headers["ce_id"].decode() == event_id
    assert headers["ce_type"] == b"agrajag.tool-call-error.v1"
    assert headers["ce_source"] == b"agrajag/client"
    (event,) = await place.errors()
    assert event.occurred_at is not None
    assert began <= event.occurred_at <= now()
    assert event == ToolCallError(
        event_id=event_id,
        occurred_at=event.occurred_at,
        tenant_id="acme",
        tool_name="search",
        user_id="alice",
        transport=Transport.HTTP,
        credential_kind=CredentialKind.USER,
        error=ErrorReport(
            http_status=502,
            headers={"content-length": "11", "content-type": "text/plain; charset=utf-8"},
            body="Bad Gateway",
        ),
    )


async def test_a_thousand_equal_failures_are_two_records_that_stand_for_all(place: Place) -> None:
    async with _reporter(place) as reporter:
        ids = {reporter.report(CALL, TimeoutError("late")) for _ in range(1_000)}
    events = await place.errors()
    assert sorted(event.count for event in events) == [1, 999]
    assert {event.event_id for event in events} == ids


async def test_a_watched_call_is_reported_as_it_ends_and_nothing_is_kept_from_the_caller(
    place: Place,
) -> None:
    response = httpx.Response(503)
    async with _reporter(place) as reporter:
        with pytest.raises(KeyError), reporter.watch("a", user="alice", project="p") as raised:
            raise KeyError("x")
        async with reporter.watch("b") as returned:
            assert returned.result(response) is response
        with reporter.watch("c") as worked:
            assert worked.result("fine") == "fine"
        with pytest.raises(asyncio.CancelledError):
            async with reporter.watch("d"):
                raise asyncio.CancelledError
    events = {event.tool_name: event for event in await place.errors()}
    assert set(events) == {"a", "b"}
    assert (events["a"].user_id, events["a"].project_id) == ("alice", "p")
    assert (events["a"].event_id, events["a"].error.exception_type) == (raised.event_id, "KeyError")
    assert (events["b"].event_id, events["b"].error.http_status) == (returned.event_id, 503)
    assert worked.event_id is None


async def test_a_call_made_while_another_failure_is_handled_is_not_blamed_on_that(place: Place) -> None:
    async with _reporter(place) as reporter:
        try:
            raise ConnectionRefusedError
        except ConnectionRefusedError:
            with pytest.raises(ValueError, match="own"), reporter.watch("fallback"):
                raise ValueError("own")  # noqa: B904 - that is what it is about
    (event,) = await place.errors()
    assert event.error.exception_chain == ()


async def test_a_success_is_sent_only_while_the_tool_is_not_well_and_once_a_second(place: Place) -> None:
    verdict = VerdictFacet(status=Status.DOWN, since=now())
    health = Known(
        a_health(tenant_id="acme", tool_name="down", verdict=verdict),
        a_health(tenant_id="acme", tool_name="well"),
    )
    async with _reporter(place, health) as reporter:
        told = [reporter.succeeded(reporter.call(tool)) for tool in ("down", "down", "well", "unknown")]
    (success,) = await place.successes()
    assert told == [success.event_id, None, None, None]
    assert (success.tool_name, success.tenant_id) == ("down", "acme")


async def test_the_first_success_after_a_failure_is_sent_however_soon(place: Place) -> None:
    health = Known(
        a_health(tenant_id="acme", tool_name="x", verdict=VerdictFacet(status=Status.DOWN, since=now()))
    )
    async with _reporter(place, health) as reporter:
        call = reporter.call("x")
        told = [reporter.succeeded(call), reporter.report(call, TimeoutError()), reporter.succeeded(call)]
    assert None not in told
    assert len(await place.successes()) == 2


async def test_without_a_view_no_success_is_sent(place: Place) -> None:
    async with _reporter(place) as reporter:
        assert reporter.succeeded(CALL) is None
        reporter.report(CALL, TimeoutError())
    assert await place.successes() == []


async def test_a_flush_returns_when_the_brokers_have_what_was_reported_repeats_included(place: Place) -> None:
    async with _reporter(place) as reporter:
        for _ in range(3):
            reporter.report(CALL, TimeoutError())
        await reporter.flush_async(30)
        assert sum(event.count for event in await place.errors()) == 3
        assert len(reporter) == 0


async def test_an_id_that_cannot_be_one_costs_its_own_report_alone(place: Place) -> None:
    with capture_logs() as logs:
        async with _reporter(place) as reporter:
            reporter.report(Call("acme", "bad\nname"), TimeoutError())
            reporter.report(CALL, TimeoutError())
        assert reporter.dropped() == {DropReason.INVALID: 1}
    assert [event.tool_name for event in await place.errors()] == ["search"]
    assert [(line["event"], line["fields"]) for line in logs if "fields" in line] == [
        ("client_report_invalid", ["tool_name"])
    ]


def test_whatever_is_reported_nothing_is_raised_and_it_is_counted() -> None:
    class Hostile(Exception):
        @property
        def response(self) -> object:
            raise RuntimeError("no")

    with ToolErrorReporter(NOWHERE, tenant_id="acme") as reporter:
        assert reporter.report(CALL, Hostile()) is None
        assert reporter.report(Call("acme", ["a", "list"]), TimeoutError()) is None  # type: ignore[arg-type]
        assert reporter.dropped() == {DropReason.UNREADABLE: 2}
        reporter.close(0.01)


def test_before_the_start_and_after_the_end_reports_are_counted_as_dropped_and_it_is_said() -> None:
    reporter = ToolErrorReporter(NOWHERE, tenant_id="acme")
    with capture_logs() as logs:
        assert reporter.report(CALL, TimeoutError()) is None
        reporter.start()
        reporter.close(0.01)
        reporter.close()
        assert reporter.report(CALL, TimeoutError()) is None
    assert reporter.dropped() == {DropReason.UNUSABLE: 2}
    assert [line["unusable"] for line in logs if line["event"] == "client_reports_dropped"] == [1]
    for refused in (reporter.start, reporter.flush):
        with pytest.raises(PermanentError, match="closed"):
            refused()


def test_what_the_brokers_do_not_have_at_the_end_is_counted_and_the_end_comes_all_the_same() -> None:
    with capture_logs() as logs:
        reporter = ToolErrorReporter(NOWHERE, tenant_id="acme")
        reporter.start()
        for number in range(3):
            reporter.report(CALL, ValueError(str(number)))
        for _ in range(4):
            reporter.report(CALL, ValueError("0"))
        began = time.monotonic()
        reporter.close(0.2)
    assert time.monotonic() - began < 8
    assert reporter.dropped() == {DropReason.CLOSED: 7}
    assert ("client_reports_dropped", 7) in [(line["event"], line.get("closed")) for line in logs]


def test_a_forked_process_reports_nothing_and_says_so() -> None:
    with ToolErrorReporter(NOWHERE, tenant_id="acme") as reporter:
        child = os.fork()
        if child == 0:
            told = reporter.report(CALL, TimeoutError())
            reporter.close()
            os._exit(7 if told is None and reporter.dropped() == {DropReason.UNUSABLE: 1} else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert reporter.dropped() == {}


@pytest.mark.slow  # a broker of its own that is stopped and started again, and seconds of errors at a pace
async def test_brokers_that_are_away_stop_nobody_and_lose_nothing_that_there_is_room_for(
    own_kafka: Callable[[], EmbeddedKafka], topic_prefix: str
) -> None:
    """500 errors a second for some seconds without a broker, with room for less than half of them."""
    broker = await asyncio.to_thread(own_kafka)
    place = await Place.made(broker, topic_prefix)
    room, away, back = 800, 1_600, 200
    reporter = ToolErrorReporter(
        place.connection, place.topics, tenant_id="acme", limits=Limits(reports=room)
    )
    async with reporter:
        reporter.report(CALL, ValueError("before"))
        await reporter.flush_async(30)
        await asyncio.to_thread(broker.stop)
        took = await asyncio.to_thread(_reported_at_a_pace, reporter, "away", away)
        assert len(reporter) <= room + 500
        await asyncio.to_thread(broker.start)
        took += await asyncio.to_thread(_reported_at_a_pace, reporter, "back", back)
        await reporter.flush_async(60)
    dropped = reporter.dropped()
    events = await place.errors()
    messages = [event.error.message or "" for event in events]
    assert set(dropped) == {DropReason.FULL}
    assert len({event.event_id for event in events}) + dropped[DropReason.FULL] == 1 + away + back
    assert {f"back {number}" for number in range(back)} <= set(messages)
    assert {f"away {number}" for number in range(away - (room - back), away)} <= set(messages)
    # All but the few in which the interpreter happened to collect its garbage.
    assert sorted(call.own_seconds for call in took)[len(took) * 99 // 100] < 0.005
    # A thread that a busy machine does not run waits too, but not for the many seconds of one that waits for a broker.
    assert max(call.seconds for call in took) < 5.0


class _Took(NamedTuple):
    """What a call took: of the processor in its own thread, and of the caller's time."""

    own_seconds: float
    seconds: float


def _reported_at_a_pace(reporter: ToolErrorReporter, name: str, count: int) -> list[_Took]:
    """So many failures at 500 a second, and what each call took."""
    took = []
    began = time.perf_counter()
    for number in range(count):
        time.sleep(max(0.0, began + number / 500 - time.perf_counter()))
        failure = ValueError(f"{name} {number}")
        started, worked = time.perf_counter(), time.thread_time()
        reporter.report(CALL, failure)
        took.append(_Took(time.thread_time() - worked, time.perf_counter() - started))
    return took

"""Tools inside another service, asked over a real broker and answered by a small service of the test."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeAlias

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord
from aiokafka.admin import NewTopic

from agrajag.core.targets import KafkaCall, Target
from agrajag.diagnosis import kafka_target
from agrajag.diagnosis.adapter import RawOutcome, Secret
from agrajag.diagnosis.kafka_replies import MAX_REPLY_BYTES, ReplyReader
from agrajag.diagnosis.kafka_target import KafkaAdapter
from agrajag.diagnosis.probe import ProbeRefusal, ProbeRequest
from agrajag.embedded import EmbeddedKafka
from agrajag.model.enums import ProbeIdentity
from agrajag.model.probing import ProbeCall
from agrajag.wire.clients import KafkaConnection, admin_client
from agrajag.wire.topics import Topic, Topics
from tests.diagnosis.carrying import REQUEST
from tests.kafka_reading import read_all
from tests.waiting import eventually

IN_TIME = 20.0
TOO_LONG = 1.5
Reply: TypeAlias = tuple[bytes, list[tuple[str, bytes]]]
Service: TypeAlias = Callable[[ConsumerRecord], list[Reply]]


@pytest.fixture
def connection(kafka: EmbeddedKafka) -> KafkaConnection:
    return KafkaConnection(kafka.bootstrap_servers)


@pytest.fixture
async def call(connection: KafkaConnection, topic_prefix: str) -> KafkaCall:
    """Two topics of a service of the test's own."""
    call = KafkaCall(f"svc-{topic_prefix}.requests", f"svc-{topic_prefix}.replies")
    async with admin_client(connection) as admin:
        await admin.create_topics([NewTopic(call.request_topic, 2, 1), NewTopic(call.reply_topic, 2, 1)])
    return call


@pytest.fixture
async def adapter(connection: KafkaConnection, topic_prefix: str) -> AsyncIterator[KafkaAdapter]:
    async with KafkaAdapter(connection, Topics(topic_prefix)) as adapter:
        yield adapter


@asynccontextmanager
async def answering(
    connection: KafkaConnection, call: KafkaCall, service: Service
) -> AsyncIterator[list[ConsumerRecord]]:
    """A service that answers every request by `service`; yields the requests that it got."""
    requests: list[ConsumerRecord] = []
    options = connection.client_options()
    async with (
        AIOKafkaConsumer(call.request_topic, **options, auto_offset_reset="earliest") as consumer,
        AIOKafkaProducer(**options) as producer,
    ):

        async def serve() -> None:
            async for record in consumer:
                requests.append(record)
                for value, headers in service(record):
                    # To one partition: only there are replies read in the order in which they were sent.
                    await producer.send_and_wait(call.reply_topic, value, headers=headers, partition=0)

        serving = asyncio.create_task(serve())
        try:
            yield requests
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)


def correlated(record: ConsumerRecord) -> list[tuple[str, bytes]]:
    return [(name, value) for name, value in record.headers if name == "correlation-id"]


def replying(**fields: Any) -> Service:
    def service(record: ConsumerRecord) -> list[Reply]:
        probe_id = json.loads(record.value)["probeId"]
        return [(json.dumps({"probeId": probe_id, **fields}).encode(), correlated(record))]

    return service


def asking(
    adapter: KafkaAdapter, call: KafkaCall, seconds: float = IN_TIME, request: ProbeRequest = REQUEST
) -> Awaitable[RawOutcome | ProbeRefusal]:
    target = Target("search", "tools.yaml", call)
    return adapter.call(target, Secret("token-of-zaphod"), {"q": "tea"}, request, seconds)


async def test_a_request_tells_who_asks_what_and_until_when_and_holds_no_credential(
    connection: KafkaConnection, call: KafkaCall, adapter: KafkaAdapter
) -> None:
    async with answering(connection, call, replying(success=True, body="tea")) as requests:
        outcome = await asking(adapter, call)
    assert outcome == RawOutcome(ok=True, body=b"tea")
    (record,) = requests
    asked = ProbeCall.from_json(record.value)
    assert record.key == b"sirius|search"
    assert dict(record.headers) == {"correlation-id": b"probe-1", "Agrajag-Probe": b"probe-1"}
    assert (asked.probe_id, asked.tenant_id, asked.project_id, asked.tool_name) == (
        "probe-1",
        "sirius",
        "guide",
        "search",
    )
    assert (asked.identity, asked.user_id) == (ProbeIdentity.USER, "zaphod")
    assert (asked.sample_input, asked.probe) == ({"q": "tea"}, True)
    assert 0 < (asked.deadline - datetime.now(UTC)).total_seconds() < IN_TIME
    assert b"token-of-zaphod" not in record.value


async def test_a_failure_comes_with_all_that_the_rules_look_at(
    connection: KafkaConnection, call: KafkaCall, adapter: KafkaAdapter
) -> None:
    service = replying(
        success=False,
        statusCode=401,
        headers={"Retry-After": "5"},
        body='{"error": "token_expired"}',
        errorCode="E42",
        exceptionType="java.io.IOException",
        usedCredentials=True,
    )
    async with answering(connection, call, service):
        outcome = await asking(adapter, call)
    assert outcome == RawOutcome(
        ok=False,
        status=401,
        headers={"Retry-After": "5"},
        body=b'{"error": "token_expired"}',
        exception_type="java.io.IOException",
        error_code="E42",
        used_credentials=True,
    )


async def test_replies_of_others_and_late_ones_are_passed_over(
    connection: KafkaConnection, call: KafkaCall, adapter: KafkaAdapter
) -> None:
    def service(record: ConsumerRecord) -> list[Reply]:
        other = b'{"probeId":"probe-2","success":false}'
        ours = b'{"probeId":"probe-1","success":true,"body":"ours"}'
        again = b'{"probeId":"probe-1","success":false,"body":"again"}'
        return [
            (b"not json", []),
            (other, []),
            (other, [("correlation-id", b"probe-2")]),
            (b"x" * (MAX_REPLY_BYTES + 1), []),
            (ours, []),  # a service that repeats no headers
            (again, [("correlation-id", b"probe-1")]),
        ]

    async with answering(connection, call, service):
        outcome = await asking(adapter, call)
        assert outcome == RawOutcome(ok=True, body=b"ours")
        # What came twice belongs to no later probe.
        later = await asking(adapter, call, TOO_LONG, replace(REQUEST, probe_id="probe-3"))
    assert isinstance(later, RawOutcome)
    assert later.exception_type == "TimeoutError"


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        (b"x" * (MAX_REPLY_BYTES + 1), "ProbeReplyTooLarge"),
        (b"not json", "ProbeReplyInvalid"),
        (b'{"probeId":"probe-1","success":"yes"}', "ProbeReplyInvalid"),
        (b'{"probeId":"probe-1","success":false,"statusCode":7}', "ProbeReplyInvalid"),
        (b'{"probeId":"probe-2","success":true}', "ProbeReplyInvalid"),
    ],
)
async def test_a_reply_that_says_nothing_usable_is_named(
    connection: KafkaConnection, call: KafkaCall, adapter: KafkaAdapter, reply: bytes, name: str
) -> None:
    async with answering(connection, call, lambda record: [(reply, correlated(record))]):
        outcome = await asking(adapter, call)
    assert isinstance(outcome, RawOutcome)
    assert (outcome.ok, outcome.exception_type) == (False, name)


async def test_no_reply_is_an_outcome_at_the_deadline(
    connection: KafkaConnection, call: KafkaCall, adapter: KafkaAdapter
) -> None:
    def only_the_first(record: ConsumerRecord) -> list[Reply]:
        first = json.loads(record.value)["probeId"] == "first"
        return [(b'{"probeId": "first", "success": true}', [])] if first else []

    async with answering(connection, call, only_the_first):
        # Its clients are there then, so that all of the time is the tool's.
        assert await asking(adapter, call, IN_TIME, replace(REQUEST, probe_id="first")) == RawOutcome(ok=True)
        outcome = await asking(adapter, call, TOO_LONG)
    assert isinstance(outcome, RawOutcome)
    assert (outcome.ok, outcome.exception_type) == (False, "TimeoutError")


async def test_many_probes_share_one_reader_and_each_gets_its_own_reply(
    connection: KafkaConnection, call: KafkaCall, adapter: KafkaAdapter
) -> None:
    def service(record: ConsumerRecord) -> list[Reply]:
        probe_id = json.loads(record.value)["probeId"]
        return [(json.dumps({"probeId": probe_id, "success": True, "body": probe_id}).encode(), [])]

    async with answering(connection, call, service):
        outcomes = await asyncio.gather(
            *(asking(adapter, call, IN_TIME, replace(REQUEST, probe_id=f"p{n}")) for n in range(20))
        )
    assert outcomes == [RawOutcome(ok=True, body=f"p{n}".encode()) for n in range(20)]
    assert len(adapter._readers) == 1


async def test_no_probe_writes_to_or_reads_from_a_topic_of_agrajag_or_of_kafka(
    connection: KafkaConnection, call: KafkaCall, topic_prefix: str, adapter: KafkaAdapter
) -> None:
    topics = Topics(topic_prefix)
    errors, dead_letters = topics.name(Topic.TOOL_CALL_ERRORS), topics.dead_letters(Topic.TOOL_CALL_ERRORS)
    async with admin_client(connection) as admin:
        await admin.create_topics([NewTopic(errors, 1, 1), NewTopic(dead_letters, 1, 1)])
    for name in (errors, dead_letters, "__consumer_offsets"):
        for forbidden in (replace(call, request_topic=name), replace(call, reply_topic=name)):
            assert await asking(adapter, forbidden, TOO_LONG) is ProbeRefusal.ADDRESS_REFUSED
    assert await read_all(connection.bootstrap_servers, errors) == []


async def test_a_topic_that_is_not_there_breaks_the_declaration_and_is_not_made(
    connection: KafkaConnection, call: KafkaCall, adapter: KafkaAdapter
) -> None:
    for missing in (
        replace(call, request_topic=f"{call.request_topic}.x"),
        replace(call, reply_topic=f"{call.reply_topic}.x"),
    ):
        assert await asking(adapter, missing, TOO_LONG) is ProbeRefusal.TARGET_BROKEN
    async with admin_client(connection) as admin:
        assert not {f"{call.request_topic}.x", f"{call.reply_topic}.x"} & set(await admin.list_topics())


async def test_a_cancelled_probe_leaves_nobody_waiting_and_the_next_one_works(
    connection: KafkaConnection, call: KafkaCall, adapter: KafkaAdapter
) -> None:
    asked = asyncio.ensure_future(asking(adapter, call))
    async with answering(connection, call, lambda _record: []) as requests:
        await eventually(lambda: requests)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
    assert adapter._readers[call.reply_topic].is_idle
    async with answering(connection, call, replying(success=True)):
        outcome = await asking(adapter, call, IN_TIME, replace(REQUEST, probe_id="probe-2"))
    assert outcome == RawOutcome(ok=True)


async def test_a_probe_whose_topic_is_read_no_more_is_refused_and_may_be_made_again(
    connection: KafkaConnection, call: KafkaCall, adapter: KafkaAdapter
) -> None:
    asked = asyncio.ensure_future(asking(adapter, call))
    async with answering(connection, call, lambda _record: []) as requests:
        await eventually(lambda: requests)
        await adapter.close()
        assert await asked is ProbeRefusal.NO_NETWORK
    async with answering(connection, call, replying(success=True)):
        assert await asking(adapter, call) == RawOutcome(ok=True)


async def test_readers_that_nobody_waits_on_are_closed_for_others(
    connection: KafkaConnection, call: KafkaCall, adapter: KafkaAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_target, "MAX_READERS", 1)
    other = replace(call, reply_topic=f"{call.reply_topic}.2")
    async with admin_client(connection) as admin:
        await admin.create_topics([NewTopic(other.reply_topic, 1, 1)])
    for each in (call, other, call):
        async with answering(connection, each, replying(success=True)):
            assert await asking(adapter, each) == RawOutcome(ok=True)
        assert list(adapter._readers) == [each.reply_topic]


async def test_a_reply_topic_that_is_slow_to_open_holds_up_no_probe_of_another(
    connection: KafkaConnection, call: KafkaCall, adapter: KafkaAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = f"{call.reply_topic}.slow"
    opened, is_opening = ReplyReader.open, asyncio.Event()

    async def open_at_last(reader: ReplyReader) -> None:
        if reader.topic == slow:
            is_opening.set()
            await asyncio.Event().wait()
        await opened(reader)

    monkeypatch.setattr(ReplyReader, "open", open_at_last)
    held_up = asyncio.ensure_future(asking(adapter, replace(call, reply_topic=slow), TOO_LONG))
    async with asyncio.timeout(IN_TIME):
        await is_opening.wait()
    async with answering(connection, call, replying(success=True)):
        assert await asking(adapter, call) == RawOutcome(ok=True)
    assert await held_up is ProbeRefusal.NO_NETWORK


async def test_a_reader_that_is_slow_to_close_holds_up_no_probe(
    connection: KafkaConnection, call: KafkaCall, adapter: KafkaAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_target, "MAX_READERS", 1)
    closed, may_close = ReplyReader.close, asyncio.Event()

    async def close_at_last(reader: ReplyReader) -> None:
        await may_close.wait()
        await closed(reader)

    monkeypatch.setattr(ReplyReader, "close", close_at_last)
    other = replace(call, reply_topic=f"{call.reply_topic}.2")
    async with admin_client(connection) as admin:
        await admin.create_topics([NewTopic(other.reply_topic, 1, 1)])
    for each in (call, other, call):
        async with answering(connection, each, replying(success=True)):
            assert await asking(adapter, each) == RawOutcome(ok=True)
    may_close.set()
    await adapter.close()
    assert not adapter._closing


async def test_a_reader_whose_closing_is_cancelled_has_ended_its_client(
    connection: KafkaConnection, call: KafkaCall
) -> None:
    reader = ReplyReader(connection, call.reply_topic)
    await reader.open()
    consumer = reader._consumer
    assert consumer is not None
    closing = asyncio.create_task(reader.close())
    asyncio.get_running_loop().call_soon(closing.cancel)  # as soon as it waits for the first time
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert consumer._closed


async def test_that_kafka_is_away_says_nothing_about_a_tool() -> None:
    async with KafkaAdapter(KafkaConnection("127.0.0.1:1"), Topics("agrajag")) as adapter:
        asked = asking(adapter, KafkaCall("tools.requests", "tools.replies"), TOO_LONG)
        assert await asked is ProbeRefusal.NO_NETWORK

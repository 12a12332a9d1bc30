"""Past errors are found again by their id, in the topic and among its dead letters, and read each once."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest_asyncio
from aiokafka import AIOKafkaProducer, ConsumerRecord
from aiokafka.admin import NewTopic

from agrajag.core.verdicts import Arrival
from agrajag.embedded import EmbeddedKafka
from agrajag.errors import InputError
from agrajag.model.events import ToolCallError
from agrajag.wire.clients import KafkaConnection, admin_client
from agrajag.wire.dead_letters import dead_letter
from agrajag.wire.origin import Origins
from agrajag.wire.outputs import Output
from agrajag.wire.partition import partition_for
from agrajag.wire.past_errors import Given, PastErrors, Scanned, SetAside, arrival_of
from agrajag.wire.topics import Topic, Topics
from tests.builders import NOW, an_error
from tests.wire.records import EVENT, received

_KEY = b"acme|search"


class Errors:
    """The topic of one test and its dead letters."""

    def __init__(self, connection: KafkaConnection, prefix: str) -> None:
        self.connection = connection
        self.topics = Topics(prefix, partitions=2)
        self.name = self.topics.name(Topic.TOOL_CALL_ERRORS)
        self.right = partition_for(_KEY, 2)

    async def create(self) -> None:
        wanted = {self.name, self.topics.dead_letters(Topic.TOOL_CALL_ERRORS)}
        planned = [topic for topic in self.topics.planned() if topic.name in wanted]
        async with admin_client(self.connection) as admin:
            await admin.create_topics(
                [NewTopic(one.name, one.partitions, 1, topic_configs=one.config) for one in planned]
            )

    async def send(self, *records: Output) -> None:
        async with AIOKafkaProducer(**self.connection.producer_options()) as producer:
            for record in records:
                await producer.send_and_wait(
                    record.topic, record.value, record.key, record.partition, headers=list(record.headers)
                )

    def record(
        self, value: Any, headers: tuple[tuple[str, bytes], ...] = (), partition: int | None = None
    ) -> Output:
        raw = value if isinstance(value, bytes) else orjson.dumps(value)
        return Output(self.name, _KEY, raw, headers, self.right if partition is None else partition)

    def letter(self, record: ConsumerRecord, reason: str) -> Output:
        return dead_letter(
            record, InputError(reason, "what was wrong"), self.topics.dead_letters(Topic.TOOL_CALL_ERRORS)
        )

    def past(self) -> PastErrors:
        return PastErrors(self.connection, self.topics, Origins(2))


@pytest_asyncio.fixture
async def errors(kafka: EmbeddedKafka, topic_prefix: str) -> AsyncIterator[Errors]:
    made = Errors(KafkaConnection(kafka.bootstrap_servers), topic_prefix)
    await made.create()
    yield made


async def _all(past: PastErrors, start: datetime) -> list[Arrival[ToolCallError]]:
    async with aclosing(past.since(start)) as found:
        return [one async for one in found]


async def test_an_error_is_found_by_the_id_that_its_check_result_has(errors: Errors) -> None:
    await errors.send(
        errors.record(EVENT | {"eventId": "first", "toolName": "other"}),
        errors.record(EVENT | {"eventId": "wanted", "tenantId": "globex"}),
        errors.record(EVENT | {"eventId": "wanted", "error": {"body": "mentions first and e-2"}}),
        errors.record({**EVENT, "eventId": None}, (("ce_id", b"7"), ("ce_source", b"urn:x"))),
        errors.record(b"{}"),
        errors.record(orjson.dumps(EVENT | {"eventId": "sla/sh"}).replace(b"/", rb"\/")),
    )
    found = await errors.past().find("wanted")
    assert isinstance(found, Arrival)
    assert found.event.tenant_id == "globex"
    own = await errors.past().find("wanted", "acme")
    assert isinstance(own, Arrival)
    assert (own.event.tenant_id, own.offset, own.origin) == ("acme", 2, f"{errors.name}-{errors.right}")
    assert own.appended_ms > datetime(2020, 1, 1, tzinfo=UTC).timestamp() * 1000
    enveloped = await errors.past().find("urn:x#7")
    assert isinstance(enveloped, Arrival)
    assert enveloped.offset == 3
    escaped = await errors.past().find("sla/sh")
    assert isinstance(escaped, Arrival)
    assert escaped.offset == 5


async def test_an_error_without_an_id_is_found_by_its_place_also_from_its_copy(errors: Errors) -> None:
    wrong = 1 - errors.right
    nameless = {name: value for name, value in EVENT.items() if name != "eventId"}
    await errors.send(errors.record(nameless, partition=wrong))
    place = f"{errors.name}-{wrong}-0"
    original = received(nameless, topic=errors.name, partition=wrong, offset=0)
    await errors.send(Origins(2).republished(original, _KEY, errors.right))
    found = await errors.past().find(place)
    assert isinstance(found, Arrival)
    assert found.event_id == place
    (once,) = await _all(errors.past(), NOW)
    assert (once.event_id, once.origin, once.offset) == (place, f"{errors.name}-{wrong}", 0)


async def test_what_was_set_aside_is_found_with_its_reason_whether_it_can_be_read_or_not(
    errors: Errors,
) -> None:
    broken = received(
        EVENT | {"eventId": "broken", "error": {"httpStatus": 7}}, topic=errors.name, partition=0, offset=8
    )
    garbage = received(b"garbage", topic=errors.name, partition=1, offset=9)
    readable = received(EVENT | {"eventId": "whole"}, topic=errors.name, partition=1, offset=10)
    await errors.send(
        errors.record(EVENT),
        errors.letter(broken, "invalid_field"),
        errors.letter(garbage, "not_json"),
        errors.letter(readable, "processing_failed"),
        Output(errors.topics.dead_letters(Topic.TOOL_CALL_ERRORS), b"", b"no letter, eventId broken", (), 0),
    )
    found = await errors.past().find("broken")
    assert found == SetAside(f"{errors.name}-0-8", "invalid_field", "what was wrong", None)
    by_place = await errors.past().find(f"{errors.name}-1-9")
    assert isinstance(by_place, SetAside)
    assert (by_place.reason, by_place.arrival) == ("not_json", None)
    whole = await errors.past().find("whole", "acme")
    assert isinstance(whole, SetAside)
    assert whole.arrival is not None
    assert (whole.arrival.event_id, whole.arrival.offset) == ("whole", 10)
    assert whole.arrival.appended_ms == readable.timestamp
    assert await errors.past().find("whole", "globex") is None


async def test_what_is_not_there_is_none_and_it_is_told_how_much_was_read(errors: Errors) -> None:
    await errors.send(*(errors.record(EVENT | {"eventId": f"e{n}"}) for n in range(3)), errors.record(b"x"))
    past = errors.past()
    assert await past.find("e") is None
    assert past.scanned.records == 4
    assert past.scanned.oldest is not None
    assert datetime.now(UTC) - past.scanned.oldest < timedelta(minutes=5)


async def test_all_readable_errors_since_a_moment_are_read(errors: Errors) -> None:
    await errors.send(*(errors.record(EVENT | {"eventId": f"e{n}"}) for n in range(3)), errors.record(b"x"))
    assert [one.event_id for one in await _all(errors.past(), NOW)] == ["e0", "e1", "e2"]
    assert await _all(errors.past(), datetime.now(UTC) + timedelta(minutes=1)) == []


async def test_the_progress_is_told_now_and_then(errors: Errors) -> None:
    async with AIOKafkaProducer(**errors.connection.producer_options()) as producer:
        waiting = [await producer.send(errors.name, b"x", partition=0) for _ in range(5_000)]
        for acknowledgement in waiting:
            await acknowledgement
    told: list[int] = []

    def tell(scanned: Scanned) -> None:
        told.append(scanned.records)

    assert await PastErrors(errors.connection, errors.topics, Origins(2), tell).find("nothing") is None
    assert told == [5_000]


def test_an_error_that_is_handed_over_is_taken_up_as_if_it_had_been_read() -> None:
    arrival = arrival_of(Given(an_error(event_id=None).to_json(), timestamp=int(NOW.timestamp() * 1000)))
    assert (arrival.event_id, arrival.appended_at) == ("given-0-0", NOW)
    assert arrival.event.tenant_id == "acme"

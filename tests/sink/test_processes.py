"""What a sink makes of the work of service engines and of the inbox, on a real broker and a real store."""

from datetime import timedelta
from typing import Any

from pymongo import AsyncMongoClient

from agrajag.core.stories import Told, stories
from agrajag.model.enums import InboxStatus, ProcessStatus, SessionStatus, ToolCallStatus
from agrajag.model.processes import ProcessRecord
from agrajag.sink import ROUTES, compare
from agrajag.store import AuditCollection, InboxCollection, ProcessCollection, Store
from agrajag.wire import dead_letters as letters
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.outputs import Output
from agrajag.wire.process_records import process_output
from agrajag.wire.tombstones import tombstone
from agrajag.wire.topics import Topic, Topics
from tests.builders import (
    NOW,
    a_process_event,
    a_session_event,
    a_tool_call_event,
    a_usage,
    an_inbox_item,
)
from tests.kafka_reading import read_all
from tests.sink.running import mirrored

_STEPS = [
    a_process_event(status, at=NOW + timedelta(seconds=number)) for number, status in enumerate(ProcessStatus)
]
_CALLS = [
    a_tool_call_event(arguments="{}"),
    a_tool_call_event(ToolCallStatus.READY, observation='{"success": true}', at=NOW + timedelta(seconds=1)),
]
_SESSIONS = [a_session_event(seq=1), a_session_event(SessionStatus.SUSPENDED, seq=2)]
_TOLD: list[Told] = [*_STEPS, *_CALLS, a_usage(tokens=12)]


async def test_what_a_process_told_stands_in_the_store_whatever_comes_late_or_twice(
    connection: KafkaConnection, topics: Topics, store_uri: str, database: str, opened: Store
) -> None:
    records: list[ProcessRecord] = [*reversed(_TOLD), *_TOLD, *_SESSIONS, _SESSIONS[0]]
    outputs = [process_output(topics, record, "agrajag/service") for record in records]
    await mirrored(connection, topics, store_uri, database, outputs)
    assert await opened.processes.of_job("acme", "job-1") == [_STEPS[-1]]
    assert await opened.audit.story("acme", "proc-1") == stories(_TOLD)[0]
    assert await opened.sessions.of_tenant("acme") == [_SESSIONS[-1]]
    route = next(route for route in ROUTES if route.topic is Topic.PROCESS_EVENTS)
    for collection, documents in ((ProcessCollection, 1), (AuditCollection, len(_TOLD))):
        books = await compare(connection, topics, opened, route, collection)
        assert (books.documents, books.differences) == (documents, ())


async def test_an_unknown_kind_becomes_a_dead_letter_and_the_next_record_is_written(
    connection: KafkaConnection, topics: Topics, store_uri: str, database: str, opened: Store
) -> None:
    step = process_output(topics, _STEPS[0], "agrajag/service")
    unknown = step._replace(value=b'{"kind": "gossip", "processId": "proc-1"}')
    await mirrored(connection, topics, store_uri, database, [unknown, step])
    dlq = topics.dead_letters(Topic.PROCESS_EVENTS)
    (letter,) = await read_all(connection.bootstrap_servers, dlq)
    headers = dict(letter.headers)
    assert (letter.key, letter.value) == (unknown.key, unknown.value)
    assert headers[letters.REASON] == b"invalid_field"
    assert headers[letters.DETAIL].startswith(b"kind: ")
    assert await opened.processes.of_job("acme", "job-1") == [_STEPS[0]]


async def test_a_record_that_two_collections_refuse_becomes_one_dead_letter(
    connection: KafkaConnection, topics: Topics, store_uri: str, database: str, opened: Store
) -> None:
    async with AsyncMongoClient[dict[str, Any]](store_uri) as client:
        for collection in (opened.processes, opened.audit):
            await client[database].command(
                "collMod", collection.name, validator={"processId": {"$ne": "proc-1"}}
            )
    refused = process_output(topics, _STEPS[0], "agrajag/service")
    other = process_output(topics, a_process_event(process_id="proc-2"), "agrajag/service")
    await mirrored(connection, topics, store_uri, database, [refused, other])
    (letter,) = await read_all(connection.bootstrap_servers, topics.dead_letters(Topic.PROCESS_EVENTS))
    assert (letter.key, letter.value) == (refused.key, refused.value)
    assert b"refused by the store" in dict(letter.headers)[letters.DETAIL]
    assert [event.process_id for event in await opened.processes.of_job("acme", "job-1")] == ["proc-2"]


async def test_the_inbox_shows_the_newest_of_each_item_and_forgets_what_is_removed(
    connection: KafkaConnection, topics: Topics, store_uri: str, database: str, opened: Store
) -> None:
    name = topics.name(Topic.INBOX_ITEMS)
    items = [
        an_inbox_item(revision=2, status=InboxStatus.ARCHIVED),
        an_inbox_item(revision=1),
        an_inbox_item(item_id="open", revision=3, title="newest"),
        an_inbox_item(item_id="open", revision=2),
        an_inbox_item(item_id="gone", revision=4),
    ]
    outputs = [Output(name, item.item_id.encode(), item.to_json()) for item in items]
    outputs.append(tombstone(name, b"gone", 5))
    outputs.append(outputs[-2])
    await mirrored(connection, topics, store_uri, database, outputs)
    assert await opened.inbox.open_items("acme", "alice") == [items[2]]
    route = next(route for route in ROUTES if route.topic is Topic.INBOX_ITEMS)
    assert (await compare(connection, topics, opened, route, InboxCollection)).differences == ()

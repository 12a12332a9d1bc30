"""The stream of changes over HTTP, of a real topic: what is told to whom, and that nothing is missed or told twice."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from itertools import count
from random import Random

import pytest
from aiokafka import AIOKafkaProducer

from agrajag.api.changes.cursor import Cursor, cursor_text, read_cursor
from agrajag.api.permissions import Role
from agrajag.metrics import REGISTRY, STREAM_RESETS, STREAMS_ENDED
from agrajag.model.enums import Scope, Status
from agrajag.model.health import ToolHealth
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.outputs import Output
from agrajag.wire.tombstones import tombstone
from agrajag.wire.topics import Topic
from tests.api.changes.reading import Event, Follower, heard, opened
from tests.api.changes.running import another, follower
from tests.api.running import USERS, RunningApi, bearer, key_of
from tests.builders import a_cooldown, a_health
from tests.waiting import eventually
from tests.wire.records import counting

_NUMBERS = count(1)
_PATH = "/brain/acme/changes"


@pytest.fixture
def tool() -> str:
    """The name of a tool that no other test has."""
    return f"tool-{next(_NUMBERS)}"


def record(api: RunningApi, health: ToolHealth) -> Output:
    return Output(api.parts.topics.name(Topic.HEALTH_CHANGED), key_of(health).encode(), health.to_json())


def removal(api: RunningApi, health: ToolHealth, revision: int) -> Output:
    return tombstone(api.parts.topics.name(Topic.HEALTH_CHANGED), key_of(health).encode(), revision)


async def sent(api: RunningApi, *records: Output) -> None:
    """Returns when the broker has them; they are sent as fast as it takes them."""
    await asyncio.wrap_future(
        asyncio.run_coroutine_threadsafe(_sent(api.parts.connection, records), api.loop)
    )


async def _sent(connection: KafkaConnection, records: Sequence[Output]) -> None:
    async with AIOKafkaProducer(**connection.producer_options()) as producer:
        sending = [
            await producer.send(one.topic, one.value, one.key, headers=list(one.headers)) for one in records
        ]
        await asyncio.gather(*sending)


async def shown(api: RunningApi, *documents: ToolHealth) -> None:
    await asyncio.to_thread(api.show, *documents)


def places(events: Sequence[Event]) -> list[tuple[str, int]]:
    return [event.place for event in events if event.kind in ("changed", "gone")]


async def test_who_comes_without_an_id_is_told_all_that_there_is_and_then_each_change(
    api: RunningApi, tool: str
) -> None:
    first = a_health(tool_name=tool, status=Status.DOWN)
    await shown(api, first)
    client = follower(api)
    async with client.open() as events:
        reset, *state, current = await heard(events, "current")
        assert (reset.kind, reset.id, current.kind) == ("reset", None, "current")
        assert {event.id for event in state} == {None}
        assert current.data == {"documents": len(state)}
        assert client.last_id == current.id
        (told,) = [event for event in state if event.place == (key_of(first), 1)]
        assert told.data is not None
        assert ToolHealth.from_json(json.dumps(told.data["health"]).encode()) == first
        again = first.with_changes(revision=2)
        repeats = (record(api, again), record(api, first))
        await sent(api, record(api, again), *repeats, removal(api, first, 3))
        changed, gone = await heard(events, 2)
    assert (changed.kind, changed.place) == ("changed", (key_of(first), 2))
    assert (gone.kind, gone.data) == ("gone", {"key": key_of(first), "revision": 3})
    assert len({current.id, changed.id, gone.id}) == 3
    assert client.last_id == gone.id
    assert client.retries == [2_000]
    assert client.answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert client.answer.headers["x-accel-buffering"] == "no"


async def test_each_hears_of_what_they_may_see_and_nobody_of_another_tenant(
    api: RunningApi, tool: str
) -> None:
    """Nor of the others who are named in a document that they may see."""
    rita, otto = USERS[Role.READER], USERS[Role.OPERATOR]
    cooldowns = (a_cooldown(), a_cooldown(user_id=rita), a_cooldown(user_id="bob"))
    shared = a_health(tool_name=tool, cooldowns=cooldowns)
    bobs, sessions, ottos, ritas = (
        a_health(tool_name=tool, scope=scope, scope_id=scope_id)
        for scope, scope_id in (
            (Scope.USER, "bob"),
            (Scope.SESSION, "session-1"),
            (Scope.USER, otto),
            (Scope.USER, rita),
        )
    )
    wanted = {
        ("acme", Role.READER): ((shared, ritas), {None, rita}),
        ("acme", Role.OPERATOR): ((shared, ottos, sessions), {None}),
        ("acme", Role.ADMIN): ((shared, bobs, sessions, ottos, ritas), {None, rita, "bob"}),
        ("globex", Role.ADMIN): ((), set()),
    }
    clients = {who: follower(api, who[1], who[0]) for who in wanted}
    for client in clients.values():
        client.last_id = cursor_text(api.parts.recent.cursor)
    last = a_health(tool_name=tool, scope=Scope.TENANT, scope_id="acme")
    await shown(
        api,
        bobs,
        sessions,
        ottos,
        ritas,
        shared,
        last,
        last.with_changes(tenant_id="globex", scope_id="globex"),
    )
    for who, (documents, named) in wanted.items():
        as_it_changed = await clients[who].until(len(documents) + 1)
        clients[who].last_id = None
        as_it_stands = await clients[who].until("current")
        for events in (as_it_changed, as_it_stands):
            told = {event.place[0]: event for event in events if event.kind == "changed"}
            assert {key.split("|")[0] for key in told} == {who[0]}
            mine = {key for key in told if key.endswith(f"|{tool}") and "|TENANT|" not in key}
            assert mine == {key_of(one) for one in documents}
            if shared in documents:
                data = told[key_of(shared)].data or {}
                assert {one.get("userId") for one in data["health"]["cooldowns"]} == named


async def test_a_foreign_tenant_does_not_exist_and_a_stranger_is_refused(api: RunningApi) -> None:
    foreign = Follower(f"{api.url}/brain/globex/changes", bearer("acme", Role.ADMIN))
    nobody = Follower(f"{api.url}/brain/acme/changes", {})
    assert (await foreign.until(1), foreign.answer.status_code) == ([], 404)
    assert (await nobody.until(1), nobody.answer.status_code) == ([], 401)


async def test_5_000_changes_with_50_cuts_are_each_told_once_and_in_order_by_two_processes(
    api: RunningApi, tool: str
) -> None:
    """The client comes back to either of them, and what it was sent behind its last event is lost on the way."""
    tools = [f"{tool}-{number}" for number in range(40)]
    changes = [a_health(tool_name=tools[number % 40], revision=number // 40 + 1) for number in range(5_000)]
    random = Random(tool)
    with another(api) as other:
        client = follower(api)
        await client.until("current")
        sending = asyncio.create_task(sent(api, *(record(api, one) for one in changes)))
        told: list[Event] = []
        cuts = 0
        while len(told) < len(changes):
            cuts += 1
            client.url = random.choice((api.url, other.url)) + _PATH
            told += await client.until(min(random.randrange(50, 130), len(changes) - len(told)))
        await sending
    assert cuts >= 50
    assert Counter(places(told)) == Counter((key_of(one), one.revision) for one in changes)
    for name in tools:
        revisions = [revision for key, revision in places(told) if key.endswith(f"|{name}")]
        assert revisions == sorted(revisions)


async def test_a_thousand_clients_hear_of_a_change(api: RunningApi, tool: str) -> None:
    client = follower(api)
    await client.until("current")
    headers = bearer("acme", Role.READER) | {"Last-Event-ID": client.last_id or ""}
    change = a_health(tool_name=tool)
    with counting(STREAMS_ENDED, reason="client") as left:
        async with AsyncExitStack() as ends:
            readers = [await ends.enter_async_context(opened(api.url, _PATH, headers)) for _ in range(1_000)]
            await eventually(lambda: len(api.parts.open_streams) >= 1_000, 60)
            assert (REGISTRY.get_sample_value("agrajag_api_streams_open") or 0) >= 1_000
            await sent(api, record(api, change))
            async with asyncio.timeout(60):
                for reader in readers:
                    await reader.readuntil(f'"key":"{key_of(change)}"'.encode())
        await eventually(lambda: left() >= 1_000, 60)
    await eventually(lambda: len(api.parts.open_streams) == 0, 30)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no place at all", "malformed"),
        ("1" + "A" * 20_000, "malformed"),
        (cursor_text(Cursor(b"nobody", (0, 0, 0, 0))), "foreign"),
    ],
)
async def test_an_id_that_is_no_place_here_leads_to_the_whole_state(
    api: RunningApi, text: str, reason: str
) -> None:
    client = follower(api)
    client.last_id = text
    with counting(STREAM_RESETS, reason=reason) as resets:
        events = await client.until("current")
        assert resets() == 1
    assert events[0].kind == "reset"
    assert events[-1].id == client.last_id != text


async def test_an_id_of_what_was_not_read_here_is_waited_for_and_then_given_up(api: RunningApi) -> None:
    client = follower(api)
    await client.until("current")
    place = read_cursor(client.last_id or "")
    assert place is not None
    client.last_id = cursor_text(Cursor(place.log, tuple(offset + 1_000 for offset in place.offsets)))
    with counting(STREAM_RESETS, reason="ahead") as resets:
        assert (await client.until("current"))[0].kind == "reset"
        assert resets() == 1


async def test_a_process_that_ends_lets_its_clients_go_and_they_come_back_to_another(
    api: RunningApi, tool: str
) -> None:
    with another(api) as other:
        client = Follower(other.url + _PATH, bearer("acme", Role.READER))
        with counting(STREAMS_ENDED, reason="ending") as ended:
            async with client.open() as events:
                await heard(events, "current")
                await asyncio.to_thread(api.run, other.end())
                assert await heard(events, 1) == [], "the answer ends in good order"
            assert ended() == 1
    assert len(client.retries) == 2
    change = a_health(tool_name=tool)
    await sent(api, record(api, change))
    client.url = api.url + _PATH
    assert places(await client.until(1)) == [(key_of(change), 1)]

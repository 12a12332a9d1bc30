"""How a stream begins where there is no room, and ends for other reasons than that its client leaves."""

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from agrajag.api.changes.answer import ChangesAnswer
from agrajag.api.changes.cursor import cursor_text, read_cursor
from agrajag.api.changes.stream import ChangeStream
from agrajag.api.parts import Parts
from agrajag.api.permissions import Principal, Role
from agrajag.metrics import STREAMS_ENDED
from agrajag.model.enums import Scope
from tests.api.running import RunningApi
from tests.builders import a_health
from tests.wire.records import counting

RITA = Principal("rita", Role.READER, "acme")


class Connection:
    """What a server makes of an answer; `blocked` is a client that takes nothing, however much it is sent."""

    def __init__(self, blocked: bool = False) -> None:
        self.sent: list[dict[str, Any]] = []
        self._blocked = blocked

    async def receive(self) -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError("nothing comes")

    async def send(self, message: Any) -> None:
        if self._blocked and message["type"] == "http.response.body":
            await asyncio.Event().wait()
        self.sent.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


async def _answered(
    parts: Parts,
    connection: Connection,
    still_theirs: Callable[[], bool] = lambda: True,
    last_event_id: str | None = None,
) -> Connection:
    """The connection, once its stream has ended."""
    answer = ChangesAnswer(parts, ChangeStream(parts, "acme", RITA, still_theirs, last_event_id))
    await answer({"type": "http"}, connection.receive, connection.send)
    return connection


def _with(parts: Parts, **values: Any) -> Parts:
    return replace(parts, values=replace(parts.values, **values), open_streams=set())


def test_one_stream_more_than_there_may_be_is_told_to_come_later(api: RunningApi) -> None:
    connection = api.run(_answered(_with(api.parts, streams=0), Connection()))
    start, _ = connection.sent
    assert start["status"] == 503
    assert (b"retry-after", b"10") in start["headers"]
    assert json.loads(connection.body)["type"] == "urn:agrajag:problem:too-many"


def test_a_token_that_is_good_no_longer_ends_its_stream(api: RunningApi) -> None:
    good = iter((False,))
    with counting(STREAMS_ENDED, reason="token") as ended:
        connection = api.run(
            _answered(_with(api.parts, heartbeat_seconds=0.05), Connection(), lambda: next(good))
        )
        assert ended() == 1
    assert b"event: current" in connection.body
    assert connection.sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}


def test_a_stream_that_has_lasted_long_ends_and_its_client_is_told_to_come_back(api: RunningApi) -> None:
    with counting(STREAMS_ENDED, reason="age") as ended:
        connection = api.run(
            _answered(_with(api.parts, stream_seconds=0.1, heartbeat_seconds=0.05), Connection())
        )
        assert ended() == 1
    assert connection.body.count(b"retry: ") == 2
    assert connection.sent[-1]["more_body"] is False


def test_a_client_that_may_see_nothing_of_what_happens_still_comes_forward(api: RunningApi) -> None:
    bobs = a_health(tool_name="endings", scope=Scope.USER, scope_id="bob")
    before = api.parts.recent.cursor
    api.show(bobs)
    parts = _with(api.parts, stream_seconds=0.3, heartbeat_seconds=0.05)
    connection = api.run(_answered(parts, Connection(), last_event_id=cursor_text(before)))
    (place,) = set(re.findall(rb": alive\nid: (.+)\n\n", connection.body))
    assert read_cursor(place.decode()) == api.parts.recent.cursor != before
    assert b"data" not in connection.body


def test_a_client_that_takes_nothing_is_left(api: RunningApi) -> None:
    parts = _with(api.parts, stream_send_seconds=0.05)
    with counting(STREAMS_ENDED, reason="slow") as ended:
        api.run(_answered(parts, Connection(blocked=True)))
        assert ended() == 1
    assert parts.open_streams == set()


def test_what_nobody_expected_ends_the_stream_and_is_counted(api: RunningApi) -> None:
    def broken() -> bool:
        raise ZeroDivisionError

    parts = _with(api.parts, heartbeat_seconds=0.05)
    with counting(STREAMS_ENDED, reason="fault") as ended:
        with pytest.raises(ZeroDivisionError):
            api.run(_answered(parts, Connection(), broken))
        assert ended() == 1
    assert parts.open_streams == set()

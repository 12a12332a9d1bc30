"""Whoever listens or waits hears of each change, on the thread it was made or on the loop it waits on."""

import asyncio
from threading import Thread

from agrajag.metrics import VIEW_LISTENER_FAILURES
from agrajag.model.health import ToolHealth
from agrajag.view.changes import Listeners, ViewChange, Waiters
from tests.builders import a_health
from tests.wire.records import counting

CHANGE = ViewChange("key", 2)


class Heard:
    """Remembers what it was told, until it is told to stop."""

    def __init__(self) -> None:
        self.told: list[tuple[ToolHealth | None, ToolHealth | None, ViewChange]] = []

    def __call__(self, old: ToolHealth | None, new: ToolHealth | None, change: ViewChange) -> None:
        self.told.append((old, new, change))


def test_a_listener_that_raises_is_counted_and_keeps_nothing_from_the_others() -> None:
    listeners, heard = Listeners(), Heard()

    def raising(*_: object) -> None:
        raise ValueError("a listener's own")

    listeners.add(raising)
    listeners.add(heard)
    with counting(VIEW_LISTENER_FAILURES) as failures:
        listeners.tell(None, a_health(), CHANGE)
        assert failures() == 1
    assert heard.told == [(None, a_health(), CHANGE)]


def test_whoever_leaves_hears_no_more_even_in_the_middle_of_a_change() -> None:
    listeners, heard, twice = Listeners(), Heard(), Heard()
    leave = listeners.add(heard)
    leave_once = listeners.add(twice)
    listeners.add(twice)
    listeners.add(lambda *_: leave())
    listeners.tell(None, a_health(), CHANGE)
    leave_once()
    leave_once()
    listeners.tell(a_health(), None, CHANGE)
    assert (len(heard.told), len(twice.told)) == (1, 3)
    assert listeners


async def test_a_waiter_is_woken_by_its_revision_or_a_newer_one_of_its_key() -> None:
    waiters = Waiters()
    shown = {"key": 1}
    waiting = asyncio.create_task(waiters.wait("key", 2, lambda key: shown[key], 60))
    await asyncio.sleep(0)
    waiters.reached("other", 9)
    waiters.reached("key", 1)
    await asyncio.sleep(0)
    assert not waiting.done()
    Thread(target=waiters.reached, args=("key", 3)).start()
    assert await waiting
    shown["key"] = 3
    assert await waiters.wait("key", 2, lambda key: shown[key], 0)
    assert not await waiters.wait("key", 4, lambda key: shown[key], 0.001)


async def test_whoever_waited_while_a_topic_was_read_anew_is_woken_by_what_is_shown_then() -> None:
    waiters = Waiters()
    waiting = asyncio.create_task(waiters.wait("key", 2, lambda _key: -1, 60))
    await asyncio.sleep(0)
    waiters.look({"key": 2}.__getitem__)
    assert await waiting

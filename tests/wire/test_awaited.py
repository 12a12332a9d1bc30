"""Who waits for a value gets the first of its name, whether it came before or comes later."""

import asyncio

import pytest

from agrajag.wire.awaited import Awaited


async def test_all_who_wait_get_the_first_value_and_so_does_who_comes_late() -> None:
    awaited: Awaited[str, int] = Awaited(10)
    waiting = [asyncio.create_task(awaited.wait("a")) for _ in range(3)]
    await asyncio.sleep(0)
    awaited.put("b", 7)
    awaited.put("a", 1)
    awaited.put("a", 2)
    assert await asyncio.gather(*waiting, awaited.wait("a")) == [1, 1, 1, 1]
    assert awaited.get("a") == 1


async def test_who_gives_up_leaves_the_others_waiting() -> None:
    awaited: Awaited[str, int] = Awaited(10)
    patient = asyncio.create_task(awaited.wait("a"))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await awaited.wait("a")
    awaited.put("a", 1)
    assert await patient == 1


def test_of_many_values_the_oldest_is_forgotten() -> None:
    awaited: Awaited[str, int] = Awaited(2)
    for number, name in enumerate("abc"):
        awaited.put(name, number)
    assert [awaited.get(name) for name in "abc"] == [None, 1, 2]

"""How work ends that blocks beside the event loop."""

import asyncio
import threading

import pytest

from agrajag.investigation.off_loop import Reading, TimeIsUp, beside_the_loop
from tests.waiting import eventually


class Stepping:
    """Work in small steps, until it is not wanted any more."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.ended = threading.Event()

    def __call__(self, reading: Reading) -> None:
        self.begun.set()
        while not reading.is_over:
            self.ended.wait(0.001)
        self.ended.set()


async def test_work_whose_caller_is_cut_ends_at_its_next_step() -> None:
    work = Stepping()
    waiting = asyncio.ensure_future(beside_the_loop(work, 60))
    await eventually(work.begun.is_set)

    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    await eventually(work.ended.is_set)


async def test_work_knows_when_its_time_is_up() -> None:
    work = Stepping()

    await beside_the_loop(work, 0.02)

    assert work.ended.is_set()


async def test_work_that_hangs_in_a_step_is_not_waited_for() -> None:
    release = threading.Event()

    with pytest.raises(TimeIsUp):
        await beside_the_loop(lambda reading: release.wait(30), 0.0)

    release.set()


async def test_what_goes_wrong_in_the_work_goes_wrong_for_its_caller() -> None:
    def fails(reading: Reading) -> None:
        raise PermissionError

    with pytest.raises(PermissionError):
        await beside_the_loop(fails, 1)

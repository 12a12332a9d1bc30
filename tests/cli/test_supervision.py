"""The supervisor's judgement, with parts that die when told to and a clock that is moved by hand."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from agrajag.cli.supervision import QUICK_DEATHS, QUICK_SECONDS, Supervisor
from agrajag.errors import ConfigError, PermanentError, TransientError
from tests.waiting import eventually


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Puppet:
    """A part that does what the test makes it do; `events` is shared, so that the order is seen."""

    def __init__(self, name: str, events: list[str]) -> None:
        self.name = name
        self.alive = False
        self.death: Exception = TransientError(f"{name}: ended with exit code 1")
        self.on_start: Callable[[], None] = lambda: None
        self._events = events

    def start(self) -> None:
        self.on_start()
        self._events.append(f"start {self.name}")
        self.alive = True

    def stop(self) -> None:
        self._events.append(f"stop {self.name}")
        self.alive = False

    def check(self) -> None:
        if not self.alive:
            raise self.death


class Stage:
    """A supervisor, what it told, and what it did to its parts."""

    def __init__(self, *, gives_up: bool = True) -> None:
        self.clock = Clock()
        self.told: list[str] = []
        self.events: list[str] = []
        self.supervisor = Supervisor(self.told.append, self.clock, gives_up=gives_up)

    def puppet(self, name: str) -> Puppet:
        return Puppet(name, self.events)

    async def pass_time(self, seconds: float) -> None:
        self.clock.now += seconds
        await self.supervisor.look()


async def test_parts_end_in_the_reverse_order_of_their_start() -> None:
    stage = Stage()
    await stage.supervisor.start(stage.puppet("kafka"))
    await stage.supervisor.start(stage.puppet("worker"))
    await stage.supervisor.stop()
    assert stage.events == ["start kafka", "start worker", "stop worker", "stop kafka"]


async def test_a_part_that_died_is_started_again_after_a_pause_that_doubles() -> None:
    stage = Stage()
    worker = stage.puppet("worker")
    await stage.supervisor.start(worker)
    for pause in (0.5, 1.0, 2.0, 4.0):
        worker.alive = False
        await stage.pass_time(0)
        await stage.pass_time(pause - 0.01)
        assert not worker.alive
        await stage.pass_time(0.02)
        assert worker.alive
    assert stage.told[:2] == ["worker: ended with exit code 1", "worker: starting again"]


async def test_a_part_that_dies_quickly_five_times_is_given_up_with_its_last_words() -> None:
    stage = Stage()
    worker = stage.puppet("worker")
    await stage.supervisor.start(worker)
    for _ in range(QUICK_DEATHS - 1):
        worker.alive = False
        await stage.pass_time(0)
        await stage.pass_time(20)
    worker.alive = False
    with pytest.raises(PermanentError, match=r"exit code 1\nworker: died 5 times in a row, given up"):
        await stage.pass_time(0)


async def test_where_nobody_is_given_up_the_pauses_grow_to_a_minute() -> None:
    stage = Stage(gives_up=False)
    worker = stage.puppet("worker")
    await stage.supervisor.start(worker)
    for _ in range(10 * QUICK_DEATHS):
        worker.alive = False
        await stage.pass_time(0)
        await stage.pass_time(60)
        assert worker.alive
    worker.alive = False
    await stage.pass_time(0)
    await stage.pass_time(59)
    assert not worker.alive


async def test_a_part_that_lives_long_between_its_deaths_is_never_given_up() -> None:
    stage = Stage()
    worker = stage.puppet("worker")
    await stage.supervisor.start(worker)
    for _ in range(3 * QUICK_DEATHS):
        await stage.pass_time(QUICK_SECONDS)
        worker.alive = False
        await stage.pass_time(0)
        await stage.pass_time(0.5)
        assert worker.alive


async def test_a_part_whose_setup_is_wrong_is_not_started_again() -> None:
    stage = Stage()
    worker = stage.puppet("worker")
    await stage.supervisor.start(worker)
    worker.alive, worker.death = False, ConfigError("worker: ended with exit code 2")
    with pytest.raises(ConfigError, match="exit code 2"):
        await stage.pass_time(0)
    assert stage.events == ["start worker"]


async def test_a_start_that_fails_counts_as_a_death() -> None:
    stage = Stage()
    kafka = stage.puppet("kafka")
    await stage.supervisor.start(kafka)

    def fail() -> None:
        raise TransientError("kafka: no answer")

    kafka.on_start, kafka.alive = fail, False
    await stage.pass_time(0)
    for _ in range(QUICK_DEATHS - 2):
        await stage.pass_time(60)
    with pytest.raises(PermanentError, match="kafka: no answer\nkafka: died 5 times"):
        await stage.pass_time(60)


async def test_a_stop_waits_for_a_start_under_way_and_leaves_nothing_running() -> None:
    stage = Stage()
    kafka = stage.puppet("kafka")
    may_go_on, is_starting = threading.Event(), threading.Event()

    def slowly() -> None:
        is_starting.set()
        may_go_on.wait(10)

    kafka.on_start = slowly
    starting = asyncio.ensure_future(stage.supervisor.start(kafka))
    await eventually(is_starting.is_set)
    starting.cancel()
    stopping = asyncio.ensure_future(stage.supervisor.stop())
    await eventually(lambda: "stop kafka" in stage.events)
    assert not stopping.done()
    may_go_on.set()
    await stopping
    assert not kafka.alive
    assert stage.events == ["stop kafka", "start kafka", "stop kafka"]


async def test_work_beside_the_watch_ends_with_what_the_watch_raises() -> None:
    stage = Stage()
    worker = stage.puppet("worker")
    worker.death = ConfigError("worker: ended with exit code 2")
    await stage.supervisor.start(worker)
    was_cancelled = False

    async def work() -> None:
        nonlocal was_cancelled
        worker.alive = False
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            was_cancelled = True
            raise

    with pytest.raises(ConfigError, match="exit code 2"):
        await stage.supervisor.beside(work())
    assert was_cancelled


async def test_work_beside_the_watch_returns_its_result() -> None:
    stage = Stage()
    await stage.supervisor.start(stage.puppet("worker"))

    async def work() -> int:
        return 42

    assert await stage.supervisor.beside(work()) == 42

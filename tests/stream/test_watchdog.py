"""When the watchdog thinks that the stream stands still."""

import asyncio
import threading
from collections.abc import Sequence

import structlog
from faust.exceptions import ConsumerNotStarted
from faust.types import TP
from hypothesis import given
from hypothesis import strategies as st

from agrajag.metrics import REGISTRY, WatchdogCause
from agrajag.stream.places import Progress
from agrajag.stream.watchdog import Sample, Timing, Watchdog, stalled
from agrajag.wire.clients import KafkaConnection
from tests.stream.in_process import Counting
from tests.stream.workers import Run
from tests.waiting import eventually

A, B = TP("events", 0), TP("events", 1)
LIMIT = 60.0


def samples(
    *progress: dict[TP, Progress], settled: bool = True, recovered: Sequence[int] = ()
) -> list[Sample]:
    """One every ten seconds, from 0."""
    return [
        Sample(10.0 * number, settled, recovered[number] if recovered else 0, known)
        for number, known in enumerate(progress)
    ]


def cause(found: list[Sample], now: float | None = None) -> WatchdogCause | None:
    stall = stalled(found, found[-1].at if now is None else now, LIMIT)
    return None if stall is None else stall.cause


def test_a_partition_with_lag_that_does_not_move_is_a_stall() -> None:
    found = samples(*[{A: Progress(5, 9)}] * 7)
    stall = stalled(found, 60.0, LIMIT)
    assert stall is not None
    assert stall.cause is WatchdogCause.NO_PROGRESS
    assert stall.reason == "events partition 0 stands at 5 of 9 for 60 s"


def test_one_standing_partition_among_moving_ones_is_a_stall() -> None:
    assert (
        cause(samples(*[{A: Progress(5, 9), B: Progress(n, 99)} for n in range(7)]))
        is WatchdogCause.NO_PROGRESS
    )


def test_nothing_is_said_before_the_limit() -> None:
    assert cause(samples(*[{A: Progress(5, 9)}] * 6)) is None


def test_nothing_to_do_is_no_stall() -> None:
    assert cause(samples(*[{A: Progress(9, 9)}] * 30)) is None


def test_slow_progress_is_no_stall() -> None:
    assert cause(samples(*[{A: Progress(n // 6, 1_000)} for n in range(60)])) is None


def test_lag_that_began_within_the_limit_is_no_stall() -> None:
    assert cause(samples(*[{A: Progress(5, 5)}] * 3, *[{A: Progress(5, 9)}] * 6)) is None


def test_a_partition_that_came_within_the_limit_is_no_stall() -> None:
    assert cause(samples(*[{B: Progress(1, 1)}] * 3, *[{A: Progress(5, 9)}] * 6)) is None


def test_a_rebalance_that_does_not_end_is_a_stall() -> None:
    assert cause(samples(*[{}] * 7, settled=False)) is WatchdogCause.REBALANCE


def test_a_long_recovery_that_reads_on_is_no_stall() -> None:
    assert cause(samples(*[{}] * 30, settled=False, recovered=range(30))) is None


def test_a_rebalance_after_a_settled_time_is_no_stall_yet() -> None:
    assert cause(samples(*[{}] * 3) + samples(*[{}] * 8, settled=False)[3:]) is None


def test_an_event_loop_that_does_not_answer_is_a_stall() -> None:
    assert cause(samples({}), now=60.0) is WatchdogCause.BLOCKED
    assert cause(samples({}), now=59.0) is None


def test_while_no_broker_answers_anybody_nothing_is_a_stall_but_a_blocked_loop() -> None:
    standing = samples(*[{A: Progress(5, 9)}] * 7)
    standing[3] = standing[3]._replace(outage=True)
    assert cause(standing) is None
    assert cause([sample._replace(settled=False, progress={}) for sample in standing]) is None
    assert cause(standing, now=120.0) is WatchdogCause.BLOCKED


def test_samples_that_do_not_cover_the_limit_say_nothing_however_old_they_are() -> None:
    assert cause(samples(*[{A: Progress(5, 9)}] * 2), now=69.0) is None


def test_without_samples_nothing_is_said() -> None:
    assert stalled([], 1_000.0, LIMIT) is None


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=60, max_size=60),
    st.floats(1, 10),
    st.floats(0, 1),
)
def test_a_stall_is_told_within_the_limit_however_slowly_the_brokers_answer(
    answers: list[tuple[float, float]], moves_until: float, judge_phase: float
) -> None:
    timing = Timing.within(LIMIT)
    now, taken = 0.0, []
    for first, second in answers:
        looked = now + timing.pause_seconds
        now = looked + (first + second) * timing.answer_seconds
        done = looked if looked < moves_until else moves_until
        taken.append(Sample(now, True, 0, {A: Progress(round(1_000 * done), 1_000_000)}))
    judged = judge_phase * timing.pause_seconds
    while stalled([sample for sample in taken if sample.at <= judged], judged, timing.still_seconds) is None:
        judged += timing.pause_seconds
    assert timing.still_seconds <= judged - moves_until <= LIMIT


def _exits(cause: WatchdogCause) -> float:
    return REGISTRY.get_sample_value("agrajag_watchdog_exits_total", {"cause": cause}) or 0.0


async def test_brokers_that_refuse_us_do_answer_and_do_not_end_the_watching(run: Run) -> None:
    told, before = threading.Event(), _exits(WatchdogCause.REBALANCE)
    refusing = KafkaConnection("127.0.0.1:no-port")
    watchdog = Watchdog(Counting(run.plan).app, refusing, 1.0, told.set)
    watchdog.start()
    try:
        await eventually(told.is_set, 30)
    finally:
        watchdog.stop()
    assert _exits(WatchdogCause.REBALANCE) == before + 1


async def test_a_look_that_fails_is_logged_and_is_no_stall(run: Run) -> None:
    def look() -> int:
        raise ConsumerNotStarted("not now")

    told, app, limit = threading.Event(), Counting(run.plan).app, 1.0
    app.recovered_records = look  # type: ignore[method-assign]
    watchdog = Watchdog(app, run.plan.settings().connection, limit, told.set)
    loop = asyncio.get_running_loop()
    with structlog.testing.capture_logs() as logs:
        watchdog.start()
        begin = loop.time()
        try:
            await eventually(lambda: told.is_set() or loop.time() > begin + 2 * limit, 30)
        finally:
            watchdog.stop()
    assert not told.is_set()
    assert [entry["event"] for entry in logs].count("sample_failed") > 1

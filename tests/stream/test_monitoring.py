"""What a worker tells about itself."""

import threading

from faust.types import TP

from agrajag.monitor.pulse import Pulse
from agrajag.monitor.readiness import Vitals
from agrajag.stream.monitoring import Monitoring, vitals_of
from agrajag.stream.places import Progress
from agrajag.stream.watchdog import Sample, Watchdog
from tests.stream.in_process import Counting
from tests.stream.workers import Run
from tests.waiting import eventually, eventually_blocking

PROGRESS = {
    TP("x.events.v1", 1): Progress(5, 9),
    TP("x.events.v1", 0): Progress(7, 7),
    TP("x.links.v1", 0): Progress(-1, 3),  # never taken up
}


def label(topic: str) -> str:
    return topic.removeprefix("x.").removesuffix(".v1")


def test_partitions_and_lag_are_told_by_topic_as_the_metrics_call_it() -> None:
    assert vitals_of(Sample(12.0, True, 0, PROGRESS, committed_at=11.5), label) == Vitals(
        12.0, {"events": [0, 1], "links": [0]}, {"events": 4, "links": 3}, committed_at=11.5
    )


def test_a_worker_that_is_not_settled_rebalances_or_recovers() -> None:
    assert vitals_of(Sample(0.0, False, 0, {}), label).rebalancing
    recovering = vitals_of(Sample(0.0, False, 0, {}, recovering=True), label)
    assert (recovering.rebalancing, recovering.recovering) == (False, True)
    assert vitals_of(Sample(0.0, True, 0, {}, recovering=True), label).settled
    assert vitals_of(Sample(0.0, True, 0, {}, outage=True), label).kafka_away


async def test_a_running_worker_tells_what_it_holds_and_when_it_committed(run: Run) -> None:
    counting = Counting(run.plan)
    pulse = Pulse(30.0)
    watchdog = Watchdog(
        counting.app, run.plan.settings().connection, 3.0, on_sample=Monitoring(pulse, str).seen
    )
    async with counting.running():
        await run.send(100)
        watchdog.start()
        try:
            await eventually(
                lambda: pulse.readiness().commit_age_seconds is not None and pulse.readiness().ready, 30
            )
        finally:
            watchdog.stop()
    vitals = pulse.readiness().vitals
    assert vitals is not None
    assert list(vitals.partitions) == list(vitals.lag) == [run.plan.topic("events")]


async def test_a_blocked_event_loop_is_told_from_another_thread(run: Run) -> None:
    ended = threading.Event()
    watchdog = Watchdog(Counting(run.plan).app, run.plan.settings().connection, 1.0, ended.set)
    monitoring = Monitoring(Pulse(30.0))
    monitoring.begin(watchdog)
    assert monitoring.pulse.stall() is None
    watchdog.start()
    try:
        told = eventually_blocking(monitoring.pulse.stall)  # blocks the loop that is watched
    finally:
        watchdog.stop()
    assert told is not None
    assert "event loop has not answered" in told

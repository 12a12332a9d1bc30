"""Who is told how a worker is, and in which words: a watchdog's sample becomes what readiness is judged by."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from agrajag.monitor.dead_letter_share import BadStart
from agrajag.monitor.pulse import Pulse
from agrajag.monitor.readiness import Vitals
from agrajag.stream.watchdog import Sample, Watchdog

_NEVER = BadStart()


@dataclass(frozen=True)
class Monitoring:
    """The pulse of a worker, and what counts as its bad start; `topic_label` names topics as metrics do."""

    pulse: Pulse = field(default_factory=lambda: Pulse(unready_after_seconds=30.0))
    topic_label: Callable[[str], str] = str
    bad_start: BadStart = _NEVER

    def seen(self, sample: Sample) -> None:
        """Tell the pulse of a look at the worker."""
        self.pulse.seen(vitals_of(sample, self.topic_label))

    def begin(self, watchdog: Watchdog) -> None:
        """Let the pulse ask `watchdog` what stands still."""

        def stall() -> str | None:
            found = watchdog.stall()
            return found and found.reason

        self.pulse.stall = stall


def vitals_of(sample: Sample, topic_label: Callable[[str], str]) -> Vitals:
    """The same in the monitor's words."""
    partitions: dict[str, list[int]] = defaultdict(list)
    lag: dict[str, int] = defaultdict(int)
    for tp, progress in sorted(sample.progress.items()):
        topic = topic_label(tp.topic)
        partitions[topic].append(tp.partition)
        lag[topic] += max(0, progress.end - max(progress.done, 0))
    return Vitals(
        sample.at,
        partitions,
        lag,
        rebalancing=not (sample.settled or sample.recovering),
        recovering=sample.recovering and not sample.settled,
        kafka_away=sample.outage,
        committed_at=sample.committed_at,
    )

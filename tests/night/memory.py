"""Decides whether a process keeps its memory: how much more it holds at the end of a night than in its middle.

The first half is warm-up: tables, caches and pools fill. Of the second half the medians of its two parts are compared,
so that no single sample decides.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

LARGEST_GROWTH = 0.05

_KIB = 1024
_FEWEST = 4
_POINTS = 60


class Sample(NamedTuple):
    """What a process held, `at_seconds` after the night's beginning."""

    at_seconds: float
    pid: int
    rss_bytes: int


def growth(samples: Sequence[Sample], lasts_seconds: float) -> float | None:
    """By which share memory grew between the parts of the last half; None where the process did not live through it."""
    late = [sample for sample in samples if sample.at_seconds >= lasts_seconds / 2]
    if len(late) < _FEWEST or len({sample.pid for sample in late}) != 1:
        return None
    middle = len(late) // 2
    before, after = (median(sample.rss_bytes for sample in part) for part in (late[:middle], late[middle:]))
    return after / before - 1


def curve(samples: Sequence[Sample]) -> list[tuple[float, float]]:
    """What to draw: at most some sixty pairs of seconds and mebibytes, evenly over the night."""
    every = max(1, len(samples) // _POINTS)
    return [(round(one.at_seconds, 1), round(one.rss_bytes / _KIB**2, 1)) for one in samples[::every]]


def growth_problems(growths: Mapping[str, float | None]) -> Iterator[str]:
    """A line for each process that grows, or of which nothing can be said."""
    for name, share in growths.items():
        if share is None:
            yield f"{name}: did not live through the last half, its memory is not known"
        elif share >= LARGEST_GROWTH:
            yield f"{name}: memory grew by {share:.1%} in the last half"


def rss_bytes(pid: int) -> int:
    """What the process holds in memory. Raises OSError if it is gone, ValueError if it is about to be."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * _KIB
    raise ValueError(f"process {pid} holds no memory any more")


def role_pids(parent: int) -> dict[str, int]:
    """The roles that this process has started, by name."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
            command = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if int(stat[1]) == parent and command[1:3] == [b"-m", b"agrajag"]:
            found[command[3].decode()] = int(entry.name)
    return found

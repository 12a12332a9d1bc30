"""One partition as the consumer sees it: the items that it delivers, and where it stands."""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from aiokafka import ConsumerRecord
from faust.types import TP


class Fetch(list[ConsumerRecord]):
    """Records of one partition in offset order, never empty, as aiokafka made them."""

    __slots__ = ("epoch", "tp")

    def __init__(self, records: Iterable[ConsumerRecord], tp: TP, epoch: int) -> None:
        super().__init__(records)
        self.tp = tp
        self.epoch = epoch


class Progress(NamedTuple):
    """How far one partition is: `done` is the next offset that is not done yet, `end` the end of the log.

    `done_ms` is when the last record that was done here was appended. Until `is_known`, `end` is only as far as we are.
    """

    done: int
    end: int
    done_ms: int | None = None
    is_known: bool = True


def lag_seconds(progress: Mapping[TP, Progress], partition: int, unix_seconds: float) -> float:
    """How long ago the oldest record that is not done was appended at most, over all topics; 0 where there is none.

    Infinite where that is not known: before the first fetch of a topic, and before the first record that was done.
    """
    lags = [_lag_seconds(found, unix_seconds) for tp, found in progress.items() if tp.partition == partition]
    return max(lags, default=math.inf)


def _lag_seconds(progress: Progress, unix_seconds: float) -> float:
    if progress.is_known and progress.done >= progress.end:
        return 0.0
    if not progress.is_known or progress.done_ms is None:
        return math.inf
    return unix_seconds - progress.done_ms / 1_000


class Place:
    """Where the worker stands in one partition, for one epoch."""

    __slots__ = (
        "accepted_hole",
        "acknowledged",
        "acknowledged_ms",
        "committable",
        "epoch",
        "in_flight",
        "next",
        "rewind",
    )

    def __init__(self, epoch: int, offset: int, rewind: bool) -> None:
        self.epoch = epoch
        self.next = offset  # to be delivered next
        self.acknowledged = offset  # all before it is done
        self.acknowledged_ms: int | None = None  # when the last of it was appended, if any was done here
        self.committable: int | None = None  # done, and not handed to a commit yet
        self.in_flight = 0
        self.accepted_hole = -1  # the offset in front of a hole that was fetched twice
        self.rewind = rewind  # the fetch position is not `next`: seek before anything is delivered

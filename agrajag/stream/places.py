"""One partition as the consumer sees it: the items that it delivers, and where it stands."""

from collections.abc import Iterable
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
    """How far one partition is: `done` is the next offset that is not done yet, `end` the end of the log."""

    done: int
    end: int


class Place:
    """Where the worker stands in one partition, for one epoch."""

    __slots__ = ("accepted_hole", "acknowledged", "committable", "epoch", "in_flight", "next", "rewind")

    def __init__(self, epoch: int, offset: int, rewind: bool) -> None:
        self.epoch = epoch
        self.next = offset  # to be delivered next
        self.acknowledged = offset  # all before it is done
        self.committable: int | None = None  # done, and not handed to a commit yet
        self.in_flight = 0
        self.accepted_hole = -1  # the offset in front of a hole that was fetched twice
        self.rewind = rewind  # the fetch position is not `next`: seek before anything is delivered

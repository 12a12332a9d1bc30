"""What was read and is not committed yet: the jobs in their lanes, and the offsets that wait for them.

An offset is committable when the job of every record before it is done. A partition gives no further records while as
many of it as the limit are not committable: that bounds what a crash does twice. Each partition has the limit for
itself, so that a lane that hangs holds up its own partition at most, and the others never.
"""

from collections.abc import Collection
from typing import Generic, TypeVar

from agrajag.service.lanes import Arrival, Entry, Lanes, Place
from agrajag.service.offsets import OpenOffsets

J = TypeVar("J")


class Backlog(Generic[J]):
    """The books of one worker. Partitions are `take`n and `lost` all together, as its group decides."""

    def __init__(self, at_once: int, uncommitted: int) -> None:
        self._limit = uncommitted
        self._offsets: dict[int, OpenOffsets] = {}
        self._settled = False
        self.lanes: Lanes[J] = Lanes(at_once)

    @property
    def uncommitted(self) -> int:
        """How many records would be read again after a crash."""
        return sum(map(len, self._offsets.values()))

    def not_done(self, partition: int) -> int:
        """How many records of a partition were read and are not committable yet."""
        offsets = self._offsets.get(partition)
        return 0 if offsets is None else len(offsets)

    def take(self, partitions: Collection[int]) -> tuple[Entry[J], ...]:
        """These partitions are ours now, and no others; the entries that run and are to be cut."""
        self._offsets = {partition: OpenOffsets() for partition in partitions}
        self._settled = True
        return self.lanes.strangers(frozenset(partitions))

    def lost(self) -> None:
        """No partition is ours; what waits is dropped, to be read by whoever is given it."""
        self._offsets = {}
        self._settled = False
        self.lanes.lose()

    def holds(self, partition: int) -> bool:
        """Whether the partition is ours."""
        return partition in self._offsets

    def room(self) -> tuple[tuple[int, ...], int]:
        """The partitions that may be read from now, and how many records of each at most."""
        rooms = {partition: self._limit - len(offsets) for partition, offsets in self._offsets.items()}
        open_ones = {partition: room for partition, room in rooms.items() if room > 0}
        return tuple(open_ones), min(open_ones.values(), default=0)

    def add(self, lane: str, job_id: str, job: J, place: Place) -> Arrival | None:
        """Takes in a job that was read; None for a record that is not ours, or that was taken in before."""
        offsets = self._offsets.get(place.partition)
        if offsets is None or not offsets.read(place.offset):
            return None
        arrival = self.lanes.add(lane, job_id, job, place)
        if arrival is Arrival.DONE:
            offsets.done(place.offset)
        return arrival

    def again(self, entry: Entry[J], at: float, attempt: int) -> None:
        """The job is to be run again as `attempt`, not before `at`; by somebody else, if its partition is theirs."""
        if self._settled and not self.holds(entry.partition) and not entry.places:
            self.lanes.abandon(entry)
        else:
            self.lanes.again(entry, at, attempt)

    def finish(self, entry: Entry[J]) -> None:
        """The job is done: its answer is where it belongs."""
        for partition, offset in self.lanes.finish(entry):
            self._offsets[partition].done(offset)

    def committable(self) -> dict[int, int]:
        """For each partition with something done, the offset that may be committed."""
        return {
            partition: offsets.committable
            for partition, offsets in self._offsets.items()
            if offsets.committable is not None
        }

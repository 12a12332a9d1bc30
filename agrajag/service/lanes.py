"""The order in which jobs run: one queue for each lane, many lanes side by side (spec agrajag §8).

Of one lane one job runs at a time, in the order in which jobs first came; a job that is to be tried again keeps its
lane. A job that comes again under its id takes the place of the one that waits, since it knows more, and adds nothing
to one that has begun or is done. Time is whatever the caller measures in; nothing here looks at a clock.
"""

import heapq
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from typing import Generic, NamedTuple, TypeVar

J = TypeVar("J")

_REMEMBERED = 10_000


class Place(NamedTuple):
    """Where a record was read."""

    partition: int
    offset: int


class Arrival(StrEnum):
    """What became of a job that came: REPLACED one of its id that waited, JOINED one that has begun."""

    QUEUED = "queued"
    REPLACED = "replaced"
    JOINED = "joined"
    DONE = "done"


@dataclass(eq=False, slots=True)
class Entry(Generic[J]):
    """One job in its lane. `places` are the records that are done when it is; the first was read from `partition`."""

    lane: str
    job_id: str
    job: J
    partition: int
    places: list[Place] = field(default_factory=list)
    attempt: int = 1
    begun: bool = False
    running: bool = False
    pausing: bool = False


class Lanes(Generic[J]):
    """The queues. Whoever runs an entry that `begin` gave says with one call how that ended.

    That is `again`, `finish` or `abandon`. At most `at_once` entries run; those that pause before another attempt do
    not count.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._queues: dict[str, deque[Entry[J]]] = {}
        self._entries: dict[tuple[str, str], Entry[J]] = {}
        self._ready: OrderedDict[str, None] = OrderedDict()  # lanes whose first entry may begin
        self._pauses: list[tuple[float, int, Entry[J]]] = []
        self._order = count()
        self._done: OrderedDict[tuple[str, str], None] = OrderedDict()
        self.running = 0

    def __len__(self) -> int:
        """How many jobs wait, pause or run."""
        return len(self._entries)

    def knows(self, lane: str, job_id: str) -> bool:
        """Whether a job of this id waits, has begun, or was done lately."""
        return (lane, job_id) in self._entries or (lane, job_id) in self._done

    def add(self, lane: str, job_id: str, job: J, place: Place) -> Arrival:
        """Takes in a job that was read at `place`."""
        name = (lane, job_id)
        if name in self._done:
            self._done.move_to_end(name)
            return Arrival.DONE
        entry = self._entries.get(name)
        if entry is None:
            entry = self._entries[name] = Entry(lane, job_id, job, place.partition)
            self._queues.setdefault(lane, deque()).append(entry)
            self._settle(lane)
            arrival = Arrival.QUEUED
        elif entry.begun:
            arrival = Arrival.JOINED
        else:
            entry.job = job
            arrival = Arrival.REPLACED
        entry.places.append(place)
        return arrival

    def begin(self, now: float) -> Entry[J] | None:
        """The next entry to run, from the lane that has been ready longest; None if none may run now."""
        while self._pauses and self._pauses[0][0] <= now:
            _, _, due = heapq.heappop(self._pauses)
            due.pausing = False
            self._settle(due.lane)
        if self.running >= self._at_once or not self._ready:
            return None
        lane = next(iter(self._ready))
        entry = self._queues[lane][0]
        entry.begun = entry.running = True
        self.running += 1
        self._settle(lane)
        return entry

    def next_at(self) -> float | None:
        """When the first of those that pause may run again."""
        return self._pauses[0][0] if self._pauses else None

    def again(self, entry: Entry[J], at: float, attempt: int) -> None:
        """The entry is to be run again as `attempt`, not before `at`; its lane waits for it."""
        self._stopped(entry)
        entry.attempt, entry.pausing = attempt, True
        heapq.heappush(self._pauses, (at, next(self._order), entry))

    def finish(self, entry: Entry[J]) -> tuple[Place, ...]:
        """The entry is done, and so are these records. Its id is remembered, so that it does not run again."""
        self._stopped(entry)
        self._remove(entry)
        self._done[entry.lane, entry.job_id] = None
        if len(self._done) > _REMEMBERED:
            self._done.popitem(last=False)
        return tuple(entry.places)

    def abandon(self, entry: Entry[J]) -> None:
        """The entry was cut. It is forgotten, unless its record has come back meanwhile: then it waits once more."""
        self._stopped(entry)
        if entry.places:
            entry.begun = False
            self._settle(entry.lane)
        else:
            self._remove(entry)

    def lose(self) -> None:
        """All partitions are taken away: what has not begun is dropped; what has goes on, without its records."""
        for entry in list(self._entries.values()):
            entry.places.clear()
            if not entry.begun:
                self._remove(entry)

    def strangers(self, held: frozenset[int]) -> tuple[Entry[J], ...]:
        """The entries that run although, now that `held` is ours, somebody else has their records; they are to be cut.

        Those of them that pause are dropped.
        """
        strangers = [entry for entry in self._entries.values() if entry.partition not in held]
        for entry in strangers:
            if not entry.running:
                self._remove(entry)
        return tuple(entry for entry in strangers if entry.running)

    def _stopped(self, entry: Entry[J]) -> None:
        entry.running = False
        self.running -= 1

    def _remove(self, entry: Entry[J]) -> None:
        del self._entries[entry.lane, entry.job_id]
        queue = self._queues[entry.lane]
        queue.remove(entry)
        if not queue:
            del self._queues[entry.lane]
        if entry.pausing:
            self._pauses = [pause for pause in self._pauses if pause[2] is not entry]
            heapq.heapify(self._pauses)
        self._settle(entry.lane)

    def _settle(self, lane: str) -> None:
        """Has the lane among the ready if, and only if, its first entry may begin."""
        queue = self._queues.get(lane)
        if queue and not (queue[0].running or queue[0].pausing):
            self._ready.setdefault(lane)
        else:
            self._ready.pop(lane, None)

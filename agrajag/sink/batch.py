"""What one poll brought, and what of it is still to be done: writes by route, records to be set aside, next offsets."""

from collections.abc import Mapping, Sequence

from aiokafka import TopicPartition

from agrajag.errors import InputError
from agrajag.sink.routes import Route
from agrajag.store import Refusal, Write
from agrajag.wire.origin import ReceivedRecord


class Work:
    """The writes of one route, and which record each came from."""

    def __init__(self, route: Route) -> None:
        self.route = route
        self.writes: list[Write] = []
        self._sources: dict[tuple[str, int], ReceivedRecord] = {}

    def add(self, write: Write, record: ReceivedRecord) -> None:
        self.writes.append(write)
        # Of two records with the same revision the store takes the first.
        self._sources.setdefault((write.key, write.revision), record)

    def source(self, refusal: Refusal) -> ReceivedRecord:
        """The record that the store has refused."""
        return self._sources[refusal.write.key, refusal.write.revision]


class Batch:
    """Decoded on construction. Whoever carries it out takes from `works` and `letters` what is done.

    `next_offsets` may be committed when both are empty.
    """

    def __init__(
        self, records: Mapping[TopicPartition, Sequence[ReceivedRecord]], routes: Mapping[str, Route]
    ) -> None:
        self.works: list[Work] = []
        self.letters: list[tuple[ReceivedRecord, InputError]] = []
        self.next_offsets = {
            place: received[-1].offset + 1 for place, received in records.items() if received
        }
        by_topic: dict[str, Work] = {}
        for place, received in records.items():
            work = by_topic.get(place.topic)
            if work is None:
                work = by_topic[place.topic] = Work(routes[place.topic])
                self.works.append(work)
            for record in received:
                try:
                    work.add(work.route.decode(record), record)
                except InputError as error:
                    self.letters.append((record, error))

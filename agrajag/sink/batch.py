"""What one poll brought, and what of it is still to be done: writes, records to be set aside, next offsets."""

from collections.abc import Mapping, Sequence

from aiokafka import TopicPartition

from agrajag.errors import InputError
from agrajag.sink.routes import Route
from agrajag.store import GuardedCollection, Refusal, Write
from agrajag.wire.origin import Origin, ReceivedRecord, own_place
from agrajag.wire.topics import Topic


class Work:
    """The writes of one topic to one collection, and which record each came from."""

    def __init__(self, topic: Topic, collection: type[GuardedCollection]) -> None:
        self.topic = topic
        self.collection = collection
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
        self.letters: dict[Origin, tuple[ReceivedRecord, InputError]] = {}
        self.next_offsets = {
            place: received[-1].offset + 1 for place, received in records.items() if received
        }
        works: dict[tuple[str, type[GuardedCollection]], Work] = {}
        for place, received in records.items():
            route = routes[place.topic]
            for record in received:
                try:
                    entries = route.entries(record)
                except InputError as error:
                    self.set_aside(record, error)
                    continue
                for collection, write in entries:
                    name = place.topic, collection
                    if name not in works:
                        works[name] = Work(route.topic, collection)
                    works[name].add(write, record)
        self.works.extend(works.values())

    def set_aside(self, record: ReceivedRecord, error: InputError) -> None:
        """The record goes to the dead letters, once, whatever else of it cannot be used: the first error is told."""
        self.letters.setdefault(own_place(record), (record, error))

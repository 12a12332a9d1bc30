"""Reads what comes to topics from the first look on, outside of any group; brokers that are away make no gap."""

from collections.abc import AsyncGenerator, Sequence

from aiokafka import AIOKafkaConsumer, TopicPartition

from agrajag.wire.clients import KafkaConnection
from agrajag.wire.ending import ended
from agrajag.wire.following import kafka_errors, partitions_of
from agrajag.wire.header_names import accept_any_header_name
from agrajag.wire.origin import ReceivedRecord

_POLL_MS = 500


class Tail:
    """What comes to some topics. Read again after an error, it goes on where it was."""

    def __init__(self, connection: KafkaConnection, topics: Sequence[str]) -> None:
        self._connection = connection
        self._topics = topics
        self._next: dict[TopicPartition, int] = {}

    async def records(self) -> AsyncGenerator[Sequence[ReceivedRecord], None]:
        """Every record, in the order of each partition, without end; nothing at first, once none can be missed.

        Raises TransientError, PermanentError if one of the topics does not exist.
        """
        accept_any_header_name()
        with kafka_errors("reading " + ", ".join(self._topics)):
            places = [
                place for topic in self._topics for place in await partitions_of(self._connection, topic)
            ]
            options = {**self._connection.client_options(), "auto_offset_reset": "earliest"}
            consumer = AIOKafkaConsumer(**options, group_id=None)
            consumer.assign(places)
            try:
                await consumer.start()
                self._next = await consumer.end_offsets(places) | self._next
                for place in places:
                    consumer.seek(place, self._next[place])
                yield ()
                while True:
                    for place, records in (await consumer.getmany(timeout_ms=_POLL_MS)).items():
                        self._next[place] = records[-1].offset + 1
                        yield records
            finally:
                await ended(consumer)

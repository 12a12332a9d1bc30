"""Reads the replies to probes from one topic of another service, outside of any group.

Reading begins at the end that the topic has when it is opened, so that a request sent after that cannot miss its reply.
A reply belongs to a probe by its header; where the service has not repeated that, by its `probeId`. All others are
somebody else's.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaError
from pydantic import ValidationError

from agrajag.errors import TransientError
from agrajag.model.probing import ProbeReply
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.ending import ended
from agrajag.wire.following import kafka_errors, partitions_of
from agrajag.wire.header_names import accept_any_header_name
from agrajag.wire.origin import ReceivedRecord

CORRELATION_HEADER = "correlation-id"
MAX_REPLY_BYTES = 131_072
_POLL_MS = 500
_FETCH_BYTES = 1_048_576


class ReplyReader:
    """Reads one topic for as long as it is open."""

    def __init__(self, connection: KafkaConnection, topic: str) -> None:
        self._connection = connection
        self.topic = topic
        self._waiting: dict[str, asyncio.Future[bytes]] = {}
        self._consumer: AIOKafkaConsumer | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def is_broken(self) -> bool:
        """Whether it reads no more, though nobody has closed it."""
        return self._task is None or self._task.done()

    @property
    def is_idle(self) -> bool:
        """Whether nobody waits for a reply."""
        return not self._waiting

    async def open(self) -> None:
        """Returns once every reply that is written from now on will be read.

        Raises PermanentError where there is no such topic or it may not be read, TransientError.
        """
        accept_any_header_name()
        with kafka_errors(f"reading {self.topic}"):
            places = await partitions_of(self._connection, self.topic)
            options = {**self._connection.client_options(), "auto_offset_reset": "latest"}
            consumer = AIOKafkaConsumer(
                **options, group_id=None, fetch_max_bytes=_FETCH_BYTES, max_partition_fetch_bytes=_FETCH_BYTES
            )
            consumer.assign(places)
            try:
                await consumer.start()
                await consumer.seek_to_end(*places)
                for place in places:
                    await consumer.position(place)
            except BaseException:
                await ended(consumer)
                raise
        self._consumer = consumer
        self._task = asyncio.create_task(self._read(consumer))

    async def close(self) -> None:
        """Reads no further; whoever still waits is told."""
        task, consumer, self._task, self._consumer = self._task, self._consumer, None, None
        try:
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        finally:
            if consumer is not None:
                with suppress(KafkaError, OSError):
                    await ended(consumer)

    @contextmanager
    def expecting(self, probe_id: str) -> Iterator[asyncio.Future[bytes]]:
        """The future value of the reply to a probe. It raises TransientError if the topic is read no more."""
        reply = asyncio.get_running_loop().create_future()
        self._waiting[probe_id] = reply
        try:
            yield reply
        finally:
            reply.cancel()
            if self._waiting.get(probe_id) is reply:
                del self._waiting[probe_id]

    async def _read(self, consumer: AIOKafkaConsumer) -> None:
        try:
            with kafka_errors(f"reading {self.topic}"):
                while True:
                    for records in (await consumer.getmany(timeout_ms=_POLL_MS)).values():
                        for record in records:
                            self._hand_over(record)
        finally:
            for reply in self._waiting.values():
                if not reply.done():
                    reply.set_exception(TransientError(f"kafka: reading {self.topic} has ended"))

    def _hand_over(self, record: ReceivedRecord) -> None:
        if not self._waiting or record.value is None:
            return
        named = dict(record.headers).get(CORRELATION_HEADER)
        probe_id = _probe_of(record.value) if named is None else named.decode(errors="replace")
        reply = self._waiting.get(probe_id or "")
        if reply is not None and not reply.done():
            reply.set_result(record.value)


def _probe_of(value: bytes) -> str | None:
    if len(value) > MAX_REPLY_BYTES:
        return None
    try:
        return ProbeReply.from_json(value).probe_id
    except ValidationError:
        return None

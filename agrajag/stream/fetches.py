"""Makes whole fetches the items of a Faust stream: raw records of one partition, acknowledged by hand.

Plain Faust moves every record through several futures and an acknowledgement list, takes an event for done
whose agent raised, and can throw away queued events around a rebalance without telling anybody. Here the
item is what one fetch brought, nothing is decoded before the agent, and it is done when the agent says so
(`FetchConsumer`). Groups, assignment, tables, recovery and commits stay Faust's.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, ClassVar, Protocol, cast

import faust
import structlog
from aiokafka import AIOKafkaProducer, ConsumerRecord
from faust.tables.manager import TableManager
from faust.transport.drivers import aiokafka as driver
from faust.types import EventT, Message
from mode.utils.queues import ThrowableQueue

from agrajag.stream.consumer import FetchConsumer
from agrajag.stream.places import Fetch

log = structlog.get_logger(__name__)

LANES = 4  # more than a worker's cores can fill; each holds one connection per broker


class ChangelogReader(Protocol):
    """A table that takes in what a fetch of its changelog brought."""

    def recover(self, records: Sequence[ConsumerRecord]) -> None: ...


class FetchQueue(ThrowableQueue[EventT[Any]]):
    """Faust empties its queues around rebalances; this one says what was in it, to be fetched again."""

    def __init__(self, *args: Any, on_dropped: Callable[[Fetch], None], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._on_dropped = on_dropped

    def clear(self) -> None:
        dropped: Iterable[EventT[Any]] = list(self._queue)  # type: ignore[attr-defined]
        super().clear()
        for event in dropped:
            self._on_dropped(cast(Fetch, event.message.value))


class FetchTopic(faust.Topic):
    """A source topic whose stream items are `Fetch`es."""

    app: "FetchApp"

    def _compile_decode(self) -> None:
        async def decode(message: Message, *, propagate: bool = False) -> EventT[Any]:
            return self.app.create_event(None, message.value, {}, message)

        self.decode: Callable[..., Awaitable[EventT[Any]]] = decode  # type: ignore[assignment]

    @property
    def queue(self) -> ThrowableQueue[EventT[Any]]:
        if self._queue is None:
            self._queue = FetchQueue(
                maxsize=self.app.conf.stream_buffer_maxsize,
                flow_control=self.app.flow_control,
                clear_on_resume=True,
                on_dropped=lambda fetch: self.app.fetching.on_dropped(fetch),
            )
        return self._queue


class LaneProducer(driver.Producer):
    """Faust's producer with several of aiokafka's, started and stopped together.

    One of aiokafka's has one request per broker under way, so that every partition would wait for the answers to all
    others. What belongs to one input partition always takes the same, so its order holds.
    """

    logger = logging.getLogger("faust")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lanes: list[AIOKafkaProducer] = []

    def lane(self, partition: int) -> AIOKafkaProducer:
        """The producer for all that comes of one input partition."""
        self._ensure_producer()
        return self._lanes[partition % len(self._lanes)]

    async def on_start(self) -> None:
        await super().on_start()
        self._lanes.append(self._ensure_producer())
        for _ in range(1, LANES):
            self._lanes.append(self._new_producer())
            await self._lanes[-1].start()

    async def on_stop(self) -> None:
        lanes, self._lanes = self._lanes, []
        await super().on_stop()
        await asyncio.gather(*(producer.stop() for producer in lanes[1:]))


class FetchTransport(driver.Transport):
    """Faust's aiokafka transport with a consumer that delivers fetches and a producer of several lanes."""

    Consumer: ClassVar[type[FetchConsumer]] = FetchConsumer
    Producer: ClassVar[type[LaneProducer]] = LaneProducer


class FetchApp(faust.App):
    """A Faust app that has `fetch_topic`s; everything it keeps is in Kafka, so it makes no directory."""

    logger = logging.getLogger("faust")  # or mode takes this module's, and what it says of services is ours

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fetch_topics: frozenset[str] = frozenset()
        self.changelogs: dict[str, ChangelogReader] = {}
        """The tables, by the topic that they recover from."""
        self.last_words: list[Callable[[], Awaitable[None]]] = []
        """What is to be done, if it can be quickly, before an orderly stop."""
        self.taken_up = asyncio.Event()
        """Set when a rebalance and the recovery after it are over."""

    def fetch_topic(self, name: str, partitions: int) -> FetchTopic:
        """The existing topic `name` as a stream of `Fetch`es; one agent reads it, with concurrency 1."""
        self.fetch_topics |= {name}
        return FetchTopic(
            self,
            topics=[name],
            partitions=partitions,
            acks=False,
            key_type=bytes,
            key_serializer="raw",
            value_type=bytes,
            value_serializer="raw",
        )

    @property
    def fetching(self) -> FetchConsumer:
        """The consumer, under its own type."""
        return cast(FetchConsumer, self.consumer)

    @property
    def has_consumer(self) -> bool:
        """Whether the consumer was started; asking for it earlier would make it."""
        return self._consumer is not None and self._consumer.started

    @property
    def is_settled(self) -> bool:
        """Partitions were assigned, tables recovered, and no rebalance has begun since."""
        return self.rebalancing_count > 0 and not self.rebalancing

    @property
    def is_recovering(self) -> bool:
        """The tables read their changelogs."""
        return cast(TableManager, self.tables).recovery.in_recovery

    def recovered_records(self) -> int:
        """How far the changelogs have been read, over all partitions held; grows during a recovery."""
        offsets = cast(TableManager, self.tables).recovery.active_offsets
        return sum(offset or 0 for offset in offsets.values())

    def sending(self, partition: int) -> AIOKafkaProducer:
        """The aiokafka producer underneath Faust's for the record batches that come of one input partition."""
        return cast(LaneProducer, self.producer).lane(partition)

    def _new_transport(self) -> FetchTransport:
        return FetchTransport(self.conf.broker_consumer, self)

    def on_rebalance_end(self) -> None:
        super().on_rebalance_end()
        self.taken_up.set()
        held = sorted({tp.partition for tp in self.fetching.assignment() if tp.topic in self.fetch_topics})
        log.info("worker_ready", partitions=held)

    def _create_directories(self) -> None:
        """Faust would make a data directory where the process was started."""

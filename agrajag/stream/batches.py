"""Packs records into Kafka record batches and sends them so that none overtakes another of its partition.

A record batch is atomic on the broker, several are not: what belongs together goes into one. The batches of
a partition are awaited one after the other, since one that expired here may still reach the broker later;
different partitions go at the same time.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

import structlog
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, KafkaTimeoutError
from aiokafka.producer.message_accumulator import BatchBuilder

from agrajag import metrics

log = structlog.get_logger(__name__)

BATCH_BYTES = 900_000  # below Kafka's default message.max.bytes and the producer's max_request_size
_RECORD_BYTES = 48  # of the record format, at most, without the headers
_HEADER_BYTES = 10
FIRST_RETRY_SECONDS = 0.1
LAST_RETRY_SECONDS = 5.0


class Packable(Protocol):
    """What becomes one record of a batch: a `Row`, an `Output`."""

    @property
    def key(self) -> bytes: ...
    @property
    def value(self) -> bytes | None: ...
    @property
    def headers(self) -> Sequence[tuple[str, bytes]]: ...


class Row(NamedTuple):
    """A record whose topic and partition are known."""

    key: bytes
    value: bytes | None
    headers: Sequence[tuple[str, bytes]] = ()


class Chain(NamedTuple):
    """The batches of one topic and partition, in the order in which they must arrive."""

    topic: str
    partition: int
    batches: list[BatchBuilder]


class TooLargeError(ValueError):
    """Rows that must stay together do not fit into one record batch: a step has to check before it ends."""


def pack(new_batch: Callable[[], BatchBuilder], groups: Iterable[Sequence[Packable]]) -> list[BatchBuilder]:
    """As few closed batches as fit, in the order given; the rows of a group are never parted.

    `new_batch` is a producer's `create_batch`, for batches of `BATCH_BYTES`. A single row may be larger than a batch:
    it goes alone, and the broker decides.
    """
    packed: list[BatchBuilder] = []
    for group in groups:
        if len(group) > 1:
            _make_room(packed, group, new_batch)
        for row in group:
            if not packed or not _append(packed[-1], row):
                packed.append(new_batch())
                _append(packed[-1], row)  # the first row of a batch always fits
    for batch in packed:
        batch.close()
    return packed


def _append(batch: BatchBuilder, row: Packable) -> bool:
    added = batch.append(timestamp=None, key=row.key, value=row.value, headers=list(row.headers))
    return added is not None


def _make_room(
    packed: list[BatchBuilder], group: Sequence[Packable], new_batch: Callable[[], BatchBuilder]
) -> None:
    """Begin a new batch unless all rows of `group` fit into the last one."""
    need = sum(map(_size, group))
    if packed and packed[-1].size() + need <= BATCH_BYTES:
        return
    packed.append(new_batch())
    if packed[-1].size() + need > BATCH_BYTES:
        raise TooLargeError(f"{len(group)} records of {need} bytes exceed a batch of {BATCH_BYTES}")


def _size(row: Packable) -> int:
    """Bytes in a batch, never too few."""
    headers = sum(4 * len(name) + len(value) + _HEADER_BYTES for name, value in row.headers)
    return _RECORD_BYTES + len(row.key) + len(row.value or b"") + headers


class BatchSender:
    """Sends packed batches until the brokers have them, or until it is no longer this worker's business."""

    def __init__(self, producer: Callable[[], AIOKafkaProducer]) -> None:
        self._producer = producer

    async def send(
        self, stage: metrics.Stage, chains: Sequence[Chain], is_current: Callable[[], bool]
    ) -> bool:
        """Send several chains, each in its order; `stage` is what is counted.

        True when all are on the brokers; False if `is_current` turned false before. Errors that may pass
        are tried again with a growing pause; KafkaError for one that will not (too large, not authorised).
        """
        if len(chains) == 1:
            return await self._send_chain(stage, chains[0], is_current)
        return all(await asyncio.gather(*(self._send_chain(stage, chain, is_current) for chain in chains)))

    async def _send_chain(self, stage: metrics.Stage, chain: Chain, is_current: Callable[[], bool]) -> bool:
        for batch in chain.batches:
            pause = FIRST_RETRY_SECONDS
            while not await self._sent(stage, chain, batch, is_current):
                if not is_current():
                    return False
                await asyncio.sleep(pause)
                pause = min(2 * pause, LAST_RETRY_SECONDS)
        return True

    async def _sent(
        self, stage: metrics.Stage, chain: Chain, batch: BatchBuilder, is_current: Callable[[], bool]
    ) -> bool:
        if not is_current():
            return False
        topic, partition, _ = chain
        try:
            await (await self._producer().send_batch(batch, topic, partition=partition))
        except KafkaError as error:
            if not (error.retriable or isinstance(error, KafkaTimeoutError)):
                raise
            metrics.RETRIES.labels(stage).inc()
            log.warning("send_retried", topic=topic, partition=partition, error=type(error).__name__)
            return False
        return True

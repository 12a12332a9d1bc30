"""Where a record was first written: its own place, or the one it was republished from.

A record found on a partition that is not murmur2 of its key is written again to the right one. The copy says
where it came from, so that it keeps its event id and is applied once although it may be copied twice. Such a
header is a claim that any producer can make, and a believed one with a high offset would pass later copies
off as repeats. Therefore it is believed only where it is one that a worker could have written (same topic,
another partition of it, a possible offset) and, where a key is given, sealed with it over place and value:
then nobody without the key can make one, and a copied header fits only the value it was made for. Without a
key, somebody who may write to the input topics can hold back copies of records about a tool which they can
name in any record anyway. A header that is not believed is counted and ignored; the record then stands at
its own place.
"""

from collections.abc import Sequence
from hashlib import blake2b
from hmac import compare_digest
from typing import NamedTuple, Protocol

from agrajag.metrics import ORIGINS_IGNORED
from agrajag.wire.cloudevents import ReceivedHeaders
from agrajag.wire.outputs import Output
from agrajag.wire.replays import REPLAY_OF, REPLAY_TIME

ORIGIN = "agrajag-origin"
SEAL = "agrajag-origin-seal"

_HIGHEST_OFFSET = 2**53
_MAX_KEPT_HEADER_BYTES = 1_024
_KEPT = frozenset(
    {
        "content-type",
        "ce_specversion",
        "ce_type",
        "ce_source",
        "ce_id",
        "ce_time",
        REPLAY_OF,
        REPLAY_TIME,
    }
)


class ReceivedRecord(Protocol):
    """What is used of an aiokafka `ConsumerRecord`. `timestamp` is in ms, on inputs of the append."""

    @property
    def topic(self) -> str: ...
    @property
    def partition(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def timestamp(self) -> int: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...
    @property
    def headers(self) -> Sequence[tuple[str, bytes | None]]: ...


class Origin(NamedTuple):
    """The place of a record in a topic; as text `topic-partition-offset`."""

    topic: str
    partition: int
    offset: int

    @property
    def topic_partition(self) -> str:
        """The name under which a document remembers the last offset that it applied."""
        return f"{self.topic}-{self.partition}"

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}-{self.offset}"


def own_place(record: ReceivedRecord) -> Origin:
    """Where `record` was read."""
    return Origin(record.topic, record.partition, record.offset)


class Origins:
    """Reads and writes origins in topics of `partitions` partitions; `key` is one secret of all workers."""

    def __init__(self, partitions: int, key: bytes | None = None) -> None:
        self._partitions = partitions
        self._key = key

    def of(self, record: ReceivedRecord) -> Origin:
        """The believed origin of `record`; its own place if it claims none, or one that is not believed."""
        if not record.headers:
            return own_place(record)
        claim = _header(record.headers, ORIGIN)
        if claim is None:
            return own_place(record)
        origin = self._believed(claim, record)
        if origin is None:
            ORIGINS_IGNORED.inc()
            return own_place(record)
        return origin

    def republished(self, record: ReceivedRecord, key: bytes, partition: int) -> Output:
        """`record` for `partition` under its right `key`, with its origin.

        Of its headers only those that say how to read it are kept, so that the copy fits wherever the value
        does.
        """
        claim = str(self.of(record)).encode()
        headers = [
            (name, value)
            for name, value in record.headers
            if name in _KEPT and value is not None and len(value) <= _MAX_KEPT_HEADER_BYTES
        ]
        headers.append((ORIGIN, claim))
        if self._key is not None:
            headers.append((SEAL, self._seal(self._key, claim, record.value)))
        return Output(record.topic, key, record.value, tuple(headers), partition)

    def _believed(self, claim: bytes, record: ReceivedRecord) -> Origin | None:
        origin = _parsed(claim, record.topic)
        if origin is None or origin.partition >= self._partitions or origin.partition == record.partition:
            return None
        if self._key is not None:
            seal = _header(record.headers, SEAL) or b""
            if not compare_digest(seal, self._seal(self._key, claim, record.value)):
                return None
        return origin

    @staticmethod
    def _seal(key: bytes, claim: bytes, value: bytes | None) -> bytes:
        """A keyed hash of place and value; a longer key than blake2b takes is hashed first."""
        short_key = key if len(key) <= blake2b.MAX_KEY_SIZE else blake2b(key).digest()
        return blake2b(claim + b"\x00" + (value or b""), key=short_key, digest_size=16).digest()


def _parsed(claim: bytes, topic: str) -> Origin | None:
    """`topic-partition-offset` for this very topic, numbers in plain digits."""
    prefix = f"{topic}-".encode()
    if not claim.startswith(prefix):
        return None
    partition, _, offset = claim[len(prefix) :].partition(b"-")
    if not (partition.isdigit() and offset.isdigit() and len(partition) <= 10 and len(offset) <= 16):
        return None
    return Origin(topic, int(partition), int(offset)) if int(offset) <= _HIGHEST_OFFSET else None


def _header(headers: ReceivedHeaders, name: str) -> bytes | None:
    return next((value for key, value in headers if key == name), None)

"""Decides the partition of a record key as Kafka's own clients do: murmur2 of the key, modulo partitions.

The hash is that of Kafka's Java client (seed 0x9747b28c). aiokafka has it too, at several times the cost;
this one also remembers the keys it has seen, since a worker meets the same tools again and again.
"""

from functools import lru_cache
from struct import unpack_from

_SEED = 0x9747B28C
_MIX = 0x5BD1E995
_UINT32 = 0xFFFFFFFF
_POSITIVE = 0x7FFFFFFF


def murmur2(data: bytes) -> int:
    """The unsigned 32-bit murmur2 of `data`, equal to Kafka's `Utils.murmur2` taken as unsigned."""
    length = len(data)
    whole = length & ~3
    value = _SEED ^ length
    for word in unpack_from(f"<{whole >> 2}I", data):
        word = word * _MIX & _UINT32
        value = (value * _MIX & _UINT32) ^ ((word ^ word >> 24) * _MIX & _UINT32)
    if whole != length:
        value = (value ^ int.from_bytes(data[whole:], "little")) * _MIX & _UINT32
    value = (value ^ value >> 13) * _MIX & _UINT32
    return value ^ value >> 15


_remembered = lru_cache(maxsize=1 << 17)(murmur2)


def partition_for(key: bytes, partitions: int) -> int:
    """The partition, 0 to `partitions` − 1, where every Kafka client that hashes with murmur2 puts `key`."""
    return (_remembered(key) & _POSITIVE) % partitions

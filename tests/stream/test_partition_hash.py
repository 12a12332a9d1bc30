"""`agrajag.wire.partition` against aiokafka's own partitioner."""

from aiokafka.partitioner import DefaultPartitioner
from aiokafka.partitioner import murmur2 as aiokafka_murmur2
from hypothesis import given
from hypothesis import strategies as st

from agrajag.wire.partition import murmur2, partition_for


@given(st.binary(max_size=200))
def test_the_hash_always_equals_that_of_kafkas_clients(key: bytes) -> None:
    assert murmur2(key) == aiokafka_murmur2(key)


@given(st.binary(max_size=50), st.integers(1, 100))
def test_a_key_always_goes_where_kafkas_default_partitioner_puts_it(key: bytes, partitions: int) -> None:
    all_partitions = list(range(partitions))
    assert partition_for(key, partitions) == DefaultPartitioner()(key, all_partitions, all_partitions)


def test_known_keys_have_the_hashes_of_the_java_client() -> None:
    # The signed values of org.apache.kafka.common.utils.UtilsTest.testMurmur2
    known = {
        b"21": -973932308,
        b"foobar": -790332482,
        b"a-little-bit-long-string": -985981536,
        b"abc": 479470107,
    }
    assert {key: murmur2(key) for key in known} == {key: value & 0xFFFFFFFF for key, value in known.items()}

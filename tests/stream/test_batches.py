"""How records are packed into batches."""

from itertools import pairwise

import pytest
from aiokafka.producer.message_accumulator import BatchBuilder
from aiokafka.record.memory_records import MemoryRecords
from hypothesis import given, settings
from hypothesis import strategies as st

from agrajag.stream.batches import BATCH_BYTES, Row, TooLargeError, pack


def new_batch() -> BatchBuilder:
    return BatchBuilder(BATCH_BYTES, 0)


def keys_of(batch: BatchBuilder) -> list[bytes]:
    """The keys in a batch, as a broker would read them."""
    records = MemoryRecords(bytes(batch._build()))
    found: list[bytes] = []
    while (built := records.next_batch()) is not None:
        found += [record.key for record in built]
    return found


groups_of_sizes = st.lists(st.lists(st.integers(0, 200_000), min_size=1, max_size=4), max_size=12)


@settings(max_examples=40)
@given(groups_of_sizes)
def test_groups_are_never_parted_and_everything_is_packed_in_order(sizes: list[list[int]]) -> None:
    groups = [
        [Row(b"%d.%d" % (group, number), b"x" * size) for number, size in enumerate(members)]
        for group, members in enumerate(sizes)
    ]
    batches = [keys_of(batch) for batch in pack(new_batch, groups)]
    assert [key for batch in batches for key in batch] == [row.key for group in groups for row in group]
    for batch, following in pairwise(batches):
        assert batch[-1].split(b".")[0] != following[0].split(b".")[0]


@given(
    st.lists(
        st.tuples(st.binary(max_size=90_000), st.text(max_size=50), st.binary(max_size=300)), max_size=40
    )
)
def test_no_batch_of_several_rows_is_larger_than_the_limit(rows: list[tuple[bytes, str, bytes]]) -> None:
    packed = pack(new_batch, [[Row(b"key", value, [(name, header)])] for value, name, header in rows])
    assert all(batch.size() <= BATCH_BYTES for batch in packed)


def test_few_batches_are_made_of_many_small_rows() -> None:
    assert len(pack(new_batch, [[Row(b"key", b"x" * 100)]] * 1_000)) == 1


def test_nothing_makes_no_batch() -> None:
    assert pack(new_batch, []) == []


def test_rows_that_must_stay_together_and_do_not_fit_are_an_error() -> None:
    with pytest.raises(TooLargeError, match="2 records of"):
        pack(new_batch, [[Row(b"a", b"x" * BATCH_BYTES), Row(b"b", b"")]])


def test_a_single_row_of_any_size_goes_alone() -> None:
    rows = [[Row(b"a", b"")], [Row(b"b", b"x" * 2 * BATCH_BYTES)], [Row(b"c", b"")]]
    assert [keys_of(batch) for batch in pack(new_batch, rows)] == [[b"a"], [b"b"], [b"c"]]


def test_a_tombstone_and_its_headers_survive_the_packing() -> None:
    [batch] = pack(new_batch, [[Row(b"k", None, [("revision", b"8")])]])
    [record] = list(MemoryRecords(bytes(batch._build())).next_batch())
    assert (record.key, record.value, list(record.headers)) == (b"k", None, [("revision", b"8")])

"""The table's memory: revisions, partitions, lazy decoding."""

import json
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.stream.memory import PartitionedMemory, revision_of


@dataclass(frozen=True)
class Doc:
    revision: int
    text: str = ""

    @classmethod
    def decode(cls, raw: bytes) -> "Doc":
        return cls(**json.loads(raw))

    def encode(self) -> bytes:
        return json.dumps({"revision": self.revision, "text": self.text}, separators=(",", ":")).encode()


def recover(memory: PartitionedMemory[Doc], doc: Doc | None, *, key: bytes = b"k", revision: int = 0) -> None:
    headers = [] if doc is not None else [("revision", str(revision).encode())]
    memory.recover(0, key, None if doc is None else doc.encode(), headers, 100.0)


def memory() -> PartitionedMemory[Doc]:
    return PartitionedMemory(Doc.decode)


def test_a_changelog_record_of_lower_revision_is_ignored() -> None:
    held = memory()
    recover(held, Doc(7, "new"))
    recover(held, Doc(6, "late"))
    assert held.view(0).get(b"k") == Doc(7, "new")
    assert held.stale == 1


def test_of_two_records_of_one_revision_the_later_holds() -> None:
    held = memory()
    recover(held, Doc(7, "first"))
    recover(held, Doc(7, "again"))
    assert held.view(0).get(b"k") == Doc(7, "again")


def test_a_record_older_than_its_tombstone_does_not_come_back() -> None:
    held = memory()
    recover(held, Doc(7))
    recover(held, None, revision=8)
    recover(held, Doc(7, "late"))
    assert held.view(0).get(b"k") is None


def test_a_tombstone_older_than_the_value_is_ignored() -> None:
    held = memory()
    recover(held, Doc(9))
    recover(held, None, revision=8)
    assert held.view(0).get(b"k") == Doc(9)


def test_a_value_newer_than_a_tombstone_comes_back() -> None:
    held = memory()
    recover(held, None, revision=8)
    recover(held, Doc(9))
    assert held.view(0).get(b"k") == Doc(9)


def test_a_key_that_lives_again_after_recovery_may_begin_at_a_low_revision() -> None:
    held = memory()
    recover(held, None, revision=8)
    held.keep_only([0])
    recover(held, Doc(1))
    assert held.view(0).get(b"k") == Doc(1)


@given(st.lists(st.integers(1, 20), min_size=1))
def test_recovery_always_ends_at_the_highest_revision(revisions: list[int]) -> None:
    held = memory()
    for number, revision in enumerate(revisions):
        recover(held, Doc(revision, str(number)))
    last = max(number for number, revision in enumerate(revisions) if revision == max(revisions))
    assert held.view(0).get(b"k") == Doc(max(revisions), str(last))


def test_a_recovered_value_is_decoded_once_and_only_when_it_is_read() -> None:
    decoded: list[bytes] = []

    def decode(raw: bytes) -> Doc:
        decoded.append(raw)
        return Doc.decode(raw)

    held = PartitionedMemory(decode)
    recover(held, Doc(1))
    view = held.view(0)
    assert (view.revision(b"k"), decoded) == (1, [])
    assert view.get(b"k") is view.get(b"k")
    assert len(decoded) == 1


def test_partitions_that_left_take_their_keys_with_them_recovered_and_live() -> None:
    held = memory()
    recover(held, Doc(1), key=b"recovered")
    held.merge(0, {b"live": (2, Doc(2))}, 100.0)
    held.merge(1, {b"stays": (3, Doc(3))}, 100.0)
    held.keep_only([1])
    assert list(held.view(0)) == []
    assert list(held.view(1)) == [b"stays"]
    assert len(held) == 1


def test_a_key_merged_as_gone_is_gone() -> None:
    held = memory()
    held.merge(0, {b"k": (1, Doc(1))}, 100.0)
    held.merge(0, {b"k": (2, None)}, 101.0)
    assert b"k" not in held.view(0)


def test_what_was_written_since_a_time_counts_live_and_recovered_but_no_repetition() -> None:
    held = memory()
    recover(held, Doc(1), key=b"old")
    held.merge(0, {b"new": (2, Doc(2))}, 200.0)
    held.merge(0, {b"old": (1, Doc(1))}, 300.0)
    assert held.view(0).written_since(150.0) == [b"new"]
    assert set(held.view(0).written_since(100.0)) == {b"old", b"new"}


@given(st.integers(0, 2**53), st.text())
def test_the_revision_is_read_from_the_first_bytes(revision: int, text: str) -> None:
    assert revision_of(Doc(revision, text).encode()) == revision


@pytest.mark.parametrize("raw", [b"", b"{}", b'{"a":1,"revision":2}', b'{"revision":x,', b'{"revision":1'])
def test_a_value_that_does_not_begin_with_a_revision_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"revision|invalid|not found"):
        revision_of(raw)


def test_a_key_is_due_from_its_first_writing_on_until_it_is_put_off_however_often_it_changes() -> None:
    held = memory()
    held.merge(0, {b"k": (1, Doc(1))}, 100.0)
    held.merge(0, {b"k": (2, Doc(2))}, 200.0)
    assert held.view(0).due(99.0) == []
    assert held.view(0).due(100.0) == [b"k"]
    held.view(0).put_off(b"k", 300.0)
    held.merge(0, {b"k": (3, Doc(3))}, 250.0)
    assert held.view(0).due(299.0) == []
    assert held.view(0).due(300.0) == [b"k"]


def test_a_look_at_a_recovered_value_leaves_it_undecoded() -> None:
    decoded: list[bytes] = []

    def decode(raw: bytes) -> Doc:
        decoded.append(raw)
        return Doc.decode(raw)

    held = PartitionedMemory(decode)
    recover(held, Doc(1))
    assert [held.view(0).peek(b"k") for _ in range(2)] == [Doc(1), Doc(1)]
    assert len(decoded) == 2
    assert held.view(0).get(b"k") is held.view(0).peek(b"k")

r"""Lets consumers read records whose header names are not UTF-8.

Kafka does not look at header names, and several clients write any bytes. aiokafka raises UnicodeDecodeError for such a
record, on every try and for all that lies behind it: one record would stop a partition for good. Here the rest of what
was fetched is read again by aiokafka's reader in Python, with the offending bytes spelled out (`\xff`).
"""

from typing import Any, SupportsIndex

from aiokafka.consumer import fetcher
from aiokafka.record.default_records import _DefaultRecordBatchPy
from aiokafka.record.memory_records import MemoryRecords, _MemoryRecordsPy

from agrajag.metrics import REPAIRS
from agrajag.wire.reasons import RepairKind


def accept_any_header_name() -> None:
    """Changes aiokafka's consumers in this process, those of Faust included; once is enough, again is harmless."""
    fetcher.MemoryRecords = _KeptRecords
    fetcher.PartitionRecords = _ForgivingRecords


class _KeptRecords(MemoryRecords):  # type: ignore[misc]
    """What one fetch brought for a partition, with its bytes still at hand."""

    def __init__(self, raw: bytes) -> None:
        super().__init__(raw)
        self.raw = raw


class _ForgivingRecords(fetcher.PartitionRecords):  # type: ignore[misc]
    """Goes over to the forgiving reader at the first name that cannot be read, and stays with it."""

    _records: Any

    def __next__(self) -> Any:
        try:
            return super().__next__()
        except UnicodeDecodeError:
            REPAIRS.labels(RepairKind.HEADER_NAME_NOT_TEXT).inc()
            self._records = _ForgivingReader(self._records.raw, self.next_fetch_offset)
            self._records_iterator = self._unpack_records()
            return super().__next__()


class _ForgivingReader(_MemoryRecordsPy):  # type: ignore[misc]
    """The batches from the one that holds `offset`. Batches before it would set the position back."""

    def __init__(self, raw: bytes, offset: int) -> None:
        super().__init__(raw)
        while self.has_next() and _ForgivingBatch(self._next_slice).next_offset <= offset:
            self._cache_next()

    def next_batch(self) -> "_ForgivingBatch":
        batch = _ForgivingBatch(self._next_slice)
        self._cache_next()
        return batch


class _ForgivingBatch(_DefaultRecordBatchPy):  # type: ignore[misc]
    """A batch of the only format that has headers."""

    _buffer: Any

    def _maybe_uncompress(self) -> None:
        super()._maybe_uncompress()
        self._buffer = _ForgivingBytes(self._buffer)


class _ForgivingBytes(bytearray):
    """Bytes that spell out what is not UTF-8; of a batch, only header names are ever decoded."""

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        found = super().__getitem__(index)
        return _ForgivingBytes(found) if isinstance(index, slice) else found

    def decode(self, encoding: str = "utf-8", _errors: str = "strict") -> str:
        return super().decode(encoding, "backslashreplace")

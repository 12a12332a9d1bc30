"""A null value deletes, and only with a `revision` header: nothing else says which documents are older than it."""

from agrajag.errors import InputError
from agrajag.wire.origin import ReceivedRecord
from agrajag.wire.outputs import REVISION_HEADER, Output
from agrajag.wire.reasons import DeadLetterReason

_MAX_REVISION = 2**53


def tombstone(topic: str, key: bytes, revision: int, partition: int | None = None) -> Output:
    """The record that deletes what stands under `key` up to `revision`."""
    return Output(topic, key, None, (revision_header(revision),), partition)


def revision_header(revision: int) -> tuple[str, bytes]:
    """The header of a deletion up to `revision`."""
    return REVISION_HEADER, b"%d" % revision


def tombstone_revision(record: ReceivedRecord) -> int:
    """The revision of a deletion. Raises InputError where the header is missing or is none."""
    told = next((value for name, value in record.headers if name == REVISION_HEADER), None)
    if told is None:
        raise InputError(DeadLetterReason.MISSING_FIELD, "revision: no such header on a null value")
    if not told.isdigit() or len(told) > 16 or int(told) > _MAX_REVISION:
        raise InputError(DeadLetterReason.INVALID_FIELD, "revision: the header is no revision")
    return int(told)

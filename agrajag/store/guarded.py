"""Connects a collection with writers that repeat themselves: of all writes to a key the highest revision wins.

The order in which writes arrive does not matter, and writing something twice is writing it once. A document that
is gone leaves a marker with its last revision for a day, so that an older write that comes late does not bring
it back.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, NamedTuple

import bson
import structlog
from bson import Int64
from bson.errors import BSONError
from bson.raw_bson import RawBSONDocument
from pymongo import ASCENDING, IndexModel, ReplaceOne
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import BulkWriteError
from pymongo.write_concern import WriteConcern

from agrajag.clock import utc_now
from agrajag.errors import InputError, TransientError
from agrajag.store.bson_form import AWARE, Record, from_bson
from agrajag.store.failures import DUPLICATE_KEY, describe, is_transient, translated

log = structlog.get_logger(__name__)

BULK_LIMIT = 1_000
MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
GONE_FOR = timedelta(hours=24)
"""How long the marker of a gone document is kept: as long as the table keeps its own."""

PRESENT: Mapping[str, Any] = {"goneAt": None}
"""The part of a filter that leaves out markers; a missing field equals null."""

_ON_DISK = WriteConcern("majority", j=True, wtimeout=10_000)
_GONE_INDEX = IndexModel([("goneAt", ASCENDING)], expireAfterSeconds=int(GONE_FOR.total_seconds()))


class Write(NamedTuple):
    """One document to be written under `key`; `document` None says that it is gone as of `revision`."""

    key: str
    revision: int
    document: Mapping[str, Any] | None

    def in_store(self) -> dict[str, Any]:
        """The document as it stands in the collection, or the marker of one that is gone."""
        revision = Int64(self.revision)
        if self.document is None:
            return {"_id": self.key, "revision": revision, "goneAt": utc_now()}
        return {"_id": self.key, **self.document, "revision": revision}

    def encoded(self) -> bytes:
        """The document byte for byte as the store keeps it."""
        return bson.encode(self.in_store())


class Refusal(NamedTuple):
    """A write that this store will never take; `reason` is for people."""

    write: Write
    reason: str


@dataclass(frozen=True, slots=True)
class Written:
    """What became of the distinct keys of one call: `stored` and `stale` are counts, refusals are listed."""

    stored: int
    stale: int
    refused: tuple[Refusal, ...] = ()


class GuardedCollection:
    """A collection whose documents have a string `_id` and a `revision`, and change only to a higher one.

    A subclass names its collection and its indexes: all keys ascending, equality first, the range last. Its
    reads put `PRESENT` into their filters unless they select by a field that markers have not.
    """

    name: ClassVar[str]
    indexes: ClassVar[tuple[IndexModel, ...]] = ()

    def __init__(self, database: AsyncDatabase[dict[str, Any]]) -> None:
        self._collection: AsyncCollection[dict[str, Any]] = database.get_collection(
            self.name, codec_options=AWARE, write_concern=_ON_DISK
        )

    async def ensure_indexes(self) -> None:
        """Creates the indexes that are missing."""
        with translated(f"creating the indexes of {self.name}"):
            await self._collection.create_indexes([_GONE_INDEX, *self.indexes])

    async def write(self, writes: Iterable[Write]) -> Written:
        """Writes each document unless the store has its revision or a higher one; returns when all are safe.

        Of several writes to one key only the newest counts. Raises TransientError or PermanentError if the
        store is away or refuses everything; a part may be written then, and the whole call can be repeated.
        """
        newest = _newest(writes)
        sendable: list[Write] = []
        operations: list[ReplaceOne[Any]] = []
        refused: list[Refusal] = []
        for write in newest:
            try:
                operations.append(_guarded_replace(write))
                sendable.append(write)
            except (BSONError, OverflowError, ValueError, RecursionError) as error:
                refused.append(Refusal(write, f"no BSON document: {error}"))
        stale = 0
        for start in range(0, len(operations), BULK_LIMIT):
            errors = await self._write_bulk(operations[start : start + BULK_LIMIT])
            for position, trouble in errors.items():
                if _is_stale(trouble):
                    stale += 1
                else:
                    reason = describe(trouble["code"], trouble.get("errmsg", ""))
                    refused.append(Refusal(sendable[start + position], reason))
        return Written(len(newest) - stale - len(refused), stale, tuple(refused))

    async def raw_documents(self) -> AsyncIterator[RawBSONDocument]:
        """Every document as its bytes, in the order of keys; markers left out."""
        raw = self._collection.with_options(codec_options=AWARE.with_options(document_class=RawBSONDocument))
        with translated(f"reading {self.name}"):
            async with raw.find(PRESENT).sort("_id", ASCENDING) as cursor:
                async for document in cursor:
                    yield document

    def _read(self, record_type: type[Record], document: Mapping[str, Any]) -> Record | None:
        """The record that a document holds; None for one that holds none, which is logged."""
        try:
            return from_bson(record_type, document)
        except InputError as error:
            log.warning("stored_document_unreadable", collection=self.name, reason=error.detail)
            return None

    async def _write_bulk(self, operations: Sequence[ReplaceOne[Any]]) -> dict[int, Mapping[str, Any]]:
        """The errors by position.

        What is stale is sent twice: where two writers insert the same key at once, the loser is told of a
        duplicate although its revision may be the higher one. The second time it finds the document.
        """
        errors = await self._send(operations)
        again = [position for position, error in errors.items() if _is_stale(error)]
        if again:
            for position in again:
                del errors[position]
            repeated = await self._send([operations[position] for position in again])
            errors |= {again[place]: error for place, error in repeated.items()}
        return errors

    async def _send(self, operations: Sequence[ReplaceOne[Any]]) -> dict[int, Mapping[str, Any]]:
        doing = f"writing {len(operations)} documents to {self.name}"
        with translated(doing):
            try:
                await self._collection.bulk_write(operations, ordered=False)
            except BulkWriteError as error:
                details = error.details or {}
            else:
                return {}
        for trouble in (*details["writeErrors"], *details["writeConcernErrors"]):
            # A write concern error, of whatever code, says that the writes may not survive.
            if is_transient(trouble["code"]) or trouble in details["writeConcernErrors"]:
                raise TransientError(
                    f"store: {doing}: {describe(trouble['code'], trouble.get('errmsg', ''))}"
                )
        return {error["index"]: error for error in details["writeErrors"]}


def _newest(writes: Iterable[Write]) -> list[Write]:
    newest: dict[str, Write] = {}
    for write in writes:
        known = newest.get(write.key)
        if known is None or write.revision > known.revision:
            newest[write.key] = write
    return list(newest.values())


def _guarded_replace(write: Write) -> ReplaceOne[Any]:
    # Encoded here, one by one, since the driver fails a whole bulk for one document that it cannot encode.
    encoded = RawBSONDocument(bson.encode(write.in_store()))
    if len(encoded.raw) > MAX_DOCUMENT_BYTES:
        raise ValueError(f"{len(encoded.raw)} bytes, more than {MAX_DOCUMENT_BYTES}")
    return ReplaceOne({"_id": write.key, "revision": {"$lt": write.revision}}, encoded, upsert=True)


def _is_stale(error: Mapping[str, Any]) -> bool:
    """Whether the guard let nothing through: the upsert then collides with the document that is there."""
    return bool(error["code"] == DUPLICATE_KEY and error.get("keyPattern", {"_id": 1}) == {"_id": 1})

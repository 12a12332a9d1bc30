"""The records of the `documents` topic: what one says, and how one is written.

Key and document must agree, so that no document can stand under another's name, and the hash must be that of the
content, so that equal hashes mean equal documents. Of two records of a key the higher revision counts.
"""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from agrajag.core.newest import Newest
from agrajag.documents.cascade import DocumentName
from agrajag.errors import InputError
from agrajag.model.answers import Document
from agrajag.model.keys import NO_PROJECT, parts
from agrajag.wire.cloudevents import EventType, binary_headers
from agrajag.wire.codec import decode
from agrajag.wire.origin import ReceivedRecord
from agrajag.wire.outputs import Output
from agrajag.wire.reasons import DeadLetterReason
from agrajag.wire.tombstones import tombstone, tombstone_revision

MAX_RECORD_BYTES = 4_000_000
"""The largest value of a document's record: below what the topic and a request take."""
SOURCE = "agrajag/documents"


class DocumentChange(NamedTuple):
    """What one record says: a document as of a revision, or that it is gone."""

    name: DocumentName
    revision: int
    document: Document | None


def content_hash(content: str) -> str:
    """The SHA-256 of the content in UTF-8, in hexadecimal digits."""
    return hashlib.sha256(content.encode()).hexdigest()


def name_of(document: Document) -> DocumentName:
    """What identifies the document."""
    return DocumentName(document.tenant_id, document.project_id, document.path)


def a_document(
    name: DocumentName, content: str, revision: int, at: datetime, by: str | None = None
) -> Document:
    """The document with this content as of `revision`, put there `by` somebody.

    Raises InputError for one that no record can hold.
    """
    document = Document(
        tenant_id=name.tenant_id,
        project_id=name.project_id,
        path=name.path,
        content=content,
        content_hash=content_hash(content),
        revision=revision,
        by=by,
        at=at,
    )
    size = len(document.to_json())
    if size > MAX_RECORD_BYTES:
        raise InputError(
            DeadLetterReason.TOO_LARGE, f"{name} makes a record of {size} bytes, limit {MAX_RECORD_BYTES}"
        )
    return document


def document_change(record: ReceivedRecord) -> DocumentChange:
    """What a record of `documents` says. Raises InputError for one that says nothing usable."""
    if record.value is None:
        return DocumentChange(_name_in_key(record), tombstone_revision(record), None)
    document = decode(Document, record, max_bytes=MAX_RECORD_BYTES)
    name = name_of(document)
    if record.key != name.key.encode():
        raise InputError(DeadLetterReason.INVALID_FIELD, "key: is not that of the document in the value")
    if document.content_hash != content_hash(document.content):
        raise InputError(DeadLetterReason.INVALID_FIELD, "contentHash: is not the SHA-256 of the content")
    return DocumentChange(name, document.revision, document)


def document_output(topic: str, document: Document) -> Output:
    """The record that puts a document in place."""
    key = name_of(document).key
    headers = binary_headers(EventType.DOCUMENT, SOURCE, f"{key}|{document.revision}")
    return Output(topic, key.encode(), document.to_json(), headers)


def removal_output(topic: str, name: DocumentName, revision: int) -> Output:
    """The record that removes a document."""
    return tombstone(topic, name.key.encode(), revision)


def _name_in_key(record: ReceivedRecord) -> DocumentName:
    try:
        key = (record.key or b"").decode()
        tenant_id, _, path = parts(key)
        # Only in the key as it is written can a project that is called `-` be told from none.
        project_id = None if key.split("|")[1] == NO_PROJECT else parts(key)[1]
    except ValueError as error:
        raise InputError(DeadLetterReason.INVALID_FIELD, "key: is not tenant|project|path") from error
    name = DocumentName(tenant_id, project_id, path)
    if not (tenant_id and path) or name.key != key:
        raise InputError(DeadLetterReason.INVALID_FIELD, "key: is escaped in an unusual way")
    return name


class DocumentTable:
    """The newest revision of each document, from records in any order and any number of times."""

    def __init__(self) -> None:
        self._newest: Newest[DocumentName, Document] = Newest()

    def apply(self, change: DocumentChange) -> bool:
        """Take a change in; False if it is not newer than what stands."""
        return self._newest.take(*change)

    def revision(self, name: DocumentName) -> int:
        """The newest revision of a document, of one that is gone too; 0 for one that never was."""
        return self._newest.revision(name) or 0

    @property
    def documents(self) -> Mapping[DocumentName, Document]:
        """The documents that are there."""
        return MappingProxyType({standing.key: standing.value for standing in self._newest})

"""Reads the compacted `documents` topic: every document that stands there, and then each change.

A record that says nothing usable is skipped, logged and counted; the document that stood under its key stays.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import structlog

from agrajag.documents.records import DocumentTable, document_change
from agrajag.errors import InputError
from agrajag.metrics import DOCUMENTS_SKIPPED
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.following import follow
from agrajag.wire.origin import own_place
from agrajag.wire.topics import Topic, Topics

log = structlog.get_logger(__name__)


async def follow_documents(
    connection: KafkaConnection, topics: Topics
) -> AsyncGenerator[DocumentTable, None]:
    """The one table of all documents: first as of the end that the topic had at the start, then after each change.

    Raises TransientError or PermanentError; a new call reads all of it again.
    """
    table = DocumentTable()
    told = False
    async with aclosing(follow(connection, topics.name(Topic.DOCUMENTS))) as following:
        async for records, caught_up, _ in following:
            changed = False
            for record in records:
                try:
                    changed |= table.apply(document_change(record))
                except InputError as error:
                    DOCUMENTS_SKIPPED.labels(error.reason).inc()
                    log.warning("document_record_skipped", place=str(own_place(record)), reason=str(error))
            if caught_up and (changed or not told):
                told = True
                yield table


async def read_documents(connection: KafkaConnection, topics: Topics) -> DocumentTable:
    """All documents that the topic holds now. Raises as `follow_documents`."""
    async with aclosing(follow_documents(connection, topics)) as tables:
        return await anext(tables)

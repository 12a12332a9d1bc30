"""Compares the store with a topic that it mirrors: the newest revision of every key must stand in it."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from typing import NamedTuple

from agrajag.core.newest import Newest
from agrajag.errors import InputError
from agrajag.sink.routes import ROUTES, Route
from agrajag.store import GuardedCollection, HealthCollection, Store
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.following import records_to_end
from agrajag.wire.topics import Topics

_LOOK_AGAIN_SECONDS = 0.5


class Fault(StrEnum):
    """How a document of the store differs from the topic's."""

    MISSING = "missing"
    EXTRA = "extra"
    OLDER = "older"
    NEWER = "newer"
    OTHER_CONTENT = "other content"


class Difference(NamedTuple):
    """One key on which the two disagree; a revision is None where the document is absent or gone."""

    key: str
    fault: Fault
    topic_revision: int | None
    store_revision: int | None


@dataclass(frozen=True, slots=True)
class Books:
    """The result: how many documents the topic ends with, and where the store is not the same."""

    documents: int
    differences: tuple[Difference, ...]


class _Entry(NamedTuple):
    revision: int
    digest: bytes


async def compare(
    connection: KafkaConnection,
    topics: Topics,
    store: Store,
    route: Route = ROUTES[0],
    collection: type[GuardedCollection] = HealthCollection,
    *,
    patience_seconds: float = 0.0,
) -> Books:
    """Reads the topic to its present end and then the collection, which should be at rest.

    With patience the collection is looked at again until there is no difference or the time is over, for a sink that is
    a little behind. Records that belong to the dead letters are passed over. Keeps a few hundred bytes for each key.
    Raises TransientError or PermanentError if one side cannot be read.
    """
    on_topic = await _on_topic(connection, topics, route, collection)
    clock = asyncio.get_running_loop()
    deadline = clock.time() + patience_seconds
    while True:
        differences = _differences(on_topic, await _in_store(store.collection(collection)))
        if not differences or clock.time() >= deadline:
            return Books(len(on_topic), tuple(differences))
        await asyncio.sleep(_LOOK_AGAIN_SECONDS)


async def _on_topic(
    connection: KafkaConnection, topics: Topics, route: Route, collection: type[GuardedCollection]
) -> dict[str, _Entry]:
    latest: Newest[str, bytes] = Newest()
    async for record in records_to_end(connection, topics.name(route.topic)):
        with suppress(InputError):
            for wanted, write in route.entries(record):
                if wanted is collection:
                    digest = None if write.document is None else _digest(write.encoded())
                    latest.take(write.key, write.revision, digest)
    return {key: _Entry(revision, digest) for key, revision, digest in latest}


async def _in_store(collection: GuardedCollection) -> dict[str, _Entry]:
    return {
        document["_id"]: _Entry(document["revision"], _digest(bytes(document.raw)))
        async for document in collection.raw_documents()
    }


def _differences(on_topic: Mapping[str, _Entry], in_store: Mapping[str, _Entry]) -> list[Difference]:
    differences = []
    for key in sorted(on_topic.keys() | in_store.keys()):
        wanted, found = on_topic.get(key), in_store.get(key)
        if wanted == found:
            continue
        if wanted is None or found is None:
            fault = Fault.EXTRA if wanted is None else Fault.MISSING
        elif found.revision == wanted.revision:
            fault = Fault.OTHER_CONTENT
        else:
            fault = Fault.OLDER if found.revision < wanted.revision else Fault.NEWER
        differences.append(Difference(key, fault, wanted and wanted.revision, found and found.revision))
    return differences


def _digest(encoded: bytes) -> bytes:
    return blake2b(encoded, digest_size=16).digest()

"""Reads the health documents that stand now for a few keys, from the compacted topic, outside of any group."""

from collections.abc import Collection
from contextlib import aclosing

from agrajag.errors import InputError
from agrajag.model.health import ToolHealth
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.codec import decode
from agrajag.wire.following import records_to_end
from agrajag.wire.tombstones import tombstone_revision
from agrajag.wire.topics import Topic, Topics


async def standing_documents(
    connection: KafkaConnection, topics: Topics, keys: Collection[str]
) -> dict[str, ToolHealth]:
    """The newest document of each of `keys` that has one. A record that says nothing usable is passed over.

    Jobs in flight and places in the log are the worker's alone and not in it. Raises TransientError or PermanentError.
    """
    wanted = {key.encode(): key for key in keys}
    newest: dict[str, tuple[int, ToolHealth | None]] = {}
    async with aclosing(records_to_end(connection, topics.name(Topic.HEALTH_CHANGED))) as records:
        async for record in records:
            key = wanted.get(record.key or b"")
            if key is None:
                continue
            try:
                health = None if record.value is None else decode(ToolHealth, record)
                revision = tombstone_revision(record) if health is None else health.revision
            except InputError:
                continue
            if key not in newest or revision > newest[key][0]:
                newest[key] = revision, health
    return {key: health for key, (_, health) in newest.items() if health is not None}

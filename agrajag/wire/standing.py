"""Reads the health documents that stand now for a few keys, from the compacted topic, outside of any group."""

from collections.abc import Collection
from contextlib import aclosing, suppress

from agrajag.core.newest import Newest
from agrajag.errors import InputError
from agrajag.model.health import ToolHealth
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.following import records_to_end
from agrajag.wire.health_records import health_change
from agrajag.wire.topics import Topic, Topics


async def standing_documents(
    connection: KafkaConnection, topics: Topics, keys: Collection[str]
) -> dict[str, ToolHealth]:
    """The newest document of each of `keys` that has one. A record that says nothing usable is passed over.

    Jobs in flight and places in the log are the worker's alone and not in it. Raises TransientError or PermanentError.
    """
    wanted = {key.encode() for key in keys}
    newest: Newest[str, ToolHealth] = Newest()
    async with aclosing(records_to_end(connection, topics.name(Topic.HEALTH_CHANGED))) as records:
        async for record in records:
            if record.key in wanted:
                with suppress(InputError):
                    newest.take(*health_change(record))
    return {standing.key: standing.value for standing in newest}

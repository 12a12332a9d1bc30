"""Reads which health documents stand now, of one tool or of a tenant, for whoever looks once."""

from collections.abc import Callable
from contextlib import aclosing, suppress

from agrajag.core.newest import Newest
from agrajag.errors import InputError
from agrajag.model.health import ToolHealth
from agrajag.model.keys import parts
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.following import records_to_end
from agrajag.wire.health_records import health_change
from agrajag.wire.topics import Topic, Topics


def of_tool(tenant_id: str, tool_name: str | None) -> Callable[[str], bool]:
    """Whether a key is that of a document of this tool, or of any of the tenant's where no tool is named."""

    def is_wanted(key: str) -> bool:
        found = parts(key)
        return found[0] == tenant_id and tool_name in (None, found[-1])

    return is_wanted


async def standing_documents(
    connection: KafkaConnection, topics: Topics, wanted: Callable[[str], bool]
) -> list[ToolHealth]:
    """The newest of each document that there is, of those whose key is `wanted`, by key.

    A record that says nothing usable is passed over. Raises TransientError or PermanentError.
    """
    newest: Newest[str, ToolHealth] = Newest()
    async with aclosing(records_to_end(connection, topics.name(Topic.HEALTH_CHANGED))) as records:
        async for record in records:
            if not wanted((record.key or b"").decode("utf-8", "replace")):
                continue
            with suppress(InputError):
                newest.take(*health_change(record))
    return [standing.value for standing in sorted(newest, key=lambda standing: standing.key)]

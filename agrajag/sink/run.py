"""Runs a sink from the first connection to its end."""

from collections.abc import Collection

import structlog

from agrajag.errors import TransientError
from agrajag.sink.broker import Group
from agrajag.sink.mirror import Mirror
from agrajag.sink.outage import Outage
from agrajag.sink.routes import ROUTES, Route
from agrajag.store import Store
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.topics import Topics

log = structlog.get_logger(__name__)


async def run_sink(
    connection: KafkaConnection,
    topics: Topics,
    *,
    store_uri: str,
    database: str,
    group: Group | None = None,
    routes: Collection[Route] = ROUTES,
) -> None:
    """Mirrors the topics of `routes` into the store until it is cancelled, and closes everything then.

    Brokers or a store that are away are waited for, at the start as later, as long as it takes. Any number of sinks may
    share a group (by default `<prefix>.sink`). Raises ConfigError or PermanentError where waiting does not help.
    """
    store = await _opened(store_uri, database)
    async with store:
        mirror = Mirror(connection, topics, store, group or Group(f"{topics.prefix}.sink"), routes)
        log.info("sink_started", topics=sorted(route.topic for route in routes))
        try:
            await mirror.run()
        finally:
            log.info("sink_ended")


async def _opened(store_uri: str, database: str) -> Store:
    outage = Outage("store")
    while True:
        try:
            store = await Store.open(store_uri, database)
        except TransientError as error:
            await outage.pause(error)
        else:
            outage.over()
            return store

"""Runs a sink from the first connection to its end."""

import asyncio
from collections.abc import Collection

import structlog

from agrajag.errors import TransientError
from agrajag.monitor.dead_letter_share import BadStart, watch_dead_letters
from agrajag.monitor.members import MemberVitals
from agrajag.monitor.pulse import Pulse
from agrajag.sink.mirror import Mirror
from agrajag.sink.routes import ROUTES, Route
from agrajag.store import Store
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.membership import Group
from agrajag.wire.outage import Outage
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
    pulse: Pulse | None = None,
) -> None:
    """Mirrors the topics of `routes` into the store until it is cancelled, and closes everything then.

    Brokers or a store that are away are waited for, at the start as later, as long as it takes. Any number of sinks may
    share a group (by default `<prefix>.sink`). `pulse` is told how the sink is. Raises ConfigError or PermanentError
    where waiting does not help.
    """
    store_outage = Outage("sink", "store")
    pulse = pulse or Pulse(unready_after_seconds=30.0)
    vitals = MemberVitals(connection, topics, pulse, lambda: store_outage.goes_on)
    beside = [asyncio.create_task(vitals.watch()), asyncio.create_task(watch_dead_letters(BadStart()))]
    try:
        async with await _opened(store_uri, database, store_outage) as store:
            member = group or Group(f"{topics.prefix}.sink")
            mirror = vitals.member = Mirror(connection, topics, store, member, routes, store_outage)
            log.info("sink_started", topics=sorted(route.topic for route in routes))
            try:
                await mirror.run()
            finally:
                log.info("sink_ended")
    finally:
        for task in beside:
            task.cancel()


async def _opened(store_uri: str, database: str, outage: Outage) -> Store:
    while True:
        try:
            store = await Store.open(store_uri, database)
        except TransientError as error:
            await outage.pause(error)
        else:
            outage.over()
            return store

"""Builds the worker: the one table, and its agents of a few lines each."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any

from agrajag.clock import Clock, utc_now
from agrajag.model.health import HealthEntry
from agrajag.stream.applying import ApplyAttempt
from agrajag.stream.commanding import CommandAttempt
from agrajag.stream.deciding import Attempt, Deciding
from agrajag.stream.entries import EntryCodec
from agrajag.stream.fetches import FetchApp
from agrajag.stream.linking import LinkAttempt, LinksAttempt
from agrajag.stream.recovering import RecoverAttempt
from agrajag.stream.reemission import Reemission
from agrajag.stream.running import StreamSettings, create_app
from agrajag.stream.steps import StrictOrder, no_failpoint
from agrajag.stream.surroundings import Effective, Surroundings
from agrajag.stream.sweeping import Sweeping
from agrajag.stream.table import ChangelogTable
from agrajag.stream.telling import Telling
from agrajag.stream.triaging import TriageAttempt
from agrajag.wire.origin import Origins
from agrajag.wire.topics import Topic, Topics

AGENTS: tuple[type[Attempt[Any]], ...] = (
    TriageAttempt,
    RecoverAttempt,
    LinksAttempt,
    LinkAttempt,
    CommandAttempt,
    ApplyAttempt,
)
"""What a worker decides about: one agent per topic, with concurrency 1."""
REEMITTER = "agrajag/reemission"
TELLER = "agrajag/telling"


def build_worker(
    settings: StreamSettings,
    topics: Topics,
    effective: Effective,
    origins: Origins,
    clock: Clock = utc_now,
    failpoint: Callable[[str], object] = no_failpoint,
    beside: Iterable[Callable[[], Awaitable[None]]] = (),
) -> FetchApp:
    """The Faust app of a worker, not yet started. `failpoint` is told each place between two parts of the order.

    What is to run `beside` the agents begins when the table is recovered; if it raises, the worker ends.
    """
    app = create_app(settings)
    codec = EntryCodec()
    table = ChangelogTable(
        app,
        name="health",
        changelog=topics.name(Topic.HEALTH_CHANGELOG),
        partitions=topics.partitions,
        decode=codec.decode,
        encode=codec.encode,
    )
    order = StrictOrder(app, table, failpoint, topic_label=topics.labels().__getitem__)
    around = Surroundings(
        topics, effective, origins, codec, clock, told_interval_seconds=settings.told_interval_seconds
    )
    for attempt in AGENTS:
        _add_agent(app, order, around, attempt)
    reemission = Reemission(
        order,
        late_record_seconds=settings.late_record_seconds,
        publish=partial(around.standing, REEMITTER),
    )
    telling = Telling(
        order, interval_seconds=settings.told_interval_seconds, publish=partial(around.published, TELLER)
    )
    app.last_words.append(telling.tell_all)
    sweeping = Sweeping(order, around, settings.sweep_seconds)
    for work in (reemission.run, telling.run, sweeping.run, *beside):
        app.task(work)
    return app


def _add_agent(
    app: FetchApp, order: StrictOrder[HealthEntry], around: Surroundings, attempt: type[Attempt[Any]]
) -> None:
    """The agent of one topic."""
    step = Deciding(around, attempt)
    topics = around.topics

    async def agent(stream: Any) -> None:
        # Partitions at the same time, so that one waits for the brokers while another is decided; each in its own
        # order, by its lock. A task that raises ends the group, and so the worker.
        async with asyncio.TaskGroup() as group:
            async for fetch in stream:
                group.create_task(order.run(fetch, step))

    app.agent(app.fetch_topic(topics.name(attempt.source), topics.partitions), name=attempt.emitter)(agent)

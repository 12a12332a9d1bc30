"""The worker: its documents, its stream, its table, and what has to be right before it starts."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from agrajag.bootstrap.extras import extra
from agrajag.bootstrap.monitor import monitored
from agrajag.bootstrap.origins import origins_of
from agrajag.bootstrap.topics import refuse_unfit_topics
from agrajag.settings import Settings
from agrajag.wire.clients import admin_client, wait_for_broker
from agrajag.wire.topic_admin import topic_findings
from agrajag.wire.topics import Topic

if TYPE_CHECKING:
    from agrajag.stream.rebuilding import Rebuilt
    from agrajag.stream.running import StreamSettings


def run_worker(settings: Settings) -> int:
    """Run a worker until SIGTERM or SIGINT; its exit code: 0 after these, 1 after a crash.

    Raises ConfigError if the topics are not fit for it, its table was lost, or its start was a bad one, TransientError
    if no broker answers.
    """
    with extra("worker"):
        from agrajag.stream import running
        from agrajag.stream.monitoring import Monitoring
        from agrajag.stream.worker import build_worker
    from agrajag.documents.live import LiveDocuments

    topics = settings.topics.topics()
    documents = LiveDocuments(
        settings.kafka.connection(), topics, settings.policy.policy(), settings.documents.dir
    )
    origins = origins_of(settings)
    stream = _stream_settings(settings)

    async def prepare() -> None:
        await _fit_for_worker(settings)
        await documents.start()

    with monitored(settings.monitor, settings.monitor.worker_port) as pulse:
        label = topics.labels().__getitem__
        return running.run_worker(
            stream,
            lambda: build_worker(stream, topics, documents.effective, origins, beside=(documents.run,)),
            prepare,
            Monitoring(pulse, label, settings.worker.bad_start()),
        )


async def rebuild_tables(settings: Settings, tell: Callable[[str], None], *, force: bool) -> "Rebuilt":
    """Write the worker's table from `health-changed`; `tell` is given a line now and then.

    Raises ConfigError if the topics are not fit for a worker, PermanentError while workers are alive, or where
    documents move though records wait for them unless that is forced, TransientError if no broker answers.
    """
    with extra("worker"):
        from agrajag.stream.rebuilding import Rebuilding
        from agrajag.stream.worker import AGENTS

    connection, topics = settings.kafka.connection(), settings.topics.topics()
    await wait_for_broker(connection, settings.kafka.wait_seconds)
    async with admin_client(connection) as admin:
        refuse_unfit_topics(await topic_findings(admin, topics), topics)
    sources = [agent.source for agent in AGENTS]
    rebuilding = Rebuilding(connection, topics, group=worker_group(settings), sources=sources, tell=tell)
    return await rebuilding.run(force=force)


def _stream_settings(settings: Settings) -> "StreamSettings":
    from agrajag.stream.running import StreamSettings

    worker = settings.worker
    return StreamSettings(
        group=worker_group(settings),
        connection=settings.kafka.connection(),
        session_timeout_seconds=worker.session_timeout_seconds,
        delivery_timeout_seconds=worker.delivery_timeout_seconds,
        commit_interval_seconds=worker.commit_interval_seconds,
        broker_wait_seconds=settings.kafka.wait_seconds,
        stall_seconds=worker.watchdog_seconds,
        told_interval_seconds=worker.told_interval_seconds,
    )


async def _fit_for_worker(settings: Settings) -> None:
    from agrajag.stream.entries import EntryCodec
    from agrajag.stream.sources import refuse_sources_made_again
    from agrajag.stream.table import refuse_lost_table
    from agrajag.stream.worker import AGENTS

    connection, topics = settings.kafka.connection(), settings.topics.topics()
    async with admin_client(connection) as admin:
        refuse_unfit_topics(await topic_findings(admin, topics), topics)
    changelog, evidence = topics.name(Topic.HEALTH_CHANGELOG), topics.name(Topic.HEALTH_CHANGED)
    await refuse_lost_table(changelog, evidence, **connection.client_options())
    await refuse_sources_made_again(
        [topics.name(agent.source) for agent in AGENTS],
        changelog,
        partitions=topics.partitions,
        group=worker_group(settings),
        applied=lambda raw: EntryCodec.decode(raw).applied,
        **connection.client_options(),
    )


def worker_group(settings: Settings) -> str:
    return f"{settings.topics.prefix}.worker"

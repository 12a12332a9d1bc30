"""Connects the settings with the concrete parts: the only module that says which adapter stands behind which role.

Each function imports what its role needs when it is called, so that a role runs without the libraries of the others,
and a missing extra is one line that names it.
"""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from agrajag.errors import ConfigError
from agrajag.metrics import REGISTRY
from agrajag.monitor.pulse import Pulse
from agrajag.monitor.server import MonitorServer
from agrajag.setting_groups import MonitorSettings
from agrajag.settings import Settings
from agrajag.wire.clients import admin_client, wait_for_broker
from agrajag.wire.letter_box import LetterBox, letter_box
from agrajag.wire.origin import Origins
from agrajag.wire.topic_admin import EnsuredTopics, Finding, ensure_topics, topic_findings
from agrajag.wire.topic_fitness import refuse_unfit
from agrajag.wire.topics import Topic, Topics

if TYPE_CHECKING:
    from agrajag.documents.live import Sources
    from agrajag.documents.pushing import Planned
    from agrajag.documents.records import DocumentTable
    from agrajag.embedded import EmbeddedKafka, EmbeddedStore
    from agrajag.embedded.child import Child
    from agrajag.embedded.directory import DataDirectory
    from agrajag.model.answers import CommandResult, HealthCommand
    from agrajag.sink import Books
    from agrajag.stream.rebuilding import Rebuilt
    from agrajag.stream.running import StreamSettings
    from agrajag.wire.past_errors import PastErrors, Scanned

log = structlog.get_logger(__name__)

_WORKER_CANNOT_DO_WITH = frozenset({"partition count", "cleanup.policy", "message.timestamp.type"})
"""A key would be looked for in the wrong partition, the table would be deleted from, revisions would not grow."""

_WORKER_WRITES = (
    Topic.CHECK_RESULTS,
    Topic.COMMAND_RESULTS,
    Topic.DIAGNOSIS_JOBS,
    Topic.HEALTH_CHANGED,
    Topic.HEALTH_CHANGELOG,
)


async def create_topics(settings: Settings) -> EnsuredTopics:
    """Make the missing topics. Raises TransientError if no broker answers in time, ConfigError if they refuse."""
    connection = settings.kafka.connection()
    await wait_for_broker(connection, settings.kafka.wait_seconds)
    async with admin_client(connection) as admin:
        return await ensure_topics(
            admin, settings.topics.topics(), replication_factor=settings.topics.replication_factor
        )


def run_worker(settings: Settings) -> int:
    """Run a worker until SIGTERM or SIGINT; its exit code: 0 after these, 1 after a crash.

    Raises ConfigError if the topics are not fit for it, its table was lost, or its start was a bad one, TransientError
    if no broker answers.
    """
    with _extra("worker"):
        from agrajag.stream import running
        from agrajag.stream.monitoring import Monitoring
        from agrajag.stream.worker import build_worker, topic_labels
    from agrajag.documents.live import LiveDocuments

    topics = settings.topics.topics()
    documents = LiveDocuments(
        settings.kafka.connection(), topics, settings.policy.policy(), settings.documents.dir
    )
    origins = _origins(settings)
    stream = _stream_settings(settings)

    async def prepare() -> None:
        await _fit_for_worker(settings)
        await documents.start()

    with _monitored(settings.monitor, settings.monitor.worker_port) as pulse:
        label = topic_labels(topics).__getitem__
        return running.run_worker(
            stream,
            lambda: build_worker(stream, topics, documents.effective, origins, beside=(documents.run,)),
            prepare,
            Monitoring(pulse, label, settings.worker.bad_start()),
        )


async def read_documents(settings: Settings) -> "DocumentTable":
    """The documents that the topic holds. Raises TransientError if no broker answers, PermanentError without topic."""
    from agrajag.documents.topic import read_documents

    await wait_for_broker(settings.kafka.connection(), 0)
    return await read_documents(settings.kafka.connection(), settings.topics.topics())


async def send_command(settings: Settings, command: "HealthCommand", wait_seconds: float) -> "CommandResult":
    """Send a command and wait for its result. Raises as `wire.asking.ask`."""
    from agrajag.wire.asking import ask

    connection, topics = settings.kafka.connection(), settings.topics.topics()
    await wait_for_broker(connection, 0)
    return await ask(connection, topics, command, source="agrajag/cli", wait_seconds=wait_seconds)


async def push_documents(settings: Settings, plan: "Iterable[Planned]", table: "DocumentTable") -> None:
    """Carry out a push that was planned against `table`. Raises as `documents.pushing.push`."""
    from agrajag.documents.pushing import push

    await push(settings.kafka.connection(), settings.topics.topics(), plan, table)


async def documents_in_force(settings: Settings) -> "Sources":
    """The documents by which a worker with these settings would judge. Raises as `read_documents`, and ConfigError
    if the directory cannot be read."""
    from agrajag.documents.live import read_sources

    connection = settings.kafka.connection()
    await wait_for_broker(connection, 0)
    return await read_sources(connection, settings.topics.topics(), settings.documents.dir)


def past_errors(settings: Settings, tell: Callable[["Scanned"], None]) -> "PastErrors":
    """The errors that the brokers still keep; `tell` hears now and then how far a reading has come."""
    from agrajag.wire.past_errors import PastErrors

    return PastErrors(settings.kafka.connection(), settings.topics.topics(), _origins(settings), tell)


def run_sink(settings: Settings) -> int:
    """Run a sink until SIGTERM or SIGINT, then 0. Brokers and a store that are away are waited for.

    Raises ConfigError or PermanentError where waiting does not help.
    """
    with _extra("worker"):
        from agrajag import sink

    async def until_stopped(pulse: Pulse) -> None:
        mirroring = asyncio.create_task(
            sink.run_sink(
                settings.kafka.connection(),
                settings.topics.topics(),
                store_uri=settings.mongo.uri.get_secret_value(),
                database=settings.mongo.database,
                pulse=pulse,
            )
        )
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, mirroring.cancel)
        try:
            await mirroring
        except asyncio.CancelledError:
            return

    with _monitored(settings.monitor, settings.monitor.sink_port) as pulse:
        asyncio.run(until_stopped(pulse))
    return 0


async def rebuild_tables(settings: Settings, tell: Callable[[str], None], *, force: bool) -> "Rebuilt":
    """Write the worker's table from `health-changed`; `tell` is given a line now and then.

    Raises ConfigError if the topics are not fit for a worker, PermanentError while workers are alive, or where
    documents move though records wait for them unless that is forced, TransientError if no broker answers.
    """
    with _extra("worker"):
        from agrajag.stream.rebuilding import Rebuilding
        from agrajag.stream.worker import AGENTS

    connection, topics = settings.kafka.connection(), settings.topics.topics()
    await wait_for_broker(connection, settings.kafka.wait_seconds)
    async with admin_client(connection) as admin:
        refuse_unfit_topics(await topic_findings(admin, topics), topics)
    sources = [agent.source for agent in AGENTS]
    rebuilding = Rebuilding(connection, topics, group=_worker_group(settings), sources=sources, tell=tell)
    return await rebuilding.run(force=force)


@asynccontextmanager
async def dead_letters(settings: Settings) -> AsyncIterator[LetterBox]:
    """The dead letters of all topics. Raises TransientError if no broker answers, ConfigError without topics."""
    connection = settings.kafka.connection()
    await wait_for_broker(connection, settings.kafka.wait_seconds)
    async with letter_box(connection, settings.topics.topics(), _origins(settings)) as box:
        yield box


async def compare_store(settings: Settings, patience_seconds: float = 0.0) -> "Books":
    """The store against the compacted topic that it mirrors; a sink that is behind is given some time."""
    with _extra("worker"):
        from agrajag.sink import compare
        from agrajag.store import Store
    uri = settings.mongo.uri.get_secret_value()
    async with await Store.open(uri, settings.mongo.database) as store:
        connection, topics = settings.kafka.connection(), settings.topics.topics()
        return await compare(connection, topics, store, patience_seconds=patience_seconds)


def embedded_kafka(data_dir: Path) -> "EmbeddedKafka":
    """The Kafka of one machine, not yet started."""
    with _extra("embedded"):
        from agrajag.embedded import EmbeddedKafka
    return EmbeddedKafka(data_dir)


def embedded_store(data_dir: Path) -> "EmbeddedStore":
    """The document store of one machine, not yet started."""
    with _extra("embedded"):
        from agrajag.embedded import EmbeddedStore
    return EmbeddedStore(data_dir)


def data_directory(path: Path) -> "DataDirectory":
    """The directory in which the parts of one machine keep their files, not yet acquired."""
    with _extra("embedded"):
        from agrajag.embedded.directory import DataDirectory
    return DataDirectory(path)


def free_ports(count: int) -> list[int]:
    """Different loopback ports on which nobody listens now."""
    with _extra("embedded"):
        from agrajag.embedded.ports import pick_free
    ports: list[int] = []
    while len(ports) < count:
        ports.append(pick_free(ports))
    return ports


def start_role(role: str, environment: Mapping[str, str], log_file: Path, lock_fd: int) -> "Child":
    """`agrajag <role>` of this very installation as a child process, which keeps `lock_fd` open."""
    with _extra("embedded"):
        from agrajag.embedded.child import Child
    return Child(
        [sys.executable, "-m", "agrajag", role],
        directory=Path.cwd(),
        log_file=log_file,
        inherited_fd=lock_fd,
        environment=environment,
    )


@contextmanager
def _monitored(monitor: MonitorSettings, port: int) -> Iterator[Pulse]:
    """Where a role tells how it is; served meanwhile if the settings say so."""
    pulse = Pulse(monitor.unready_after_seconds)
    if not monitor.enabled:
        yield pulse
        return
    token = monitor.token.get_secret_value() if monitor.token is not None else None
    with MonitorServer(monitor.host, port, pulse, REGISTRY, token):
        yield pulse


def _origins(settings: Settings) -> Origins:
    seal = settings.worker.origin_key
    key = seal.get_secret_value().encode() if seal is not None else None
    return Origins(settings.topics.topics().partitions, key)


def _worker_group(settings: Settings) -> str:
    return f"{settings.topics.prefix}.worker"


def _stream_settings(settings: Settings) -> "StreamSettings":
    from agrajag.stream.running import StreamSettings

    worker = settings.worker
    return StreamSettings(
        group=_worker_group(settings),
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
        group=_worker_group(settings),
        applied=lambda raw: EntryCodec.decode(raw).applied,
        **connection.client_options(),
    )


def refuse_unfit_topics(findings: tuple[Finding, ...], topics: Topics) -> None:
    """Raises ConfigError for the findings that a worker cannot do with; the others are logged."""
    from agrajag.stream.worker import AGENTS

    sources = [agent.source for agent in AGENTS]
    # Into its sources it writes what a producer has put on a wrong partition.
    written = {*map(topics.name, (*_WORKER_WRITES, *sources)), *map(topics.dead_letters, sources)}
    refuse_unfit(findings, settings=_WORKER_CANNOT_DO_WITH, written=written)
    for finding in findings:
        log.warning("topic_differs", finding=str(finding))


@contextmanager
def _extra(name: str) -> Iterator[None]:
    """Turns a library that is not installed into the extra that brings it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("agrajag"):
            raise
        raise ConfigError(f"{error.name} is not installed; pip install 'agrajag[{name}]'") from error

"""The diagnosis: its documents and health documents, its models and probes, and the worker that runs its engines."""

import asyncio
import os
import secrets
import socket
from collections.abc import Coroutine
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from agrajag.bootstrap.extras import extra
from agrajag.bootstrap.monitor import monitored
from agrajag.bootstrap.stopping import run_until_stopped
from agrajag.clock import utc_now
from agrajag.errors import PermanentError, TransientError
from agrajag.monitor.pulse import Pulse
from agrajag.settings import Settings
from agrajag.wire.membership import Group, refuse_wrong_setup
from agrajag.wire.outage import Outage, begun
from agrajag.wire.topics import Topic

if TYPE_CHECKING:
    from agrajag.diagnosis.probe import Prober
    from agrajag.documents.live import LiveDocuments
    from agrajag.service.attempts import Attempts
    from agrajag.service.engine import AnyEngine
    from agrajag.service.models import DeclaredModels
    from agrajag.view import HealthView
    from agrajag.wire.sending import Sender


_READ = (Topic.DIAGNOSIS_JOBS, Topic.DOCUMENTS, Topic.HEALTH_CHANGED, Topic.PROCESS_EVENTS)


def run_diagnosis(settings: Settings) -> int:
    """Run a diagnosis until SIGTERM or SIGINT, then 0. Brokers that are away are waited for.

    Raises ConfigError or PermanentError where waiting does not help.
    """
    with (
        extra("diagnosis"),
        monitored(settings.monitor, settings.monitor.diagnosis_port) as pulse,
    ):
        return run_until_stopped(diagnosing(settings, pulse))


async def diagnosing(settings: Settings, pulse: Pulse, session_timeout_seconds: float = 10.0) -> None:
    """A diagnosis until it is cancelled. One that dies keeps its partitions for the session timeout."""
    from agrajag.documents.live import LiveDocuments
    from agrajag.monitor.members import MemberVitals
    from agrajag.service.attempts import AttemptBounds, Attempts
    from agrajag.service.worker import ServiceWorker, WorkerBounds
    from agrajag.view import HealthView
    from agrajag.wire.sending import Sender

    connection, topics = settings.kafka.connection(), settings.topics.topics()
    own = settings.diagnosis
    documents = LiveDocuments(connection, topics, settings.policy.policy(), settings.documents.dir)
    view = HealthView(connection, topics, lambda tenant, project: documents.effective(tenant, project)[1])
    vitals = MemberVitals(connection, topics, pulse)
    bounds = AttemptBounds(
        _worker_id(), own.run_seconds, timedelta(seconds=own.idle_seconds), own.day_limits()
    )
    async with AsyncExitStack() as ends:
        sender = await ends.enter_async_context(Sender(connection, topics))
        attempts = Attempts(connection, topics, sender, documents, bounds)
        engines = await _engines(settings, documents, view, sender, ends)
        worker = ServiceWorker(
            connection,
            topics,
            engines,
            attempts,
            sender,
            bounds=WorkerBounds(at_once=own.concurrent_runs),
            group=Group(f"{topics.prefix}.diagnosis", session_timeout_seconds),
        )
        ends.push_async_callback(_closed, attempts)  # once nothing of it runs any more
        watching = asyncio.create_task(vitals.watch())
        ends.push_async_callback(_ended, watching)
        topics_fit = partial(refuse_wrong_setup, connection, topics, _READ)
        await begun(Outage("diagnosis", "kafka"), topics_fit, documents.start, view.start, attempts.start)
        vitals.member = worker
        await _worked(worker.run(), documents.run(), view.run(), attempts.run())


async def _worked(work: Coroutine[None, None, None], *beside: Coroutine[None, None, None]) -> None:
    """Run all of it until one ends, as it must not, and raise as it did. `work` ends first, while all else goes on."""
    working = asyncio.create_task(work)
    others = [asyncio.create_task(other) for other in beside]
    try:
        done, _ = await asyncio.wait([working, *others], return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in (working, *others):
            await _ended(task)


async def _ended(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait([task])


async def _closed(attempts: "Attempts") -> None:
    with suppress(TransientError, PermanentError):  # a session that stays active is taken over all the same
        await attempts.close()


async def _engines(
    settings: Settings,
    documents: "LiveDocuments",
    view: "HealthView",
    sender: "Sender",
    ends: AsyncExitStack,
) -> "tuple[AnyEngine, ...]":
    """Our own engine, and those of other packages that are installed."""
    from agrajag.diagnosis.engine import PROBE_GRACE_SECONDS, AgrajagEngine, EngineBounds
    from agrajag.diagnosis.probe_tools import free_probe_tools
    from agrajag.service.health_tools import read_tool, write_tools
    from agrajag.service.models import Models
    from agrajag.service.registry import EngineParts, installed_engines
    from agrajag.service.tools import ToolRegistry

    topics = settings.topics.topics()
    models = await ends.enter_async_context(Models(documents, declared_models(settings)))
    prober = await _prober(settings, documents, ends)
    probe_seconds = settings.diagnosis.probe_seconds
    probes = free_probe_tools(prober, probe_seconds, probe_seconds + PROBE_GRACE_SECONDS)
    reader = read_tool(view)
    tools = ToolRegistry((reader, *write_tools(sender, topics), *probes))
    engine = AgrajagEngine(
        models,
        prober,
        view,
        [reader],
        EngineBounds(probe_seconds=probe_seconds),
    )
    return (engine, *installed_engines(EngineParts(topics, view, models, tools, utc_now)))


async def _prober(settings: Settings, documents: "LiveDocuments", ends: AsyncExitStack) -> "Prober":
    from agrajag.core.targets import TargetKind
    from agrajag.diagnosis.addresses import AddressRules
    from agrajag.diagnosis.credentials import CredentialStore, FileVault
    from agrajag.diagnosis.http_target import HttpAdapter
    from agrajag.diagnosis.kafka_target import KafkaAdapter
    from agrajag.diagnosis.mcp_target import McpAdapter
    from agrajag.diagnosis.network import Network
    from agrajag.diagnosis.probing import Probes
    from agrajag.diagnosis.targets import Targets

    own = settings.diagnosis
    network = Network(AddressRules(own.private_addresses))
    kafka = await ends.enter_async_context(
        KafkaAdapter(settings.kafka.connection(), settings.topics.topics())
    )
    return Probes(
        Targets(lambda: documents.rulebook.targets),
        lambda tenant, project: documents.effective(tenant, project)[0],
        CredentialStore(
            os.environ, own.secrets_dir, FileVault(own.vault_dir) if own.vault_dir is not None else None
        ),
        {
            TargetKind.HTTP: HttpAdapter(network),
            TargetKind.MCP: McpAdapter(network, own.program_paths),
            TargetKind.KAFKA: kafka,
        },
        utc_now,
    )


def declared_models(settings: Settings) -> "DeclaredModels":
    """The models that the settings name; a price is known of the first alone. Raises ConfigError."""
    with extra("diagnosis"):
        from agrajag.harness import ModelAccess, Prices
        from agrajag.service.models import DeclaredModels

    model = settings.model
    access = ModelAccess(
        name=model.name,
        base_url=model.base_url,
        api_key=None if model.api_key is None else model.api_key.get_secret_value(),
        prices=Prices(
            input=model.input_usd,
            output=model.output_usd,
            cache_write=model.cache_write_usd,
            cache_read=model.cache_read_usd,
            long_prompt_tokens=model.long_prompt_tokens,
            long_prompt_factor=model.long_prompt_factor,
        ),
        request_seconds=model.request_seconds,
    )
    others = {name: replace(access, name=name, prices=None) for name in model.other_names}
    return DeclaredModels({**others, model.name: access}, model.name)


def _worker_id() -> str:
    """Another one in each process that is started; it begins with where that is."""
    return f"{socket.gethostname()[:64]}-{os.getpid()}-{secrets.token_hex(4)}"

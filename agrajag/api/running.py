"""Runs the API from its first connection to its end: what it reads goes on beside what it answers."""

import asyncio
import socket
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from agrajag.api.app import create_app
from agrajag.api.changes.recent import RecentChanges
from agrajag.api.commanding import Commanding
from agrajag.api.parts import ApiValues, Parts
from agrajag.api.rate_limit import RateLimit
from agrajag.api.serve import serve
from agrajag.api.store_access import StoreAccess
from agrajag.api.tokens import LiveTokens
from agrajag.core.policy import Policy
from agrajag.documents.live import LiveDocuments
from agrajag.errors import AgrajagError
from agrajag.monitor.members import MemberVitals, Progress
from agrajag.monitor.pulse import Pulse
from agrajag.view import HealthView
from agrajag.wire.asking import Asker
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.membership import refuse_wrong_setup
from agrajag.wire.outage import Outage, begun
from agrajag.wire.sending import Sender
from agrajag.wire.topics import Topic, Topics

_TOOLS_AT_ONCE = 10
"""So many times the rechecks of one tool a user may ask for over all: a tool's name costs nothing to make up."""

_USED = (
    Topic.TOOL_CALL_ERRORS,
    Topic.TOOL_CALL_SUCCESSES,
    Topic.SYSTEM_EVENTS,
    Topic.HEALTH_COMMANDS,
    Topic.COMMAND_RESULTS,
    Topic.PROCESS_EVENTS,
    Topic.HEALTH_CHANGED,
    Topic.DOCUMENTS,
)


def make_parts(
    connection: KafkaConnection,
    topics: Topics,
    *,
    store: StoreAccess,
    tokens: LiveTokens,
    values: ApiValues,
    defaults: Policy,
    documents_dir: Path | None = None,
) -> Parts:
    """The parts, none of them begun."""
    documents = LiveDocuments(connection, topics, defaults, documents_dir)
    sender = Sender(connection, topics, answer_seconds=values.send_seconds)
    asker = Asker(connection, topics, sender, source="agrajag/api")
    recent = RecentChanges(values.stream_memory_bytes)
    return Parts(
        connection=connection,
        topics=topics,
        view=HealthView(
            connection,
            topics,
            lambda tenant, project: documents.effective(tenant, project)[1],
            log_listener=recent,
        ),
        documents=documents,
        store=store,
        tokens=tokens,
        sender=sender,
        asker=asker,
        commanding=Commanding(asker, store),
        rechecks=RateLimit(values.rechecks_per_minute),
        rechecks_in_all=RateLimit(values.rechecks_per_minute * _TOOLS_AT_ONCE),
        recent=recent,
        values=values,
    )


async def run_api(parts: Parts, there: socket.socket, pulse: Pulse) -> None:
    """Read what there is, then answer on the socket until cancelled. Brokers that are away are waited for.

    `pulse` is told how the API is. Raises ConfigError or PermanentError where waiting does not help.
    """
    vitals = MemberVitals(parts.connection, parts.topics, pulse)
    async with AsyncExitStack() as ends:
        ends.push_async_callback(parts.store.close)
        await ends.enter_async_context(parts.sender)
        await ends.enter_async_context(parts.asker)
        watching = asyncio.create_task(vitals.watch())
        ends.callback(watching.cancel)
        topics_fit = partial(refuse_wrong_setup, parts.connection, parts.topics, (), _USED)
        await begun(Outage("api", "kafka"), topics_fit, parts.documents.start, parts.view.start)
        vitals.member = _Reader()
        work = (
            serve(create_app(parts), there, parts.values, parts.ending),
            parts.documents.run(),
            parts.view.run(),
            parts.tokens.run(),
        )
        try:
            async with asyncio.TaskGroup() as group:
                for one in work:
                    group.create_task(one)
        except ExceptionGroup as errors:
            ours = errors.subgroup(AgrajagError)
            raise (ours or errors).exceptions[0] from errors


class _Reader:
    """As which the API is looked at: it is in no group, and nothing of its own waits."""

    has_assignment = True
    broker_is_away = False
    committed_at = None

    async def progress(self, timeout_seconds: float) -> Progress:
        return {}

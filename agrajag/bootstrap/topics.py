"""Makes the topics, and says which of their differences a worker cannot do with."""

import structlog

from agrajag.settings import Settings
from agrajag.wire.clients import admin_client, wait_for_broker
from agrajag.wire.topic_admin import EnsuredTopics, Finding, ensure_topics
from agrajag.wire.topic_fitness import refuse_unfit
from agrajag.wire.topics import Topic, Topics

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


def refuse_unfit_topics(findings: tuple[Finding, ...], topics: Topics) -> None:
    """Raises ConfigError for the findings that a worker cannot do with; the others are logged."""
    from agrajag.stream.worker import AGENTS

    sources = [agent.source for agent in AGENTS]
    # Into its sources it writes what a producer has put on a wrong partition.
    written = {*map(topics.name, (*_WORKER_WRITES, *sources)), *map(topics.dead_letters, sources)}
    refuse_unfit(findings, settings=_WORKER_CANNOT_DO_WITH, written=written)
    for finding in findings:
        log.warning("topic_differs", finding=str(finding))

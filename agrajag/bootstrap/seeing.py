"""What people see of a running system, over its topics: the health of tools, its changes, and any record."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, NamedTuple

from agrajag.settings import Settings
from agrajag.wire.clients import wait_for_broker

if TYPE_CHECKING:
    from agrajag.core.policy import Policy
    from agrajag.model.health import ToolHealth
    from agrajag.wire.any_record import SeenRecord, TailedTopic
    from agrajag.wire.health_records import HealthChange


class Standing(NamedTuple):
    """Health documents, and by which policy those of a tenant and project are read."""

    documents: "list[ToolHealth]"
    policy_of: "Callable[[str, str | None], Policy]"


async def health_documents(settings: Settings, wanted: Callable[[str], bool]) -> Standing:
    """The health documents that there are, of those whose key is `wanted`, by key.

    Raises TransientError if no broker answers, PermanentError without topics, ConfigError if the directory of documents
    cannot be read.
    """
    from agrajag.wire.standing_health import standing_documents

    policy_of = await _policies(settings)
    found = await standing_documents(settings.kafka.connection(), settings.topics.topics(), wanted)
    return Standing(found, policy_of)


class Changes(NamedTuple):
    """Some changes of health documents in their order; `caught_up` once all that stood at the start has been told."""

    changes: "list[HealthChange]"
    caught_up: bool


async def health_changes(
    settings: Settings, wanted: Callable[[str], bool]
) -> "AsyncGenerator[tuple[Changes, Callable[[str, str | None], Policy]], None]":
    """Everything on `health-changed` whose key is `wanted`, and then what comes, with the policy by which it is read;
    without end.

    Raises as `health_documents`. A record that says nothing usable is passed over.
    """
    from agrajag.errors import InputError
    from agrajag.wire.following import follow
    from agrajag.wire.health_records import health_change
    from agrajag.wire.topics import Topic

    policy_of = await _policies(settings)
    name = settings.topics.topics().name(Topic.HEALTH_CHANGED)
    async with aclosing(follow(settings.kafka.connection(), name)) as following:
        async for followed in following:
            changes = []
            for record in followed.records:
                if wanted((record.key or b"").decode("utf-8", "replace")):
                    with suppress(InputError):
                        changes.append(health_change(record))
            yield Changes(changes, followed.caught_up), policy_of


async def tailed(
    settings: Settings, topic: "TailedTopic", *, from_beginning: bool, ends: bool
) -> "AsyncGenerator[Sequence[SeenRecord], None]":
    """The records of a topic from now on, or from the first that it keeps; without end, or only what it holds now.

    Yields something, be it nothing, once no record can be missed. Raises TransientError or PermanentError.
    """
    from agrajag.wire.any_record import seen_record
    from agrajag.wire.following import follow
    from agrajag.wire.tailing import Tail

    connection, topics = settings.kafka.connection(), settings.topics.topics()
    await wait_for_broker(connection, 0)
    name = topics.dead_letters(topic.topic) if topic.dead_letters else topics.name(topic.topic)
    if not from_beginning:
        async with aclosing(Tail(connection, [name]).records()) as coming:
            async for records in coming:
                yield [seen for record in records if (seen := seen_record(topic, record)) is not None]
    async with aclosing(follow(connection, name)) as following:
        async for followed in following:
            yield [seen for record in followed.records if (seen := seen_record(topic, record)) is not None]
            if ends and followed.caught_up:
                return


async def _policies(settings: Settings) -> "Callable[[str, str | None], Policy]":
    from agrajag.bootstrap.asking import documents_in_force
    from agrajag.documents.policies import Policies

    sources = await documents_in_force(settings)
    return Policies(sources.documents, settings.policy.policy()).of

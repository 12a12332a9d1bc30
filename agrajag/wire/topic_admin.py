"""Makes the topics that are missing, and tells which of the others are not as they should be; changes none.

A topic that differs may hold data and may differ on purpose: what to do about it is for a person to decide.
"""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import (
    ClusterAuthorizationFailedError,
    InvalidReplicationFactorError,
    KafkaError,
    TopicAlreadyExistsError,
    TopicAuthorizationFailedError,
    for_code,
)

from agrajag.errors import ConfigError, TransientError
from agrajag.wire.topics import PlannedTopic, Topics

log = structlog.get_logger(__name__)

_BROKERS_DEFAULT = -1  # as many replicas as the brokers give a topic that asks for no number
_AT_LEAST = frozenset({"max.message.bytes", "min.compaction.lag.ms", "delete.retention.ms"})
_OPERATORS_CHOICE = frozenset({"retention.ms"})
_READY_TIMEOUT_SECONDS = 30.0
_LOOK_AGAIN_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Finding:
    """One way in which a topic is not as it should be. `found` is None where the topic is missing."""

    topic: str
    setting: str
    found: str | None
    wanted: str

    def __str__(self) -> str:
        if self.found is None:
            return f"topic {self.topic} is missing"
        return f"topic {self.topic}: {self.setting} is {self.found}, should be {self.wanted}"


@dataclass(frozen=True, slots=True)
class EnsuredTopics:
    """What `ensure_topics` made, and what it found and left alone."""

    created: tuple[str, ...]
    findings: tuple[Finding, ...]


async def ensure_topics(
    admin: AIOKafkaAdminClient, topics: Topics, *, replication_factor: int | None = None
) -> EnsuredTopics:
    """Makes the missing topics and waits until they can be used; safe when several do it at once.

    Without a `replication_factor` the topics get as many replicas as the brokers give by default.
    Raises ConfigError if the brokers refuse, TransientError if they do not answer or the topics do not come up.
    """
    planned = tuple(topics.planned())
    partitions = await partition_counts(admin, [topic.name for topic in planned])
    missing = [topic for topic in planned if topic.name not in partitions]
    created = await _create(admin, missing, replication_factor) if missing else ()
    if missing:
        await _until_ready(admin, missing)
    return EnsuredTopics(created, await topic_findings(admin, topics))


async def topic_findings(admin: AIOKafkaAdminClient, topics: Topics) -> tuple[Finding, ...]:
    """What is missing or set up otherwise. Retention is the operator's choice and never found fault with."""
    planned = tuple(topics.planned())
    partitions = await partition_counts(admin, [topic.name for topic in planned])
    existing = [topic for topic in planned if topic.name in partitions]
    configs = await _configs(admin, existing)
    return tuple(
        finding
        for topic in planned
        for finding in _compared(topic, partitions.get(topic.name), configs.get(topic.name, {}))
    )


async def partition_counts(admin: AIOKafkaAdminClient, names: Collection[str]) -> dict[str, int]:
    """How many partitions those of the topics have that are there. Raises TransientError."""
    return {
        topic["topic"]: len(topic["partitions"])
        for topic in await _described(admin)
        if topic["topic"] in names and topic["partitions"]
    }


async def cluster_id_of(admin: AIOKafkaAdminClient) -> str:
    """What the brokers call their cluster: another one's offsets mean nothing here. Raises TransientError."""
    try:
        described = await admin.describe_cluster()
    except (KafkaError, TimeoutError) as error:
        raise TransientError(
            f"the cluster cannot be described now: {type(error).__name__}: {error}"
        ) from error
    return described.get("cluster_id") or ""


def _compared(topic: PlannedTopic, partitions: int | None, config: Mapping[str, str]) -> Iterator[Finding]:
    if partitions is None:
        yield Finding(topic.name, "existence", None, "present")
        return
    if partitions != topic.partitions:
        yield Finding(topic.name, "partition count", str(partitions), str(topic.partitions))
    for setting, wanted in topic.config.items():
        found = config.get(setting, "unknown")
        if setting in _OPERATORS_CHOICE or found == wanted:
            continue
        if setting in _AT_LEAST:
            if not (found.isdigit() and int(found) > int(wanted)):
                yield Finding(topic.name, setting, found, f"at least {wanted}")
        else:
            yield Finding(topic.name, setting, found, wanted)


async def _create(
    admin: AIOKafkaAdminClient, missing: Iterable[PlannedTopic], replication_factor: int | None
) -> tuple[str, ...]:
    # The client takes -1 only beside an assignment, and a number only without one.
    assignment: dict[int, list[int]] | None = {} if replication_factor is None else None
    replicas = _BROKERS_DEFAULT if replication_factor is None else replication_factor
    new = [NewTopic(topic.name, topic.partitions, replicas, assignment, topic.config) for topic in missing]
    try:
        response = await admin.create_topics(new)
    except (KafkaError, TimeoutError) as error:
        raise TransientError(f"topics cannot be created now: {type(error).__name__}: {error}") from error
    created = []
    for name, code, *message in response.topic_errors:
        error_class = for_code(code)
        if code == 0:
            created.append(name)
            log.info("topic_created", topic=name)
        elif error_class is not TopicAlreadyExistsError:  # another one was quicker: just as well
            raise _refused(name, error_class, message[0] if message else None)
    return tuple(created)


def _refused(name: str, error_class: type[KafkaError], message: str | None) -> ConfigError | TransientError:
    text = f"topic {name} cannot be created: {message or error_class.__name__}"
    if error_class.retriable:
        return TransientError(text)
    if error_class in (TopicAuthorizationFailedError, ClusterAuthorizationFailedError):
        return ConfigError(f"{text} (the Kafka user needs the right to create topics)")
    if error_class is InvalidReplicationFactorError:
        return ConfigError(f"{text} (fewer brokers than replicas)")
    return ConfigError(text)


async def _until_ready(admin: AIOKafkaAdminClient, wanted: Iterable[PlannedTopic]) -> None:
    """Waits until every partition has a leader; brokers say "created" before that."""
    waiting = {topic.name for topic in wanted}
    deadline = asyncio.get_running_loop().time() + _READY_TIMEOUT_SECONDS
    while True:
        waiting -= {topic["topic"] for topic in await _described(admin) if _is_ready(topic)}
        if not waiting:
            return
        if asyncio.get_running_loop().time() > deadline:
            names = ", ".join(sorted(waiting))
            raise TransientError(f"topics without a leader after {_READY_TIMEOUT_SECONDS:.0f} s: {names}")
        await asyncio.sleep(_LOOK_AGAIN_SECONDS)


def _is_ready(topic: Mapping[str, Any]) -> bool:
    partitions = topic["partitions"]
    return topic["error_code"] == 0 and bool(partitions) and all(part["leader"] >= 0 for part in partitions)


async def _described(admin: AIOKafkaAdminClient) -> list[dict[str, Any]]:
    """All topics that there are: asking for one by its name would make it, on brokers that create by themselves."""
    try:
        described: list[dict[str, Any]] = await admin.describe_topics()
    except (KafkaError, TimeoutError) as error:
        raise TransientError(f"topics cannot be described now: {type(error).__name__}: {error}") from error
    return described


async def _configs(admin: AIOKafkaAdminClient, existing: Iterable[PlannedTopic]) -> dict[str, dict[str, str]]:
    resources = [ConfigResource(ConfigResourceType.TOPIC, topic.name) for topic in existing]
    if not resources:
        return {}
    try:
        responses = await admin.describe_configs(resources)
    except (KafkaError, TimeoutError) as error:
        raise TransientError(f"topics cannot be described now: {type(error).__name__}: {error}") from error
    return {
        name: {setting[0]: setting[1] for setting in settings}
        for response in responses
        for _code, _message, _kind, name, settings in response.resources
    }

"""The topics of Agrajag: what each is for, and how it must be set up on the brokers.

Names are `<prefix>.<topic>.v1`, and `<prefix>.<topic>.v1.dlq` for the dead letters of a topic that Agrajag reads. The
partition count of the shared topics is fixed when they are made: keys would move otherwise.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType

DEFAULT_PREFIX = "agrajag"
DEFAULT_PARTITIONS = 32
EMBEDDED_PARTITIONS = 4

_KIB = 1024
_INPUT_BYTES = 1_088 * _KIB  # the largest value that is read, its key and headers
DEAD_LETTER_BYTES = 2_048 * _KIB
_BIG_BYTES = 4_096 * _KIB  # a whole rule file, or all changes of one tool in one batch
MAX_REQUEST_BYTES = _BIG_BYTES
"""What a producer of ours must be able to send in one request."""

_DAY = timedelta(days=1)
_WEEK = timedelta(days=7)


class Topic(StrEnum):
    """Every topic but the dead letters, by the name that metrics and messages use."""

    TOOL_CALL_ERRORS = "tool-call-errors"
    TOOL_CALL_SUCCESSES = "tool-call-successes"
    SYSTEM_EVENTS = "system-events"
    TOOL_LINKS = "tool-links"
    HEALTH_COMMANDS = "health-commands"
    COMMAND_RESULTS = "command-results"
    DIAGNOSIS_JOBS = "diagnosis-jobs"
    DIAGNOSIS_RESULTS = "diagnosis-results"
    CHECK_RESULTS = "check-results"
    HEALTH_CHANGED = "health-changed"
    HEALTH_CHANGELOG = "health-changelog"
    DOCUMENTS = "documents"
    INBOX_ITEMS = "inbox-items"
    PROCESS_EVENTS = "process-events"


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """How one topic is keyed and kept.

    `retention` is for topics that are deleted from, `compaction_lag` and `tombstones_kept` for compacted ones.
    `append_time`: the broker stamps each record, since revisions grow from that time (inputs of the worker).
    `unpacked`: the broker keeps it without compression, and so holds what comes out of a producer's compression, not
    what goes in, against `max_message_bytes`: a batch of a few kB cannot unpack to gigabytes in a worker.
    `one_partition`: every reader reads all of it; otherwise it has the partition count of all shared topics.
    `dead_letters`: it is read by Agrajag, so there is a topic for what could not be read.
    """

    topic: Topic
    key: str
    retention: timedelta | None = None
    compaction_lag: timedelta | None = None
    tombstones_kept: timedelta | None = None
    append_time: bool = False
    unpacked: bool = False
    one_partition: bool = False
    dead_letters: bool = True
    max_message_bytes: int = _KIB * _KIB

    @property
    def compacted(self) -> bool:
        """True if the newest record of each key is kept for good."""
        return self.retention is None

    def config(self) -> dict[str, str]:
        """The topic's settings as Kafka names them."""
        config = {
            "cleanup.policy": "compact" if self.compacted else "delete",
            "max.message.bytes": str(self.max_message_bytes),
            "message.timestamp.type": "LogAppendTime" if self.append_time else "CreateTime",
        }
        if self.unpacked:
            config["compression.type"] = "uncompressed"
        for name, span in (
            ("retention.ms", self.retention),
            ("min.compaction.lag.ms", self.compaction_lag),
            ("delete.retention.ms", self.tombstones_kept),
        ):
            if span is not None:
                config[name] = str(span // timedelta(milliseconds=1))
        return config


def _input(topic: Topic, key: str, retention: timedelta = _WEEK) -> TopicSpec:
    return TopicSpec(topic, key, retention, append_time=True, unpacked=True, max_message_bytes=_INPUT_BYTES)


TOPICS: tuple[TopicSpec, ...] = (
    _input(Topic.TOOL_CALL_ERRORS, "tenant|tool"),
    _input(Topic.TOOL_CALL_SUCCESSES, "tenant|tool", _DAY),
    _input(Topic.SYSTEM_EVENTS, "tenant|linkId"),
    _input(Topic.TOOL_LINKS, "tenant|tool"),
    _input(Topic.HEALTH_COMMANDS, "tenant|tool"),
    _input(Topic.DIAGNOSIS_RESULTS, "tenant|tool"),
    TopicSpec(Topic.COMMAND_RESULTS, "tenant|tool", _DAY),
    TopicSpec(Topic.CHECK_RESULTS, "tenant|tool", _DAY, dead_letters=False),
    TopicSpec(Topic.DIAGNOSIS_JOBS, "tenant|project", _WEEK),
    TopicSpec(Topic.PROCESS_EVENTS, "tenant|project", _WEEK),
    # A sink that was away for days must still see what was deleted meanwhile, hence the long-lived tombstones.
    TopicSpec(Topic.HEALTH_CHANGED, "tenant|scope|scopeId|tool", compaction_lag=_DAY, tombstones_kept=_WEEK),
    TopicSpec(
        Topic.HEALTH_CHANGELOG,
        "tenant|scope|scopeId|tool",
        compaction_lag=_DAY,
        dead_letters=False,
        max_message_bytes=_BIG_BYTES,
    ),
    TopicSpec(
        Topic.DOCUMENTS,
        "tenant|project|path",
        tombstones_kept=_WEEK,
        one_partition=True,
        max_message_bytes=_BIG_BYTES,
    ),
    TopicSpec(Topic.INBOX_ITEMS, "item id", tombstones_kept=_WEEK),
)

DEAD_LETTER_CONFIG = {
    "cleanup.policy": "delete",
    "retention.ms": str(_WEEK // timedelta(milliseconds=1)),
    "max.message.bytes": str(DEAD_LETTER_BYTES),
    "message.timestamp.type": "CreateTime",
}


@dataclass(frozen=True, slots=True)
class PlannedTopic:
    """One topic as it should stand on the brokers."""

    name: str
    partitions: int
    config: dict[str, str]


@dataclass(frozen=True)
class Topics:
    """The topics of one installation: their names under `prefix`, and how many partitions the shared ones have."""

    prefix: str = DEFAULT_PREFIX
    partitions: int = DEFAULT_PARTITIONS
    _by_name: MappingProxyType[str, Topic] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", MappingProxyType({self.name(topic): topic for topic in Topic}))

    def name(self, topic: Topic) -> str:
        """`<prefix>.<topic>.v1`."""
        return f"{self.prefix}.{topic}.v1"

    def dead_letters(self, topic: Topic) -> str:
        """The name of the topic that holds what could not be read from `topic`."""
        return f"{self.name(topic)}.dlq"

    def topic(self, name: str) -> Topic | None:
        """Which topic has this name; None for a name that is none of ours. Dead letters have no `Topic`."""
        return self._by_name.get(name)

    def labels(self) -> dict[str, str]:
        """What the metrics call each topic, by its name: without prefix and version."""
        labels = {self.name(topic): str(topic) for topic in Topic}
        return labels | {self.dead_letters(topic): f"{topic}.dlq" for topic in Topic}

    def planned(self) -> Iterator[PlannedTopic]:
        """All topics, dead letters included, as they should be made."""
        for spec in TOPICS:
            partitions = 1 if spec.one_partition else self.partitions
            yield PlannedTopic(self.name(spec.topic), partitions, spec.config())
            if spec.dead_letters:
                yield PlannedTopic(self.dead_letters(spec.topic), 1, dict(DEAD_LETTER_CONFIG))

"""What all agents of one worker share, and how what the table holds is told."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from agrajag.clock import Clock
from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.model.answers import InboxItem
from agrajag.model.health import HealthEntry
from agrajag.stream.entries import EntryCodec
from agrajag.stream.shadow_log import ShadowLog
from agrajag.wire.cloudevents import EventType, binary_headers
from agrajag.wire.health_records import health_headers
from agrajag.wire.origin import Origins
from agrajag.wire.outputs import Output
from agrajag.wire.tombstones import revision_header
from agrajag.wire.topics import Topic, Topics

Effective: TypeAlias = Callable[[str, str | None], tuple[RuleSet, Policy]]
"""The rules and the policy in force for a tenant and project."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all agents of one worker share. `clock` is the worker's; it serves leases and lateness only."""

    topics: Topics
    effective: Effective
    origins: Origins
    codec: EntryCodec
    clock: Clock
    told_interval_seconds: float = 10.0
    shadow_log: ShadowLog = field(default_factory=ShadowLog)

    def published(self, source: str, partition: int, key: bytes, entry: HealthEntry) -> list[Output]:
        """The record on `health-changed` that says what `entry` says: its document, or the tombstone of a gone one."""
        health = entry.health
        headers = health_headers(source, key, entry.revision)
        name = self.topics.name(Topic.HEALTH_CHANGED)
        if health is None:
            headers = (*headers, revision_header(entry.revision))
            return [Output(name, key, None, headers, partition)]
        return [Output(name, key, self.codec.document(health), headers, partition)]

    def inbox_outputs(self, source: str, items: Iterable[InboxItem]) -> list[Output]:
        """The records on `inbox-items` that say what these items say."""
        name = self.topics.name(Topic.INBOX_ITEMS)
        return [
            Output(
                name,
                item.item_id.encode(),
                item.to_json(),
                binary_headers(EventType.INBOX_ITEM, source, f"{item.item_id}|{item.revision}"),
            )
            for item in items
        ]

    def standing(self, source: str, partition: int, key: bytes, entry: HealthEntry) -> list[Output]:
        """All that is told of `entry`, once more: its document, and the user's items."""
        return [*self.published(source, partition, key, entry), *self.inbox_outputs(source, entry.inbox)]

"""What the passing of time alone removes: cooldowns, jobs and documents that can decide about nothing any more.

Nothing goes before two hours after its time. An event may be an hour older than its record, and a record is read up to
a quarter of an hour late before sweeping pauses: so whatever still comes is judged as if nothing had been removed. What
has an opinion on status, or a past that a person may want to read, stays; only a session's documents end with it. An
inbox item that stayed open for a month is archived.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from agrajag.core.inbox import INBOX_LIFE, closed_item, is_open
from agrajag.core.policy import Policy
from agrajag.model.answers import InboxItem
from agrajag.model.enums import InboxStatus, Scope, Status
from agrajag.model.health import Cooldown, HealthEntry, ToolHealth

GRACE = timedelta(hours=2)
"""How long after its time something is still kept."""
SESSION_LIFE = timedelta(hours=24)
"""How long after its last change the document of a session is kept."""
GONE_LIFE = timedelta(hours=24)
"""How long the table remembers that a document is gone."""
MAX_LAG = timedelta(minutes=15)
"""How late a partition's records may be decided about while it is swept."""

NEVER = datetime.max.replace(tzinfo=UTC)
_EVER = datetime.min.replace(tzinfo=UTC)


class Swept(NamedTuple):
    """What is left of an entry, None where nothing is, and what was taken from it; `archived` is to be told."""

    entry: HealthEntry | None
    cooldowns: int = 0
    jobs: int = 0
    archived: tuple[InboxItem, ...] = ()


def sweep(entry: HealthEntry, written_at: datetime, clock: datetime, policy: Policy) -> Swept | None:
    """What time has left of an entry that was last written at `written_at`; None if it has taken nothing.

    That is so exactly until `due_at`. To sweep twice is to sweep once.
    """
    health = entry.health
    if health is None:
        return Swept(None) if clock >= _after(written_at, GONE_LIFE) else None
    archived = {
        item.item_id: closed_item(item, InboxStatus.ARCHIVED, _item_due(item))
        for item in entry.inbox
        if is_open(item) and clock >= _item_due(item)
    }
    told = tuple(archived.values())
    inbox = tuple(archived.get(item.item_id, item) for item in entry.inbox)
    left = entry.with_changes(revision=entry.revision + 1, inbox=inbox)
    if clock >= _document_due(
        left, health, policy
    ):  # an item that was open until now may have been all that kept it
        gone = left.with_changes(health=None, jobs=())
        return Swept(gone, len(health.cooldowns), len(entry.jobs), told)
    cooldowns = tuple(kept for kept in health.cooldowns if clock < _after(_cooldown_end(kept, policy), GRACE))
    jobs = tuple(job for job in entry.jobs if clock < _after(job.lease_until, GRACE))
    taken = len(health.cooldowns) - len(cooldowns), len(entry.jobs) - len(jobs)
    if not any(taken) and not archived:
        return None
    pruned = health.with_changes(revision=left.revision, cooldowns=cooldowns)
    return Swept(left.with_changes(health=pruned, jobs=jobs), *taken, told)


def due_at(entry: HealthEntry, written_at: datetime, policy: Policy) -> datetime:
    """From when on `sweep` would take something, if the entry does not change meanwhile; NEVER if it would not."""
    health = entry.health
    if health is None:
        return _after(written_at, GONE_LIFE)
    return min(
        _document_due(entry, health, policy),
        *(_after(_cooldown_end(cooldown, policy), GRACE) for cooldown in health.cooldowns),
        *(_after(job.lease_until, GRACE) for job in entry.jobs),
        *(_item_due(item) for item in entry.inbox if is_open(item)),
        NEVER,
    )


def _document_due(entry: HealthEntry, health: ToolHealth, policy: Policy) -> datetime:
    if any(map(is_open, entry.inbox)):
        return NEVER
    if entry.ended_at is not None and health.updated_at <= entry.ended_at:
        return _after(max([entry.ended_at, *(job.lease_until for job in entry.jobs)]), GRACE)
    if health.override is not None and health.override.until is None:
        return NEVER
    nothing_left = _after(max(_ends(entry, health, policy)), GRACE)
    if health.scope is Scope.SESSION:
        return max(_after(health.updated_at, SESSION_LIFE), nothing_left)
    return NEVER if _is_worth_keeping(health) else nothing_left


def _item_due(item: InboxItem) -> datetime:
    """When an item has been open long enough."""
    return _after(item.updated_at, INBOX_LIFE)


def _is_worth_keeping(health: ToolHealth) -> bool:
    """Whether it carries more than cooldowns: an opinion, a connection, a diagnosis, a history."""
    link = health.link
    return bool(
        health.verdict.status is not Status.OK
        or any(connection.is_open for connection in link.connections)
        or link.down_since is not None
        or health.last_diagnosis is not None
        or health.history
    )


def _ends(entry: HealthEntry, health: ToolHealth, policy: Policy) -> Iterator[datetime]:
    """When each thing ends that an event could still meet in the document."""
    yield health.updated_at
    yield health.last_success_at or _EVER
    if health.override is not None:
        yield health.override.until or _EVER
    for cooldown in health.cooldowns:
        yield _cooldown_end(cooldown, policy)
    for job in entry.jobs:
        yield job.lease_until


def _cooldown_end(cooldown: Cooldown, policy: Policy) -> datetime:
    """When a cooldown is over, its hits are forgotten, and no diagnosis runs for it."""
    over = max(cooldown.next_spawn_allowed_at, cooldown.last_triggered_at)
    return max(_after(over, policy.hits_memory), cooldown.lease_until or _EVER)


def _after(moment: datetime, span: timedelta) -> datetime:
    """`span` after `moment`, or NEVER: a person may name a time at the end of the calendar."""
    return moment + span if moment < NEVER - span else NEVER

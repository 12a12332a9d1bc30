"""Pauses per signature and user: how long, until when, for whom (spec agrajag §4.1, §4.2).

A cooldown begins with an error that none covers. Errors during it are counted elsewhere and never move its
deadline; only its end lets another begin, which is longer where its class backs off. Equal to now is over.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from agrajag.core.features import Features
from agrajag.core.lookup import USER_CLASSES
from agrajag.core.policy import Policy
from agrajag.core.retry_after import SHORTEST, answered_at, wait_from_header
from agrajag.core.rules import Rule
from agrajag.core.waits import Wait
from agrajag.model.enums import Classification
from agrajag.model.health import Cooldown


@dataclass(frozen=True, slots=True)
class Backoff:
    """The first cooldown of a class, what each further one is multiplied by, and where that ends."""

    first: timedelta
    factor: int = 1
    limit: timedelta = timedelta.max

    def after(self, hits: int) -> timedelta:
        """The span of the `hits`-th cooldown in a row, counted from 1."""
        span = self.first
        for _ in range(hits - 1):
            if self.factor == 1 or span >= self.limit:
                break
            span *= self.factor
        return min(span, self.limit)


BACKOFFS: Mapping[Classification, Backoff] = {
    Classification.USER_PERMISSION: Backoff(timedelta(hours=24)),
    Classification.USER_INPUT: Backoff(timedelta(minutes=5)),
    Classification.USER_SPECIFIC_TECHNICAL: Backoff(timedelta(minutes=15), 2, timedelta(hours=24)),
    Classification.INTERMITTENT: Backoff(timedelta(seconds=30), 4, timedelta(hours=2)),
    Classification.TECHNICALLY_BROKEN: Backoff(timedelta(minutes=5)),
    Classification.UNCLEAR: Backoff(timedelta(seconds=30), 2, timedelta(minutes=30)),
}


def span_for(rule: Rule, hits: int, features: Features, now: datetime, policy: Policy) -> timedelta:
    """How long the `hits`-th cooldown in a row lasts: between one second and the policy's cap.

    What the rule or the response states holds as stated; the default of the class backs off.
    """
    span = stated_span(rule, features, now)
    if span is None:
        span = BACKOFFS[rule.classification].after(hits)
    return max(policy.capped(span), SHORTEST)


def stated_span(rule: Rule, features: Features, now: datetime) -> timedelta | None:
    """The span that the response asks for where the rule says, else the rule itself, before any bound of the policy;
    None where neither states one."""
    if rule.cooldown_header is not None and (value := features.header(rule.cooldown_header)) is not None:
        return wait_from_header(value, now, features.header("date"))
    asked = asked_for(rule, features, now)
    return rule.cooldown if asked is None else asked[1]


def asked_for(rule: Rule, features: Features, now: datetime) -> tuple[Wait, timedelta] | None:
    """The first of the rule's sources that the response answers, and the wait that it asks for."""
    if not rule.waits:
        return None
    start = answered_at(now, features.header("date"))
    found = ((wait, wait.asked(features, start)) for wait in rule.waits)
    return next(((wait, span) for wait, span in found if span is not None), None)


def is_active(cooldown: Cooldown, now: datetime) -> bool:
    """Whether the pause still lasts at `now`."""
    return now < cooldown.next_spawn_allowed_at


def covers(cooldown: Cooldown, signature: str | None, user_id: str | None) -> bool:
    """Whether it speaks about this signature (None: any) and this user.

    One without a user covers every user, unless it is about somebody's own credential, permission or input: then it
    came from a report that named no user, and says nothing about those who have a name.
    """
    if signature is not None and cooldown.error_signature != signature:
        return False
    if cooldown.user_id is not None or user_id is None:
        return cooldown.user_id == user_id
    return cooldown.last_classification not in USER_CLASSES


def active_cover(
    cooldowns: Iterable[Cooldown], signature: str | None, user_id: str | None, now: datetime
) -> Cooldown | None:
    """The active cooldown that covers this signature and user and ends last, if any."""
    covering = [found for found in cooldowns if is_active(found, now) and covers(found, signature, user_id)]
    return max(covering, key=lambda found: found.next_spawn_allowed_at, default=None)


def is_remembered(cooldown: Cooldown, now: datetime, policy: Policy) -> bool:
    """Whether a next cooldown of this key would count as following it: until an hour after its end."""
    return now < max(cooldown.next_spawn_allowed_at, cooldown.last_triggered_at) + policy.hits_memory


def in_flight(cooldown: Cooldown, clock: datetime) -> bool:
    """Whether a diagnosis claimed by this entry still runs, as far as its lease tells."""
    return cooldown.job_id is not None and cooldown.lease_until is not None and clock < cooldown.lease_until


def cleared(cooldown: Cooldown, now: datetime) -> Cooldown:
    """The entry with its deadline at `now` at the latest; its hits are remembered."""
    return cooldown.with_changes(next_spawn_allowed_at=min(cooldown.next_spawn_allowed_at, now))


def joined(known: Cooldown, entry: Cooldown, now: datetime) -> Cooldown:
    """Both as one (`merged`). The pause lasts since the known one began, though nobody knows when that was, or else
    since the other did."""
    return merged(known, entry).with_changes(since=known.since if is_active(known, now) else entry.since)


def merged(first: Cooldown, second: Cooldown) -> Cooldown:
    """Both entries of one key as one: the earlier beginning, the later deadline, the more hits, the newer words.

    Neither the order nor the grouping of several matters, and merging an entry with itself changes nothing.
    """
    newer = max(first, second, key=_age)
    return newer.with_changes(
        since=min(filter(None, (first.since, second.since)), default=None),
        next_spawn_allowed_at=max(first.next_spawn_allowed_at, second.next_spawn_allowed_at),
        hits=max(first.hits, second.hits),
    )


def _age(cooldown: Cooldown) -> tuple[datetime, bytes]:
    """What says which entry is the newer: its time, and for equal ones whatever merging does not change."""
    words = cooldown.with_changes(since=None, next_spawn_allowed_at=cooldown.last_triggered_at, hits=1)
    return cooldown.last_triggered_at, words.to_json()

"""Decides whether a role is ready: whether what is sent to it now is dealt with soon.

A pure function over what the role was last seen to be, so that a probe never waits for what it asks about. A role that
holds no partitions, since others hold them all, is ready: it stands by.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

SILENT_SECONDS = 30.0
"""A role is looked at every few seconds; whoever was not seen for so long is stuck or starved."""


class Unready(StrEnum):
    """Why a role is not ready."""

    STARTING = "starting"
    SILENT = "silent"
    REBALANCING = "rebalancing"
    RECOVERING = "recovering"
    KAFKA_AWAY = "kafka_away"
    STORE_AWAY = "store_away"
    NOT_COMMITTING = "not_committing"


@dataclass(frozen=True, slots=True)
class Vitals:
    """What a role was seen to be at one moment; times are seconds of the monotonic clock.

    `partitions` and `lag` (records that are not done) are by topic, as the metrics call it.
    """

    at: float
    partitions: Mapping[str, Sequence[int]]
    lag: Mapping[str, int]
    rebalancing: bool = False
    recovering: bool = False
    kafka_away: bool = False
    store_away: bool = False
    committed_at: float | None = None

    @property
    def settled(self) -> bool:
        """Whether it knows which partitions it holds, and what they hold."""
        return not (self.rebalancing or self.recovering)


@dataclass(frozen=True, slots=True)
class Readiness:
    """What a probe is told; ready where there is no reason against it."""

    reasons: tuple[Unready, ...]
    vitals: Vitals | None
    commit_age_seconds: float | None

    @property
    def ready(self) -> bool:
        return not self.reasons

    def to_json(self) -> dict[str, Any]:
        """For people and probes; without what is not known yet."""
        told: dict[str, Any] = {"ready": self.ready, "reasons": list(self.reasons)}
        if self.vitals is not None:
            told |= {
                "partitions": {topic: list(held) for topic, held in self.vitals.partitions.items()},
                "lag": dict(self.vitals.lag),
                "lastCommitAgeSeconds": self.commit_age_seconds and round(self.commit_age_seconds, 1),
                "rebalancing": self.vitals.rebalancing,
                "recovered": self.vitals.settled,
            }
        return told


def behind_since(previous: float | None, seen: Vitals) -> float | None:
    """Since when there has been something to do without a pause; None while there is nothing, or nobody knows."""
    if not seen.settled or not any(seen.lag.values()):
        return None
    return seen.at if previous is None else previous


def readiness(
    seen: Vitals | None, behind: float | None, now: float, unready_after_seconds: float
) -> Readiness:
    """`seen` is None before the first look, `behind` is what `behind_since` says of it.

    Lag alone is no reason against it, however much: only lag during which nothing was committed for
    `unready_after_seconds`.
    """
    if seen is None:
        return Readiness((Unready.STARTING,), None, None)
    commit_age = None if seen.committed_at is None else now - seen.committed_at
    waits_since = None if behind is None else max(behind, seen.committed_at or behind)
    found = {
        Unready.SILENT: now - seen.at > SILENT_SECONDS,
        Unready.REBALANCING: seen.rebalancing,
        Unready.RECOVERING: seen.recovering,
        Unready.KAFKA_AWAY: seen.kafka_away,
        Unready.STORE_AWAY: seen.store_away,
        Unready.NOT_COMMITTING: waits_since is not None and now - waits_since > unready_after_seconds,
    }
    return Readiness(tuple(reason for reason, holds in found.items() if holds), seen, commit_age)

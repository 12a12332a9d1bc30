"""The working copy of one document for one step: 500 equal errors change it 500 times, and it is frozen once.

It is made of what the table holds, which is never touched, and becomes what the table shall hold.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from agrajag.core.cooldown import cleared, is_active
from agrajag.core.health import Marking, accepts, marked, remembered
from agrajag.core.inbox import Inbox
from agrajag.core.jobs import JobsInFlight
from agrajag.core.policy import Policy
from agrajag.model.enums import Scope, Status
from agrajag.model.health import (
    RECENT_IDS,
    Cooldown,
    HealthCounters,
    HealthEntry,
    LinkFacet,
    ToolHealth,
    VerdictFacet,
)
from agrajag.model.keys import parts

_NOTHING = HealthEntry(revision=0)
NO_VERDICT = VerdictFacet()
NO_LINK = LinkFacet()


class Draft:
    """The working copy of one document, new or known. Counters and times are plain attributes for the step to move."""

    __slots__ = (
        "_base",
        "_confirmed_at",
        "_failed_again",
        "_health",
        "appended_ms",
        "applied",
        "coalesced",
        "commanded_at",
        "cooldowns",
        "ended_at",
        "errors",
        "first_touched_at",
        "handled_command_ids",
        "history",
        "inbox",
        "jobs",
        "key",
        "last_checked_at",
        "last_diagnosis",
        "last_success_at",
        "link",
        "override",
        "suppressed",
        "touched_at",
        "verdict",
    )

    def __init__(self, key: str, base: HealthEntry | None) -> None:
        self.key = key
        self._base = base
        self.jobs = JobsInFlight(base)
        self.inbox = Inbox(base.inbox if base else ())
        self._failed_again: dict[tuple[str, str | None], datetime] = {}
        self._confirmed_at: datetime | None = None
        self.errors = self.suppressed = self.coalesced = 0
        self.touched_at: datetime | None = None
        self.first_touched_at: datetime | None = None
        self.appended_ms = 0
        health = self._health = base.health if base else None
        self.last_checked_at = health.last_checked_at if health else None
        self.last_success_at = health.last_success_at if health else None
        self.last_diagnosis = health.last_diagnosis if health else None
        self.verdict = health.verdict if health else NO_VERDICT
        self.link = health.link if health else NO_LINK
        self.override = health.override if health else None
        self.history = health.history if health else ()
        self.cooldowns = list(health.cooldowns) if health else []
        self.applied = dict(base.applied) if base else {}
        self.ended_at = base.ended_at if base else None
        self.handled_command_ids = base.handled_command_ids if base else ()
        self.commanded_at = base.commanded_at if base else None

    @property
    def health(self) -> ToolHealth | None:
        """The document as it was before the step; None for a new one and for one that is gone."""
        return self._health

    @property
    def stands(self) -> bool:
        """Whether there is a document: one that the table holds, or that this step has made."""
        return self._health is not None or self.first_touched_at is not None

    def touch(self, origin: str, offset: int, now: datetime, appended_ms: int) -> None:
        """Note that the record at `origin` and `offset` is applied here."""
        self.applied[origin] = offset
        self.appended_ms = appended_ms
        if self.first_touched_at is None:
            self.first_touched_at = now
        if self.touched_at is None or now > self.touched_at:
            self.touched_at = now

    def take_command(self, command_id: str, now: datetime) -> None:
        """Remember a command that was carried out here."""
        self.handled_command_ids = (command_id, *self.handled_command_ids)[:RECENT_IDS]
        self.commanded_at = now

    def is_deleted_since(self, now: datetime) -> bool:
        """Whether a person has deleted the document at `now` or later, and nothing has made it anew."""
        return self.commanded_at is not None and now <= self.commanded_at and not self.stands

    def bury(self) -> None:
        """Let the document be gone; what is touched after this is a new one. Jobs in flight are claimed no more."""
        self._health = self.first_touched_at = None
        self.jobs.forget()
        self._failed_again, self._confirmed_at = {}, None
        self.errors = self.suppressed = self.coalesced = 0
        self.last_checked_at = self.last_success_at = self.last_diagnosis = self.override = None
        self.verdict, self.link, self.history, self.cooldowns = NO_VERDICT, NO_LINK, (), []

    def mark(self, marking: Marking, now: datetime, policy: Policy) -> bool:
        """Write a status, with its history; False where newer or stronger evidence stands against it."""
        if not accepts(self._confirmed(), marking, now):
            return False
        self.write(marking, now, policy)
        return True

    def write(self, marking: Marking, now: datetime, policy: Policy) -> None:
        """Write a status, with its history, whatever stands there."""
        self.verdict = marked(self._confirmed(), marking, now)
        self.history = remembered(self.history, marking, now, policy)

    def fail_again(self, cooldown: Cooldown, now: datetime, *, confirms_status: bool) -> None:
        """Note a failure during a cooldown. No older success ends what it was the last evidence of."""
        key = cooldown.error_signature, cooldown.user_id
        known = self._failed_again.get(key)
        if known is None or now > known:
            self._failed_again[key] = now
        if confirms_status and (self._confirmed_at is None or now > self._confirmed_at):
            self._confirmed_at = now

    def succeed(self, now: datetime) -> None:
        """Note that the tool has worked for somebody of this scope."""
        self.last_success_at = max(self.last_success_at or now, now)
        self.last_checked_at = max(self.last_checked_at or now, now)

    def cooldown(self, signature: str, user_id: str | None) -> Cooldown | None:
        """The entry of exactly this key, active or not."""
        for entry in self.cooldowns:
            if entry.error_signature == signature and entry.user_id == user_id:
                return entry
        return None

    def put_cooldown(self, entry: Cooldown) -> None:
        """Set the entry of its key."""
        for position, known in enumerate(self.cooldowns):
            if known.error_signature == entry.error_signature and known.user_id == entry.user_id:
                self.cooldowns[position] = entry
                return
        self.cooldowns.append(entry)

    def forget_cooldowns(self, keeps: Callable[[Cooldown], bool]) -> None:
        """Make room: drop those that need not be kept."""
        self.cooldowns = [entry for entry in self.cooldowns if keeps(entry)]

    def end_cooldowns(self, now: datetime, fits: Callable[[Cooldown], bool]) -> int:
        """End those that last at `now`, fit, and were met by no later failure; how many that were."""
        ended = 0
        for position, entry in enumerate(self.cooldowns):
            if is_active(entry, now) and entry.last_triggered_at <= now and fits(entry):
                self.cooldowns[position] = cleared(entry, now)
                ended += 1
        return ended

    def _confirmed(self) -> VerdictFacet:
        """The verdict with the newest evidence for it; one that says OK has none against it."""
        verdict, confirmed_at = self.verdict, self._confirmed_at
        if confirmed_at is not None and verdict.status is not Status.OK:
            evidence_at = max(verdict.evidence_at or confirmed_at, confirmed_at)
            self.verdict = verdict.with_changes(evidence_at=evidence_at)
        self._confirmed_at = None
        return self.verdict

    def _frozen_cooldowns(self) -> tuple[Cooldown, ...]:
        """The cooldowns with the time of their last failure."""
        again = self._failed_again
        if not again:
            return tuple(self.cooldowns)
        return tuple(
            entry
            if (failed_at := again.get((entry.error_signature, entry.user_id))) is None
            or failed_at <= entry.last_triggered_at
            else entry.with_changes(last_triggered_at=failed_at)
            for entry in self.cooldowns
        )

    @property
    def scope(self) -> Scope:
        """The scope that the document is about."""
        return Scope(parts(self.key)[1])

    def frozen(self) -> HealthEntry:
        """The entry after the step. Its revision is above the old one and not below the newest record's append time."""
        base = self._base or _NOTHING
        revision = max(base.revision + 1, self.appended_ms)
        return base.with_changes(
            revision=revision,
            health=self._frozen_health(revision) if self.stands else None,
            applied=self.applied,
            jobs=tuple(self.jobs),
            handled_job_ids=self.jobs.handled_ids,
            handled_process_ids=self.jobs.answered_by,
            inbox=self.inbox.items,
            ended_at=self.ended_at,
            handled_command_ids=self.handled_command_ids,
            commanded_at=self.commanded_at,
        )

    def _frozen_health(self, revision: int) -> ToolHealth:
        touched = self.touched_at
        if touched is None:
            raise ValueError(f"{self.key}: only a touched draft is frozen")
        known = self.health
        facets: dict[str, Any] = {
            "revision": revision,
            "link": self.link,
            "verdict": self._confirmed(),
            "override": self.override,
            "last_diagnosis": self.last_diagnosis,
            "last_checked_at": self.last_checked_at,
            "last_success_at": self.last_success_at,
            "cooldowns": self._frozen_cooldowns(),
            "history": self.history,
            "counters": self._counted(known.counters if known else HealthCounters()),
        }
        if known is not None:
            return known.with_changes(**facets, updated_at=max(known.updated_at, touched))
        tenant_id, scope, scope_id, tool_name = parts(self.key)
        return ToolHealth(
            **facets,
            tenant_id=tenant_id,
            scope=Scope(scope),
            scope_id=scope_id,
            tool_name=tool_name,
            created_at=self.first_touched_at or touched,
            updated_at=touched,
        )

    def _counted(self, before: HealthCounters) -> HealthCounters:
        return HealthCounters(
            errors=before.errors + self.errors,
            suppressed=before.suppressed + self.suppressed,
            coalesced=before.coalesced + self.coalesced,
            jobs=before.jobs + self.jobs.started,
        )

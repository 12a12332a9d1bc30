"""What a person or a service engine asks of one health document (spec agrajag §6.2, §11).

A command that cannot be meant is refused with a reason, one that finds nothing says so, and neither leaves a trace. One
that is carried out leaves who and why in the document. Of two commands the later by their own time stands, whatever
arrives last; evidence that is newer than a command stands as well, but for an override, which is above all evidence.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple

from agrajag.core.command_fit import misfit, starts_at_status
from agrajag.core.cooldown_room import has_room, put_stated
from agrajag.core.draft import Draft
from agrajag.core.drafts import Drafts
from agrajag.core.health import Marking, remembered
from agrajag.core.policy import Policy
from agrajag.core.recheck import keys_from_scope_up, question, recheck_job, recheck_job_id, running_job
from agrajag.core.redact import redacted_line
from agrajag.core.repeats import repeat_of
from agrajag.core.times import event_time
from agrajag.core.verdicts import Arrival, Repeat
from agrajag.model.answers import HealthCommand
from agrajag.model.enums import Classification, CommandKind, CommandOutcome, InboxStatus, Scope, Status
from agrajag.model.health import MAX_JOBS, Cooldown, OverrideFacet
from agrajag.model.jobs import DiagnosisJob
from agrajag.model.keys import health_key
from agrajag.model.wire_model import MAX_NOTE

_NO_DOCUMENT = "there is no such document"
_FORGOTTEN = "it was asked before, and its diagnosis is not known any more"
_NO_ROOM = "the document can hold no further cooldown"


class Commanded(NamedTuple):
    """How a command ended. `job` is set where one is to be sent now; `is_repeat` where it was carried out before."""

    outcome: CommandOutcome
    key: str
    reason: str | None = None
    job_id: str | None = None
    job: DiagnosisJob | None = None
    is_repeat: bool = False


def command(
    arrival: Arrival[HealthCommand], drafts: Drafts, policy: Policy, clock: datetime
) -> Commanded | Repeat:
    """Carry out one command, or say why not. `clock`, the worker's, serves leases only.

    A command id that was carried out before changes nothing and is ALREADY_APPLIED. A record that was decided before
    under another outcome is a `Repeat`: it has its answer.
    """
    return _Command(arrival, drafts, policy, clock).decided()


class _Command:
    """One command, the document it is about, and the few things that several kinds need."""

    def __init__(
        self, arrival: Arrival[HealthCommand], drafts: Drafts, policy: Policy, clock: datetime
    ) -> None:
        self.arrival = arrival
        self.drafts = drafts
        self.policy = policy
        self.clock = clock
        event = self.event = arrival.event
        self.key = health_key(event.tenant_id, event.scope, event.scope_id, event.tool_name)
        self.known = drafts.find(self.key)
        self.now = event_time(event.at, arrival.appended_at)
        self.user_id = event.scope_id if event.scope is Scope.USER else event.user_id
        self.why = None if event.reason is None else redacted_line(event.reason, MAX_NOTE)

    def decided(self) -> Commanded | Repeat:
        event, known = self.event, self.known
        if known is not None and self._is_done(known):
            return self._already(known)
        # The wider ones as well: a recheck that found its job there would start one once a later command has ended it.
        present = self.drafts.present(keys_from_scope_up(event, self.user_id))
        if (repeat := repeat_of(self.arrival, present)) is not None:
            return repeat
        problem = misfit(event, self.now)
        if problem is not None:
            return self._refused(problem)
        if known is not None and known.commanded_at is not None and self.now < known.commanded_at:
            return self._refused("at: a later command was carried out before")
        return _KINDS[event.kind](self)

    # --- how commands end ---

    def _applied(self, draft: Draft, job: DiagnosisJob | None = None) -> Commanded:
        draft.touch(self.arrival.origin, self.arrival.offset, self.now, self.arrival.appended_ms)
        draft.take_command(self.event.command_id, self.now)
        return Commanded(CommandOutcome.APPLIED, self.key, job_id=job.job_id if job else None, job=job)

    def _is_done(self, known: Draft) -> bool:
        event = self.event
        if event.command_id in known.handled_command_ids:
            return True
        return event.kind is CommandKind.RECHECK and recheck_job_id(event) in known.jobs.handled_ids

    def _already(self, known: Draft) -> Commanded:
        """A recheck is told of its job, in flight or answered; a job in flight is sent again."""
        already = CommandOutcome.ALREADY_APPLIED
        if self.event.kind is not CommandKind.RECHECK:
            return Commanded(already, self.key, is_repeat=True)
        job_id = recheck_job_id(self.event)
        if not known.jobs.is_known(job_id):
            return Commanded(already, self.key, _FORGOTTEN, is_repeat=True)
        return Commanded(already, self.key, job_id=job_id, job=known.jobs.find(job_id), is_repeat=True)

    def _refused(self, reason: str) -> Commanded:
        return Commanded(CommandOutcome.REFUSED, self.key, reason)

    def _nothing(self, reason: str) -> Commanded:
        return Commanded(CommandOutcome.NOTHING_MATCHED, self.key, reason)

    def _standing(self) -> Draft | None:
        return self.known if self.known is not None and self.known.stands else None

    # --- the kinds ---

    def set_available(self) -> Commanded:
        """WORKING: the verdict becomes OK and every cooldown of the document ends."""
        draft = self._standing()
        if draft is None:
            return self._nothing(_NO_DOCUMENT)
        if _is_newer(draft.verdict.evidence_at, self.now):
            return self._refused("at: the tool was seen failing since")
        draft.write(
            Marking(Status.OK, Classification.WORKING, None, self.why, self.event.by), self.now, self.policy
        )
        draft.end_cooldowns(self.now, lambda _: True)
        draft.inbox.archive_until(self.now)
        return self._applied(draft)

    def set_unavailable(self) -> Commanded:
        """The verdict that the classification stands for, or the status that is asked for."""
        event = self.event
        draft = self.drafts.make(self.key)
        if _is_newer(draft.verdict.evidence_at, self.now):
            return self._refused("at: newer evidence stands")
        if _is_newer(draft.last_success_at, self.now):
            return self._refused("at: the tool has worked since")
        until = event.expected_recovery_at or self._after_duration()
        marking = Marking(
            event.status or starts_at_status(event.classification),
            event.classification,
            until,
            self.why,
            event.by,
        )
        draft.write(marking, self.now, self.policy)
        return self._applied(draft)

    def set_cooldown(self) -> Commanded:
        """A cooldown of its key; one that stands there keeps its job, and the later deadline wins."""
        event = self.event
        until = self._after_duration()
        if until is None or event.error_signature is None:
            raise ValueError("a command is looked at before it is carried out")
        draft = self.drafts.make(self.key)
        stated = Cooldown(
            error_signature=event.error_signature,
            user_id=self.user_id,
            since=self.now,
            next_spawn_allowed_at=until,
            last_classification=event.classification,
            last_triggered_at=self.now,
            note=self.why,
        )
        if not put_stated(draft, stated, self.now, self.policy, self.clock):
            return self._refused(_NO_ROOM)
        return self._applied(draft)

    def clear_cooldown(self) -> Commanded:
        """End the cooldowns that fit; without a signature or a user those of any."""
        draft, event = self._standing(), self.event

        def fits(entry: Cooldown) -> bool:
            return event.error_signature in {None, entry.error_signature} and event.user_id in {
                None,
                entry.user_id,
            }

        if draft is None or not draft.end_cooldowns(self.now, fits):
            return self._nothing("no active cooldown fits")
        return self._applied(draft)

    def override(self) -> Commanded:
        """What a person says, above all evidence, until they lift it or `until` has passed."""
        event = self.event
        if event.status is None or self.why is None:
            raise ValueError("a command is looked at before it is carried out")
        draft = self.drafts.make(self.key)
        until = event.until or self._after_duration()
        draft.override = OverrideFacet(
            status=event.status, reason=self.why, by=event.by, at=self.now, until=until
        )
        self._remember(draft, event.status, until)
        if event.status is Status.OK:
            draft.inbox.archive_until(self.now)
        return self._applied(draft)

    def lift_override(self) -> Commanded:
        """Take back what a person has said; evidence counts again."""
        draft = self._standing()
        if draft is None or draft.override is None:
            return self._nothing("there is no override")
        draft.override = None
        is_down = draft.link.down_since is not None
        self._remember(draft, Status.DOWN if is_down else draft.verdict.status, None)
        return self._applied(draft)

    def delete(self) -> Commanded:
        """The document goes, with everything in it; what happens from now on makes a new one."""
        draft = self._standing()
        if draft is None:
            return self._nothing(_NO_DOCUMENT)
        done = self._applied(draft)
        draft.inbox.close(InboxStatus.ARCHIVED, self.now, lambda _: True)
        draft.bury()
        return done

    def dismiss_inbox(self) -> Commanded:
        """The user has read an inbox item of the document; one that is closed stays as it is."""
        draft, item_id = self._standing(), self.event.inbox_item_id
        if draft is None or not draft.inbox.close(
            InboxStatus.DISMISSED, self.now, lambda item: item.item_id == item_id
        ):
            return self._nothing("no open inbox item has this id")
        return self._applied(draft)

    def recheck(self) -> Commanded:
        """Start a diagnosis, unless one is in flight that answers for it."""
        if self.event.tool_name in self.policy.never_diagnosed:
            return self._refused("kind: diagnosis is switched off for this tool")
        present = self.drafts.present(keys_from_scope_up(self.event, self.user_id))
        asked = question(present, self.user_id, self.now, self.clock)
        if (running := running_job(present, asked, self.clock)) is not None:
            already = CommandOutcome.ALREADY_APPLIED
            return Commanded(already, self.key, "a diagnosis is in flight", running.job_id)
        draft = self.drafts.make(self.key)
        if not has_room(draft, *asked, self.now, self.policy, self.clock):
            return self._refused(_NO_ROOM)
        if not draft.jobs.have_room(MAX_JOBS, self.clock):
            return self._refused("the document can hold no further job")
        lease_until = self.arrival.appended_at + self.policy.lease
        job = recheck_job(self.event, asked.signature, self.why, self.now, lease_until)
        entry = draft.cooldown(*asked) or Cooldown(
            error_signature=asked.signature,
            user_id=asked.user_id,
            next_spawn_allowed_at=self.now,  # a claim and no pause
            last_classification=Classification.UNCLEAR,
            last_triggered_at=self.now,
        )
        draft.put_cooldown(
            entry.with_changes(claimed_by=job.claimed_by, job_id=job.job_id, lease_until=lease_until)
        )
        draft.jobs.start(job)
        return self._applied(draft, job)

    # --- what several kinds need ---

    def _after_duration(self) -> datetime | None:
        return None if self.event.duration is None else self.now + self.event.duration

    def _remember(self, draft: Draft, status: Status, until: datetime | None) -> None:
        marking = Marking(status, None, until, self.why, self.event.by)
        draft.history = remembered(draft.history, marking, self.now, self.policy)


def _is_newer(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and now < moment


_KINDS: Mapping[CommandKind, Callable[[_Command], Commanded]] = {
    CommandKind.RECHECK: _Command.recheck,
    CommandKind.SET_AVAILABLE: _Command.set_available,
    CommandKind.SET_UNAVAILABLE: _Command.set_unavailable,
    CommandKind.SET_COOLDOWN: _Command.set_cooldown,
    CommandKind.CLEAR_COOLDOWN: _Command.clear_cooldown,
    CommandKind.OVERRIDE: _Command.override,
    CommandKind.LIFT_OVERRIDE: _Command.lift_override,
    CommandKind.DELETE: _Command.delete,
    CommandKind.DISMISS_INBOX: _Command.dismiss_inbox,
}

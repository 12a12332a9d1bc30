"""What one answer to a diagnosis job is about: its question, what its run has shown, and the documents around it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from agrajag.core.apply_guards import Guard, Question
from agrajag.core.draft import Draft
from agrajag.core.drafts import Drafts
from agrajag.core.evidence import Probed
from agrajag.core.lookup import Caller
from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.core.verdicts import Arrival
from agrajag.model.enums import Classification, Scope
from agrajag.model.health import Cooldown
from agrajag.model.jobs import DiagnosisResult
from agrajag.model.keys import health_key


class Stands(NamedTuple):
    """A verdict on its way into the documents."""

    classification: Classification
    is_answer: bool
    """Whether somebody has found it out, and it is not what is written where nobody has."""
    is_trusted: bool
    """Whether it is the very verdict of the answer."""
    scope: Scope
    scope_id: str
    seen_at: datetime
    """The newest evidence."""


@dataclass(slots=True)
class Case:
    """The answer to a job that was in flight in `own`, and the few things that several questions need.

    `claim` is the cooldown that claimed the job, released. `reported_at` is when the newest error behind it happened.
    `guards` are those met so far. `note` is the answer's, fit to be stored.
    """

    arrival: Arrival[DiagnosisResult]
    drafts: Drafts
    rules: RuleSet
    policy: Policy
    clock: datetime
    now: datetime
    found: Probed
    own: Draft
    claim: Cooldown
    asked: Question
    reported_at: datetime | None
    locale: str | None
    note: str | None
    guards: list[Guard]

    @property
    def event(self) -> DiagnosisResult:
        """The answer."""
        return self.arrival.event

    def touch(self, draft: Draft) -> None:
        """Note that the answer is applied there."""
        draft.touch(self.arrival.origin, self.arrival.offset, self.now, self.arrival.appended_ms)

    def key(self, scope: Scope, scope_id: str) -> str:
        """That of the tool's document for a scope."""
        return health_key(self.event.tenant_id, scope, scope_id, self.event.tool_name)

    def cascade(self) -> Sequence[Draft]:
        """The documents that stand for the originator, narrowest first."""
        asked = self.asked
        caller = Caller(asked.tenant_id, asked.project_id, asked.own_user_id, asked.session_id)
        present = self.drafts.present(caller.keys(self.event.tool_name))
        return [draft for draft in present if draft.stands]

    def outdated(self, draft: Draft | None, seen_at: datetime) -> Guard | None:
        """What has happened to a document since the newest evidence that makes the answer say nothing any more."""
        if draft is None:
            return None
        if draft.is_deleted_since(seen_at):
            return Guard.DELETED
        if draft.last_success_at is not None and draft.last_success_at >= seen_at:
            return Guard.NEWER_SUCCESS
        last = draft.last_diagnosis
        if last is not None and last.at > seen_at and last.user_id in {None, self.asked.own_user_id}:
            return Guard.NEWER_DIAGNOSIS
        return None

"""Answers of diagnoses sent through `apply` one after the other, among errors, successes and commands."""

from datetime import datetime
from typing import Any

from agrajag.core.apply import Applied, apply
from agrajag.core.drafts import Drafts
from agrajag.core.verdicts import Arrival, Repeat
from agrajag.model.answers import InboxItem
from agrajag.model.enums import CommandKind, ProbeIdentity, Scope
from agrajag.model.health import ToolHealth
from agrajag.model.jobs import DiagnosisJob, DiagnosisResult
from agrajag.model.keys import health_key
from tests.builders import a_result, evidence
from tests.core.triaging import Triage, after

USER, SYSTEM = ProbeIdentity.USER, ProbeIdentity.SYSTEM
SOON = after(seconds=10)
"""When the answers of these tests are finished."""
ALICE: dict[str, Any] = {"scope": Scope.USER, "scope_id": "alice"}
TENANT: dict[str, Any] = {"scope": Scope.TENANT, "scope_id": "acme"}

USER_FAILS = evidence(USER, at=after(seconds=5), status_code=401, error_signature="http-401")
USER_WORKS = evidence(USER, at=after(seconds=5), success=True)
USER_BREAKS = evidence(USER, at=after(seconds=5))
SYSTEM_FAILS = evidence(SYSTEM, at=after(seconds=6))
OUTAGE = (USER_BREAKS, SYSTEM_FAILS)
"""It fails for everybody alike."""
SYSTEM_WORKS = evidence(SYSTEM, at=after(seconds=6), success=True)


class Applying(Triage):
    """A partition's documents with answers."""

    def job(self, **overrides: Any) -> DiagnosisJob:
        """The job that one UNCLEAR error begins."""
        job = self.send(**({"http_status": 503} | overrides)).job
        assert job is not None
        return job

    def recheck(self, **overrides: Any) -> DiagnosisJob:
        """The job that a person's recheck begins."""
        job = self.command(CommandKind.RECHECK, **({"user_id": "alice"} | overrides)).job
        assert job is not None
        return job

    def take_answer(
        self,
        result: DiagnosisResult,
        at: datetime = SOON,
        offset: int | None = None,
        clock: datetime | None = None,
    ) -> Applied | Repeat:
        """One answer at an offset, the next by default, in a step of its own."""
        if offset is None:
            self.offset += 1
            offset = self.offset
        drafts = Drafts(self.table.get)
        arrival = Arrival(result, result.process_id, "results-0", offset, at, int(at.timestamp() * 1000))
        applied = apply(arrival, drafts, self.rules, self.policy, clock or at)
        self.news = [item for draft in drafts.touched() for item in draft.inbox.news.values()]
        self.table.update({draft.key: draft.frozen() for draft in drafts.touched()})
        return applied

    def answer(self, job: DiagnosisJob, at: datetime = SOON, **overrides: Any) -> Applied:
        """The answer to a job, finished and appended at `at`."""
        applied = self.take_answer(a_result(job, at=at, **overrides), at)
        assert isinstance(applied, Applied)
        return applied

    def find(self, scope: Scope = Scope.PROJECT, scope_id: str = "essays") -> ToolHealth | None:
        """The document of one scope, if there is one."""
        entry = self.table.get(health_key("acme", scope, scope_id, "search"))
        return entry.health if entry is not None else None

    def inbox(self, user_id: str = "alice") -> tuple[InboxItem, ...]:
        """The inbox items that the table knows of a user."""
        entry = self.table.get(health_key("acme", Scope.USER, user_id, "search"))
        return entry.inbox if entry is not None else ()

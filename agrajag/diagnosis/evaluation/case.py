"""Makes a scenario's job and documents, by the decisions of Layer 1 themselves: nothing here is as if.

Pure: the same scenario and time give the same case. The errors happen shortly before `at`, the moment of the diagnosis.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from string import Template
from typing import Any

import orjson

from agrajag.core.command import Commanded, command
from agrajag.core.drafts import Drafts
from agrajag.core.policy import Policy
from agrajag.core.triage import triage
from agrajag.core.verdicts import Arrival, E, Verdict
from agrajag.diagnosis.evaluation.scenario import (
    PROJECT,
    SESSION,
    TENANT,
    USER,
    Body,
    ErrorPart,
    HealthPart,
    JobPart,
    Scenario,
    ToolPart,
)
from agrajag.documents.rule_files import bundled_rules
from agrajag.errors import ConfigError
from agrajag.model.answers import HealthCommand
from agrajag.model.enums import CommandKind, Scope
from agrajag.model.events import ErrorReport, ToolCallError
from agrajag.model.health import Cooldown, HealthEntry, HistoryEntry, ToolHealth, VerdictFacet
from agrajag.model.jobs import DiagnosisJob
from agrajag.model.keys import health_key

POLICY = Policy()
_ORIGIN = "scenario-0"
_ERRORS_AGO = timedelta(seconds=20)
_MAINTENANCE = timedelta(minutes=90)
_LONG_AGO = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario at one moment: its job, and the table as Layer 1 has left it."""

    scenario: Scenario
    job: DiagnosisJob
    entries: Mapping[str, HealthEntry]
    at: datetime


def case_of(scenario: Scenario, at: datetime) -> Case:
    """The case. Raises ConfigError where Layer 1 begins no diagnosis, so that there would be nothing to answer."""
    entries = {
        health_key(TENANT, part.scope, scope_id(part.scope, scenario.job), scenario.job.tool): entry
        for part in scenario.health
        for entry in (_entry(part, scenario.job, at),)
    }
    drafts = Drafts(entries.get)
    job_id = _asked(scenario, drafts, at) if scenario.job.error is None else _reported(scenario, drafts, at)
    for draft in list(drafts.touched()):
        entries[draft.key] = draft.frozen()
    for entry in entries.values():
        for job in entry.jobs:
            if job.job_id == job_id:
                return Case(scenario, job, entries, at)
    raise ConfigError(f"scenario {scenario.id}: Layer 1 begins no diagnosis for it")


def script_of(scenario: Scenario, at: datetime) -> ToolPart | None:
    """How the tool behaves, with all times filled in; None where it has no server."""
    if scenario.server is None:
        return None
    written = orjson.loads(scenario.server.model_dump_json(by_alias=True, exclude_none=True))
    return ToolPart.model_validate_json(orjson.dumps(filled(written, at)))


def scope_id(scope: Scope, job: JobPart) -> str:
    """Whose document it is at a scope."""
    ids = {
        Scope.SESSION: SESSION,
        Scope.USER: job.user or USER,
        Scope.PROJECT: job.project or PROJECT,
        Scope.TENANT: TENANT,
        Scope.GLOBAL: "",
    }
    return ids[scope]


def filled(value: Any, at: datetime, **names: str) -> Any:
    """A value of a scenario with its `$names` filled in; `$end` is when a maintenance ends."""
    end = (at + _MAINTENANCE).isoformat(timespec="minutes")
    if isinstance(value, str):
        return Template(value).safe_substitute(names, end=end)
    if isinstance(value, Mapping):
        return {key: filled(one, at, **names) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [filled(one, at, **names) for one in value]
    return value


# --- what was known before ---


def _entry(part: HealthPart, job: JobPart, at: datetime) -> HealthEntry:
    since = at - part.since if part.since is not None else None
    verdict = VerdictFacet(
        status=part.status,
        since=since,
        expected_recovery_at=at + part.recovers_in if part.recovers_in is not None else None,
        classification=part.classification,
        note=part.note,
        by="agrajag-engine/earlier" if part.classification is not None else None,
        evidence_at=since,
    )
    history = tuple(
        HistoryEntry(
            at=at - change.ago,
            last_at=at - change.ago + change.lasted,
            count=change.count,
            status=change.status,
            classification=change.classification,
            note=change.note,
            by="agrajag-engine/earlier",
        )
        for change in part.history
    )
    cooldowns = tuple(
        Cooldown(
            error_signature=entry.signature,
            user_id=entry.user,
            next_spawn_allowed_at=at + entry.remains,
            hits=entry.hits,
            last_triggered_at=at - timedelta(minutes=1),
        )
        for entry in part.cooldowns
    )
    health = ToolHealth(
        revision=1,
        tenant_id=TENANT,
        scope=part.scope,
        scope_id=scope_id(part.scope, job),
        tool_name=job.tool,
        verdict=verdict,
        last_success_at=at - part.last_success if part.last_success is not None else None,
        cooldowns=cooldowns,
        history=history,
        created_at=at - _LONG_AGO,
        updated_at=since or at - _LONG_AGO,
    )
    return HealthEntry(revision=1, health=health)


# --- how the question arose ---


def _reported(scenario: Scenario, drafts: Drafts, at: datetime) -> str | None:
    """Let Layer 1 decide about the errors; the id of the job that the first of them began."""
    job_id = None
    for number, event in enumerate(_events(scenario, at - _ERRORS_AGO)):
        verdict = triage(_arrival(event, number, at - _ERRORS_AGO), drafts, bundled_rules(), POLICY, at)
        if job_id is None and isinstance(verdict, Verdict) and verdict.job is not None:
            job_id = verdict.job.job_id
    return job_id


def _events(scenario: Scenario, at: datetime) -> Iterator[ToolCallError]:
    """One error of each user, the originating one first; the last stands for all that are left."""
    job = scenario.job
    users = [job.user, *(f"{USER}-{number}" for number in range(2, job.users + 1))]
    errors = job.others or ((job.error,) if job.error is not None else ())
    for number, user in enumerate(users):
        error = job.error if number == 0 else errors[(number - 1) % len(errors)]
        if error is not None:
            yield _event(scenario, f"event-{number}", user, error, 1, at)
    if job.errors > len(users):
        yield _event(scenario, "event-rest", users[-1], errors[-1], job.errors - len(users), at)


def _event(
    scenario: Scenario, event_id: str, user_id: str | None, error: ErrorPart, count: int, at: datetime
) -> ToolCallError:
    job = scenario.job
    report = ErrorReport(
        exception_type=error.exception,
        message=filled(error.message, at),
        http_status=error.status,
        headers=error.headers,
        body=body_text(filled(error.body, at)),
        error_code=error.code,
    )
    return ToolCallError(
        event_id=event_id,
        occurred_at=at,
        tenant_id=TENANT,
        project_id=job.project,
        tool_name=job.tool,
        user_id=user_id,
        session_id=SESSION if user_id == job.user and user_id is not None else None,
        locale=job.locale,
        transport=job.transport,
        credential_kind=job.credentials,
        count=count,
        error=report,
    )


def body_text(body: Body) -> str | None:
    """A body as it is sent: text as it is, anything else as JSON."""
    return body if body is None or isinstance(body, str) else orjson.dumps(body).decode()


def _asked(scenario: Scenario, drafts: Drafts, at: datetime) -> str | None:
    job = scenario.job
    scope = job.scope or Scope.PROJECT
    asked = HealthCommand(
        command_id="command-1",
        kind=CommandKind.RECHECK,
        tenant_id=TENANT,
        project_id=job.project if scope is not Scope.PROJECT else None,
        scope=scope,
        scope_id=scope_id(scope, job),
        tool_name=job.tool,
        by=job.user or "operator",
        user_id=job.user,
        at=at,
    )
    done = command(_arrival(asked, 0, at), drafts, POLICY, at)
    return done.job_id if isinstance(done, Commanded) else None


def _arrival(event: E, number: int, at: datetime) -> Arrival[E]:
    return Arrival(event, f"arrival-{number}", _ORIGIN, number, at, int(at.timestamp() * 1000))

"""What a recheck asks about, whether a diagnosis that answers for it is in flight, and the job that it starts.

A recheck passes cooldowns and fresh diagnoses: that is what it is for. It starts no second job for what is in flight.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from agrajag.core.cooldown import covers, in_flight, is_active
from agrajag.core.draft import Draft
from agrajag.core.jobs import job_id_of
from agrajag.core.lookup import Caller
from agrajag.model.answers import HealthCommand
from agrajag.model.enums import Scope, Trigger
from agrajag.model.jobs import DiagnosisJob
from agrajag.model.keys import health_key

USER_REQUEST = "user-request"
"""The signature of a recheck where nothing that failed lately tells one."""


class Question(NamedTuple):
    """What a diagnosis is asked about, and for whom: `user_id` None is everybody."""

    signature: str
    user_id: str | None


def keys_from_scope_up(command: HealthCommand, user_id: str | None) -> list[str]:
    """The key of the command's document, and of every wider one that speaks for it; none does where its ids misfit."""
    scope, scope_id = command.scope, command.scope_id
    caller = Caller(
        command.tenant_id,
        scope_id if scope is Scope.PROJECT else command.project_id,
        user_id,
        scope_id if scope is Scope.SESSION else None,
    )
    keys = list(caller.keys(command.tool_name))
    own = health_key(command.tenant_id, scope, scope_id, command.tool_name)
    return keys[keys.index(own) :] if own in keys else [own]


def question(present: Iterable[Draft], user_id: str | None, now: datetime, clock: datetime) -> Question:
    """What the newest cooldown that lasts, or whose job runs, is about; `user-request` where there is none."""
    standing = [
        entry
        for draft in present
        for entry in draft.cooldowns
        if (is_active(entry, now) or in_flight(entry, clock)) and covers(entry, None, user_id)
    ]
    if not standing:
        return Question(USER_REQUEST, user_id)
    newest = max(standing, key=lambda entry: entry.last_triggered_at)
    return Question(newest.error_signature, newest.user_id)


def running_job(present: Iterable[Draft], asked: Question, clock: datetime) -> DiagnosisJob | None:
    """The job in flight that answers the question, the narrowest first."""
    for draft in present:
        for entry in draft.cooldowns:
            if in_flight(entry, clock) and covers(entry, asked.signature, asked.user_id):
                job = draft.jobs.find(entry.job_id)
                if job is not None:
                    return job
    return None


def recheck_job_id(command: HealthCommand) -> str:
    """The id of the job that a recheck starts: told by the command alone, so that it is found once it has ended."""
    return job_id_of(
        command.tenant_id,
        command.scope,
        command.scope_id,
        command.tool_name,
        USER_REQUEST,
        command.user_id,
        command.command_id,
    )


def recheck_job(
    command: HealthCommand, signature: str, detail: str | None, now: datetime, lease_until: datetime
) -> DiagnosisJob:
    """The job of a recheck, claimed by its command: the same command is the same job."""
    scope, scope_id = command.scope, command.scope_id
    return DiagnosisJob(
        job_id=recheck_job_id(command),
        tenant_id=command.tenant_id,
        project_id=scope_id if scope is Scope.PROJECT else command.project_id,
        scope=scope,
        scope_id=scope_id,
        tool_name=command.tool_name,
        originating_user_id=command.user_id,
        originating_session_id=scope_id if scope is Scope.SESSION else command.originating_session_id,
        originating_process_id=command.originating_process_id,
        trigger=Trigger.USER_REQUEST,
        error_signature=signature,
        error_detail=detail,
        error_count=0,
        locale=command.locale,
        claimed_by=command.command_id,
        created_at=now,
        lease_until=lease_until,
        otel=command.otel,
    )

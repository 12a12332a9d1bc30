"""What a parent is told of the diagnosis that it has asked for (spec agrajag §11): in words, and as fields.

The words of a diagnosis may repeat what a failing tool has said. So they stand in a quotation, on one line, and whoever
reads the report is told that they are a report.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import orjson
from pydantic import ValidationError

from agrajag.core.shown import visible
from agrajag.errors import InputError
from agrajag.model.answers import CommandResult, HealthCommand
from agrajag.model.enums import Classification, CommandKind, CommandOutcome, Scope
from agrajag.model.jobs import SERVICE_TYPE
from agrajag.model.processes import ProcessEvent
from agrajag.model.wire_model import Id, Note, ScopeId, WireModel
from agrajag.wire.reasons import DeadLetterReason


class SpawnEnd(StrEnum):
    """How waiting ended. REFUSED: no diagnosis was begun. UNANSWERED: the time was over, and it may still end."""

    ANSWERED = "answered"
    REFUSED = "refused"
    UNANSWERED = "unanswered"


@dataclass(frozen=True, slots=True)
class Parent:
    """Who asks, and in which language. Probes run as this user and as nobody else; without one, as the system alone."""

    tenant_id: str
    process_id: str
    project_id: str | None = None
    user_id: str | None = None
    session_id: str | None = None
    locale: str | None = None


class Verdict(WireModel):
    """The fields of a report. Where `applied` is false the verdict is not in the document: `reason` says why."""

    end: SpawnEnd
    tool_name: Id
    scope: Scope
    scope_id: ScopeId
    job_id: Id | None = None
    process_id: Id | None = None
    verdict: Classification | None = None
    applied: bool | None = None
    reason: str | None = None
    note: Note | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class ParentReport:
    """`summary` is Markdown for people and models, `payload` the same for code."""

    summary: str
    payload: Verdict


class _Params(WireModel):
    tool_name: Id
    scope: Scope = Scope.PROJECT
    scope_id: ScopeId | None = None
    note: Note | None = None


def command_of(recipe: str, params: Mapping[str, Any], parent: Parent, command_id: str) -> HealthCommand:
    """The command that asks for what `recipe` with these parameters is: a recheck.

    `params` are toolName, scope (PROJECT), scopeId (the parent's own) and note. Raises InputError for a recipe that
    answers nobody, for parameters that say nothing usable, and for the scope of another user.
    """
    if recipe != SERVICE_TYPE:
        raise InputError(
            DeadLetterReason.INVALID_FIELD, f"recipe: {visible(recipe)[:80]} cannot be waited for"
        )
    try:
        asked = _Params.from_json(orjson.dumps(dict(params)))
    except (ValidationError, TypeError) as error:
        fields = error.errors(include_input=False) if isinstance(error, ValidationError) else []
        named = ", ".join(sorted({str(field["loc"][0]) for field in fields if field["loc"]})) or "params"
        raise InputError(DeadLetterReason.INVALID_FIELD, f"{named}: cannot be used") from None
    scope_id = _scope_id(asked, parent)
    return HealthCommand(
        command_id=command_id,
        kind=CommandKind.RECHECK,
        tenant_id=parent.tenant_id,
        project_id=scope_id if asked.scope is Scope.PROJECT else parent.project_id,
        scope=asked.scope,
        scope_id=scope_id,
        tool_name=asked.tool_name,
        by=parent.user_id or parent.process_id,
        reason=asked.note,
        user_id=parent.user_id,
        originating_process_id=parent.process_id,
        originating_session_id=parent.session_id,
        locale=parent.locale,
    )


def _scope_id(asked: _Params, parent: Parent) -> str:
    own = {
        Scope.SESSION: parent.session_id,
        Scope.USER: parent.user_id,
        Scope.PROJECT: parent.project_id,
        Scope.TENANT: parent.tenant_id,
        Scope.GLOBAL: "",
    }[asked.scope]
    scope_id = own if asked.scope_id is None else asked.scope_id
    if scope_id is None:
        raise InputError(DeadLetterReason.MISSING_FIELD, f"scopeId: the parent has no {asked.scope}")
    if asked.scope is Scope.USER and scope_id != own:
        raise InputError(DeadLetterReason.INVALID_FIELD, "scopeId: is another user's")
    return scope_id


def refused(command: HealthCommand, result: CommandResult) -> ParentReport:
    """No diagnosis has begun; or the one that began when the same was asked before is not known any more."""
    reason = result.reason or str(result.outcome)
    again = " again" if result.outcome is CommandOutcome.ALREADY_APPLIED else ""
    summary = f"**{_tool(command)}** was not checked{again}: {visible(reason)}"
    return ParentReport(summary, _verdict(command, SpawnEnd.REFUSED, reason=reason))


def unanswered(command: HealthCommand, job_id: str | None, waited_seconds: float) -> ParentReport:
    """Nobody has answered in time."""
    summary = (
        f"**{_tool(command)}**: no answer within {waited_seconds:g} s. A diagnosis that has begun goes on."
    )
    return ParentReport(summary, _verdict(command, SpawnEnd.UNANSWERED, job_id=job_id))


def answered(command: HealthCommand, closed: ProcessEvent) -> ParentReport:
    """The process of the job is CLOSED."""
    lines = [f"**{_tool(command)}**: {closed.verdict or 'could not be checked'}"]
    if closed.reason is not None:
        lines[0] += f" ({visible(closed.reason)})"
    if closed.applied is False and closed.verdict is not None:
        lines.append("Nothing was changed by it.")
    if closed.human_note:
        lines += ["The diagnosis reports:", f"> {visible(closed.human_note)}"]
    if closed.user_action_hint:
        lines += ["What the user can do:", f"> {visible(closed.user_action_hint)}"]
    payload = _verdict(
        command,
        SpawnEnd.ANSWERED,
        job_id=closed.job_id,
        process_id=closed.process_id,
        verdict=closed.verdict,
        applied=closed.applied,
        reason=closed.reason,
        note=closed.human_note,
        hint=closed.user_action_hint,
    )
    return ParentReport("\n\n".join(lines), payload)


def _tool(command: HealthCommand) -> str:
    return f"`{command.tool_name.replace('`', chr(39))}`"


def _verdict(command: HealthCommand, end: SpawnEnd, **fields: Any) -> Verdict:
    return Verdict(
        end=end, tool_name=command.tool_name, scope=command.scope, scope_id=command.scope_id, **fields
    )

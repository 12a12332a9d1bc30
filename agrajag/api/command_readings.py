"""What is told of a command: how it ended, what its diagnosis found, and how the tool is now."""

from datetime import datetime
from typing import NamedTuple

from agrajag.api.parts import Parts
from agrajag.api.permissions import Principal, may_see
from agrajag.api.showing import shown
from agrajag.model.answers import CommandResult, HealthCommand
from agrajag.model.enums import Classification, CloseReason, Scope
from agrajag.model.processes import ProcessEvent, Reason
from agrajag.model.reading import HealthReading
from agrajag.model.wire_model import Note, Time, WireModel


class DocumentPlace(NamedTuple):
    """Where a health document stands."""

    tenant_id: str
    scope: Scope
    scope_id: str
    tool_name: str


class JobEnd(WireModel):
    """How the diagnosis of a recheck ended."""

    close_reason: CloseReason | None = None
    verdict: Classification | None = None
    applied: bool | None = None
    """Whether the verdict was written; `reason` says why not."""
    reason: Reason | None = None
    human_note: Note | None = None
    user_action_hint: Reason | None = None
    """What the user who asked can do themselves."""
    at: Time


class Commanded(WireModel):
    """A command that was carried out, or found nothing to do, and the document as it stands since."""

    command: CommandResult
    end: JobEnd | None = None
    """Missing where there is no diagnosis, or it goes on."""
    health: HealthReading | None = None
    """Missing where there is no such document."""


class CommandReading(WireModel):
    """Who asked for what and why, and what became of it."""

    asked: HealthCommand
    asked_at: Time
    command: CommandResult | None = None
    """Missing while no worker has answered."""
    end: JobEnd | None = None
    health: HealthReading | None = None


def job_end(end: ProcessEvent | None, principal: Principal) -> JobEnd | None:
    """The end of a job as the principal is told it; the hint is for the user whose diagnosis it is."""
    if end is None:
        return None
    mine = end.originating_user_id == principal.user
    return JobEnd(
        close_reason=end.close_reason,
        verdict=end.verdict,
        applied=end.applied,
        reason=end.reason,
        human_note=end.human_note,
        user_action_hint=end.user_action_hint if mine else None,
        at=end.at,
    )


def health_at(place: DocumentPlace, principal: Principal, parts: Parts) -> HealthReading | None:
    """The document there as the principal may see it now; None where there is none for them."""
    document = parts.view.find(*place)
    if document is None or not may_see(principal, document):
        return None
    return shown(parts, principal, document)


def command_reading(
    asked: HealthCommand,
    asked_at: datetime,
    result: CommandResult | None,
    end: ProcessEvent | None,
    principal: Principal,
    health: HealthReading | None = None,
) -> CommandReading:
    """A command as the principal is told of it."""
    return CommandReading(
        asked=asked, asked_at=asked_at, command=result, end=job_end(end, principal), health=health
    )

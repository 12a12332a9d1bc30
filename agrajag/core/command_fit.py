"""Which commands cannot be meant: a scope that its ids do not fit, a field that its kind needs, a time that is over."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from agrajag.model.answers import HealthCommand
from agrajag.model.enums import Classification, CommandKind, Scope, Status

_NEEDED: Mapping[CommandKind, tuple[str, ...]] = {
    CommandKind.SET_UNAVAILABLE: ("classification", "reason"),
    CommandKind.SET_COOLDOWN: ("error_signature", "duration", "classification"),
    CommandKind.OVERRIDE: ("status", "reason"),
    CommandKind.DISMISS_INBOX: ("inbox_item_id",),
}
_NEVER_A_STATUS = frozenset({Classification.USER_PERMISSION, Classification.USER_INPUT})
_DEGRADES = frozenset({Classification.INTERMITTENT, Classification.UNCLEAR})


def starts_at_status(classification: Classification | None) -> Status:
    """The status that a classification stands for where nobody names another."""
    return Status.DEGRADED if classification in _DEGRADES else Status.DOWN


def misfit(command: HealthCommand, now: datetime) -> str | None:
    """Why the command cannot be meant, the field first; None where it can."""
    return (
        _wrong_scope(command)
        or _missing(command)
        or _wrong_classification(command)
        or _wrong_time(command, now)
    )


def _wrong_scope(command: HealthCommand) -> str | None:
    scope, scope_id = command.scope, command.scope_id
    if scope is Scope.GLOBAL:
        return "scopeId: GLOBAL has none" if scope_id else None
    if not scope_id:
        return f"scopeId: a {scope} has one"
    if scope is Scope.TENANT and scope_id != command.tenant_id:
        return "scopeId: is not the tenant's"
    if scope is Scope.PROJECT and command.project_id not in {None, scope_id}:
        return "projectId: is not the scope's"
    if scope is Scope.USER and command.user_id not in {None, scope_id}:
        return "userId: is not the scope's"
    return None


def _missing(command: HealthCommand) -> str | None:
    for name in _NEEDED.get(command.kind, ()):
        value = getattr(command, name)
        if not (value.strip() if isinstance(value, str) else value):
            return f"{HealthCommand.model_fields[name].alias}: {command.kind} needs it"
    return None


def _wrong_classification(command: HealthCommand) -> str | None:
    kind, classification = command.kind, command.classification
    if kind is CommandKind.SET_COOLDOWN and classification is Classification.WORKING:
        return "classification: what is WORKING has no cooldown"
    if kind is not CommandKind.SET_UNAVAILABLE:
        return None
    if classification is Classification.WORKING or command.status is Status.OK:
        return "classification: what works is setAvailable"
    if classification in _NEVER_A_STATUS:
        return f"classification: {classification} touches no status"
    if classification is Classification.USER_SPECIFIC_TECHNICAL and command.scope is not Scope.USER:
        return f"scope: {classification} is one USER's own"
    return None


def _wrong_time(command: HealthCommand, now: datetime) -> str | None:
    times = {"until": command.until, "expectedRecoveryAt": command.expected_recovery_at}
    for name, moment in times.items():
        if moment is not None and moment <= now:
            return f"{name}: is over"
    if command.duration is not None and command.duration <= timedelta(0):
        return "duration: must be longer than nothing"
    return None

"""The tools over health documents: one reads, four write (spec agrajag §6.2, §6.3).

The four write nothing themselves: they send commands, which the owner of the document carries out or refuses. They are
for service engines that have the role of a writer and for administrators; the diagnosis never shows them to its model.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from agrajag.core.command_fit import misfit
from agrajag.core.cooldown import is_active
from agrajag.core.jobs import derived_id
from agrajag.core.redact import redacted_tree
from agrajag.harness import Outcome, Ready
from agrajag.model.answers import HealthCommand
from agrajag.model.enums import Classification, CommandKind, Safety, Scope
from agrajag.model.health import ToolHealth
from agrajag.model.keys import tool_key
from agrajag.model.wire_model import Duration, Id, Note, ScopeId, Signature, Time
from agrajag.service.engine import Role
from agrajag.service.health_reading import HealthReading
from agrajag.service.records import SOURCE, Sending
from agrajag.service.tools import Arguments, ToolSpec, ToolUse
from agrajag.wire.cloudevents import EventType, binary_headers
from agrajag.wire.outputs import Output
from agrajag.wire.topics import Topic, Topics

MAX_READ_HISTORY = 6
MAX_READ_COOLDOWNS = 10

_SCOPE = {"type": "string", "enum": list(Scope)}
_TEXT = {"type": "string"}
_TEXT_OR_NULL = {"type": ["string", "null"]}
_CLASSIFICATION = {"type": "string", "enum": list(Classification)}


class _OneDocument(Arguments):
    scope: Scope
    scope_id: ScopeId | None = None
    tool_name: Id


class SetUnavailable(_OneDocument):
    """The tool does not work there."""

    classification: Classification
    expected_recovery_at: Time | None = None
    note: Note


class SetAvailable(_OneDocument):
    """The tool works there."""

    note: Note | None = None


class SetCooldown(_OneDocument):
    """No new diagnosis for this signature, for a while."""

    error_signature: Signature
    user_id: Id | None = None
    duration: Duration
    classification: Classification
    note: Note | None = None


class ClearCooldown(_OneDocument):
    """Diagnoses for this signature may begin again."""

    error_signature: Signature
    user_id: Id | None = None


class ReadHealth(Arguments):
    """Which document to read; without a scope, the one that speaks for the caller."""

    scope: Scope | None = None
    scope_id: ScopeId | None = None
    tool_name: Id


_COMMANDS: Mapping[type[_OneDocument], CommandKind] = {
    SetUnavailable: CommandKind.SET_UNAVAILABLE,
    SetAvailable: CommandKind.SET_AVAILABLE,
    SetCooldown: CommandKind.SET_COOLDOWN,
    ClearCooldown: CommandKind.CLEAR_COOLDOWN,
}


def command_of(use: ToolUse, asked: _OneDocument, now: datetime) -> HealthCommand:
    """The command that a call means. Its id is that of the actor's call, so that a repeat is carried out once."""
    given = asked.model_dump(exclude={"note", "scope_id"}, exclude_none=True)
    return HealthCommand(
        command_id=derived_id("cmd", use.actor.act_id, use.call_id),
        kind=_COMMANDS[type(asked)],
        tenant_id=use.actor.caller.tenant_id,
        scope_id=asked.scope_id or _own_scope_id(use, asked.scope) or "",
        by=use.actor.by,
        reason=getattr(asked, "note", None),
        at=now,
        **given,
    )


def _own_scope_id(use: ToolUse, scope: Scope) -> str | None:
    """The id of the caller's own session, user, project or tenant; GLOBAL has none."""
    caller = use.actor.caller
    return {
        Scope.SESSION: caller.session_id,
        Scope.USER: caller.user_id,
        Scope.PROJECT: caller.project_id,
        Scope.TENANT: caller.tenant_id,
        Scope.GLOBAL: "",
    }[scope]


class _WriteTool(NamedTuple):
    name: str
    description: str
    arguments: type[_OneDocument]
    properties: Mapping[str, Mapping[str, Any]]


_COOLDOWN: Mapping[str, Mapping[str, Any]] = {"errorSignature": _TEXT, "userId": _TEXT_OR_NULL}
_WRITE_TOOLS = (
    _WriteTool(
        "tool_health_set_unavailable",
        "Mark a tool as unavailable, or as degraded for INTERMITTENT and UNCLEAR.",
        SetUnavailable,
        {
            "classification": _CLASSIFICATION,
            "expectedRecoveryAt": {"type": ["string", "null"], "format": "date-time"},
            "note": _TEXT,
        },
    ),
    _WriteTool(
        "tool_health_set_available",
        "Mark a tool as working again.",
        SetAvailable,
        {"note": _TEXT_OR_NULL},
    ),
    _WriteTool(
        "tool_health_set_cooldown",
        "Let no new diagnosis begin for an error signature, for a while.",
        SetCooldown,
        {
            **_COOLDOWN,
            "duration": {"type": "string", "format": "duration"},
            "classification": _CLASSIFICATION,
            "note": _TEXT_OR_NULL,
        },
    ),
    _WriteTool(
        "tool_health_clear_cooldown",
        "Let diagnoses for an error signature begin again.",
        ClearCooldown,
        _COOLDOWN,
    ),
)


def write_tools(sender: Sending, topics: Topics) -> tuple[ToolSpec, ...]:
    """The four that write, shielded by the role of a writer (spec agrajag §6.2)."""

    async def act(use: ToolUse, asked: _OneDocument) -> Outcome:
        command = command_of(use, asked, use.actor.clock())
        key = tool_key(command.tenant_id, command.tool_name).encode()
        headers = binary_headers(EventType.HEALTH_COMMAND, SOURCE, command.command_id)
        await sender.send([Output(topics.name(Topic.HEALTH_COMMANDS), key, command.to_json(), headers)])
        return Ready({"commandId": command.command_id, "sent": True})

    return tuple(
        ToolSpec(
            name=tool.name,
            description=tool.description,
            input_schema=_schema(tool.arguments, tool.properties),
            arguments=tool.arguments,
            act=act,
            fault=_misfit,
            requires=frozenset({Role.TOOL_HEALTH_WRITER}),
            safety=Safety.SAFE_PROBE,
        )
        for tool in _WRITE_TOOLS
    )


def _misfit(use: ToolUse, asked: _OneDocument) -> str | None:
    now = use.actor.clock()
    return misfit(command_of(use, asked, now), now)


def read_tool(health: HealthReading) -> ToolSpec:
    """The one that reads (spec agrajag §6.3): documents of the caller's own scopes, and nobody else's."""

    async def act(use: ToolUse, asked: ReadHealth) -> Outcome:
        found = _found(health, use, asked)
        if found is None:
            return Ready({"present": False, "status": "OK"}, empty=True)
        return Ready({"present": True, **readable(found, use.actor.caller.user_id, use.actor.clock())})

    def fault(use: ToolUse, asked: ReadHealth) -> str | None:
        if asked.scope is None:
            return "scopeId: says nothing without a scope" if asked.scope_id else None
        own = _own_scope_id(use, asked.scope)
        if own is None:
            return f"scope: the caller has no {asked.scope}"
        return "scopeId: is not the caller's own" if asked.scope_id not in (None, own) else None

    return ToolSpec(
        name="tool_health_read",
        description=(
            "Read what is known of a tool's health: status, the last changes, cooldowns. Without a scope: what holds "
            "for the user of this job."
        ),
        input_schema=_schema(ReadHealth, {}),
        arguments=ReadHealth,
        act=act,
        fault=fault,
        requires=frozenset({Role.TOOL_HEALTH_READER}),
        safety=Safety.SAFE_PROBE,
    )


def readable(health: ToolHealth, user_id: str | None, now: datetime) -> dict[str, Any]:
    """A health document as JSON data: redacted, its six newest changes, of its active cooldowns the ten that end last.

    Of other users' cooldowns only the number is told.
    """
    active = [cooldown for cooldown in health.cooldowns if is_active(cooldown, now)]
    own = [cooldown for cooldown in active if cooldown.user_id in (None, user_id)]
    own.sort(key=lambda cooldown: cooldown.next_spawn_allowed_at, reverse=True)
    last = health.last_diagnosis
    shown = health.with_changes(
        history=health.history[:MAX_READ_HISTORY],
        cooldowns=tuple(own[:MAX_READ_COOLDOWNS]),
        last_diagnosis=last if last is not None and last.user_id in (None, user_id) else None,
    )
    document = shown.model_dump(
        mode="json", by_alias=True, exclude_none=True, exclude={"link": {"connections"}}
    )
    document["status"] = health.status_at(now)
    document["cooldownsOfOtherUsers"] = len(active) - len(own)
    told: dict[str, Any] = redacted_tree(document)
    return told


def _found(health: HealthReading, use: ToolUse, asked: ReadHealth) -> ToolHealth | None:
    caller = use.actor.caller
    if asked.scope is not None:
        scope_id = _own_scope_id(use, asked.scope) or ""
        return health.find(caller.tenant_id, asked.scope, scope_id, asked.tool_name)
    return health.nearest(
        caller.tenant_id,
        asked.tool_name,
        project_id=caller.project_id,
        user_id=caller.user_id,
        session_id=caller.session_id,
    )


def _schema(arguments: type[Arguments], properties: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The JSON Schema of a tool that is about one document."""
    return {
        "type": "object",
        "properties": {"scope": _SCOPE, "scopeId": _TEXT_OR_NULL, "toolName": _TEXT, **properties},
        "required": list(_required(arguments)),
        "additionalProperties": False,
    }


def _required(arguments: type[Arguments]) -> Iterable[str]:
    return (field.alias or name for name, field in arguments.model_fields.items() if field.is_required())

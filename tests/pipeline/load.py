"""Realistic events for runs: several tenants, tools and users, every bundled rule, in a fixed pseudo-random order."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypeAlias

from agrajag.model.answers import HealthCommand
from agrajag.model.enums import Classification, CommandKind, LinkKind, Scope, Status
from agrajag.model.events import ErrorReport, SystemEvent, ToolCallError, ToolCallSucceeded

Event: TypeAlias = ToolCallError | ToolCallSucceeded | SystemEvent | HealthCommand

TENANTS = ("acme", "globex", "initech")
PROJECTS = ("essays", "novels")
SESSIONS = ("s1", "s2")
TOOLS = (*(f"tool-{number}" for number in range(30)), "client_files")

_MARKS_DOWN = {"exception_type": "builtins.OSError", "exception_chain": ("ConnectionRefusedError",)}
_REPORTS: tuple[dict[str, Any], ...] = (
    {"http_status": 401, "body": '{"error": {"code": "token_expired"}}'},
    {"http_status": 401},
    {"http_status": 403, "message": "Forbidden"},
    {"http_status": 404},
    {"http_status": 429, "headers": {"Retry-After": "7"}},
    {"http_status": 502, "body": "<html>Bad Gateway</html>"},
    {"exception_type": "httpx.ReadTimeout", "message": "timed out"},
    _MARKS_DOWN,
    {"body": "__schema_violation__: `rows` is missing"},
    {"exception_type": "ToolException", "message": "Manual not found: 'calendar'"},
    {"exception_type": "ToolException", "message": "it broke"},
    {"message": "something else"},
)
_WITHOUT_STATUS = tuple(report for report in _REPORTS if report is not _MARKS_DOWN)


class _Caller(NamedTuple):
    """Who calls which tool."""

    tenant_id: str
    project_id: str | None
    tool_name: str
    user_id: str | None
    session_id: str | None


def _caller(chance: random.Random, tools: Sequence[str]) -> _Caller:
    return _Caller(
        tenant_id=chance.choice(TENANTS),
        project_id=chance.choice([*PROJECTS, None]),
        tool_name=chance.choice(tools),
        user_id=chance.choice([*(f"user-{n}" for n in range(12)), None]),
        session_id=chance.choice([*SESSIONS, None]),
    )


def _error(
    chance: random.Random,
    number: int,
    at: datetime,
    tools: Sequence[str] = TOOLS,
    reports: Sequence[dict[str, Any]] = _REPORTS,
) -> ToolCallError:
    return ToolCallError(
        event_id=f"e{number}",
        occurred_at=at,
        **_caller(chance, tools)._asdict(),
        reply_to=f"caller-{number}",
        error=ErrorReport(**chance.choice(reports)),
    )


def errors(count: int, seed: int = 7) -> list[ToolCallError]:
    """`count` events with ids `e0`…; they happened one millisecond apart, the last of them just before now."""
    chance = random.Random(seed)
    return [_error(chance, number, at) for number, at in enumerate(_moments(count))]


def _moments(count: int) -> list[datetime]:
    start = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=10, milliseconds=count)
    return [start + timedelta(milliseconds=number) for number in range(count)]


# --- for all agents at once ---

FAILING, HEALED, COMMANDED = TOOLS[:12], TOOLS[12:24], TOOLS[24:30]
CLIENT_TOOLS, MCP_TOOLS = ("client_shell", "client_browser"), ("mcp_search", "mcp_fetch")
LINKED = CLIENT_TOOLS + MCP_TOOLS


@dataclass
class _Link:
    """A link whose connections come and go; `seqs` has the last of each, `opened` those that are open."""

    tenant_id: str
    scope: Scope
    scope_id: str
    seqs: dict[str, int] = field(default_factory=dict)
    opened: set[str] = field(default_factory=set)

    def event(self, chance: random.Random, number: int, at: datetime) -> SystemEvent:
        opens = not self.opened or chance.random() < 0.4
        connection = f"c{chance.randrange(4)}" if opens else chance.choice(sorted(self.opened))
        seq = self.seqs[connection] = self.seqs.get(connection, 0) + 1
        (self.opened.add if opens else self.opened.discard)(connection)
        is_foot = self.scope is Scope.SESSION
        kinds = (LinkKind.FOOT_CONNECTED, LinkKind.FOOT_DISCONNECTED)
        if not is_foot:
            kinds = (LinkKind.MCP_CONNECTED, LinkKind.MCP_CLOSED)
        return SystemEvent(
            event_id=f"l{number}",
            occurred_at=at,
            kind=kinds[0] if opens else kinds[1],
            tenant_id=self.tenant_id,
            project_id=None if is_foot else self.scope_id,
            session_id=self.scope_id if is_foot else None,
            link_id=f"{self.scope}|{self.scope_id}",
            connection_id=connection,
            seq=seq,
            cause=None if opens else chance.choice(["1001", "1006", "reset"]),
            tool_names=CLIENT_TOOLS if is_foot else MCP_TOOLS,
        )


def _links() -> list[_Link]:
    return [
        _Link(tenant_id, scope, scope_id)
        for tenant_id in TENANTS
        for scope, ids in ((Scope.SESSION, SESSIONS), (Scope.PROJECT, PROJECTS))
        for scope_id in ids
    ]


def _success(chance: random.Random, number: int, at: datetime) -> ToolCallSucceeded:
    caller = _caller(chance, HEALED + LINKED)
    return ToolCallSucceeded(event_id=f"s{number}", occurred_at=at, **caller._asdict())


_COMMANDS: tuple[dict[str, Any], ...] = (
    {"kind": CommandKind.RECHECK},
    {"kind": CommandKind.SET_AVAILABLE},
    {"kind": CommandKind.SET_UNAVAILABLE, "classification": Classification.TECHNICALLY_BROKEN},
    {"kind": CommandKind.SET_COOLDOWN, "error_signature": "http-5xx", "duration": timedelta(minutes=20)},
    {"kind": CommandKind.CLEAR_COOLDOWN},
    {"kind": CommandKind.OVERRIDE, "status": Status.OK, "duration": timedelta(hours=1)},
    {"kind": CommandKind.LIFT_OVERRIDE},
    {"kind": CommandKind.DELETE},
)


def _command(chance: random.Random, number: int, at: datetime) -> HealthCommand:
    caller = _caller(chance, COMMANDED)
    scope, scope_id = Scope.TENANT, caller.tenant_id
    if caller.project_id is not None:
        scope, scope_id = Scope.PROJECT, caller.project_id
    return HealthCommand(
        command_id=f"c{number}",
        tenant_id=caller.tenant_id,
        scope=scope,
        scope_id=scope_id,
        tool_name=caller.tool_name,
        by="bob",
        reason="we know better",
        at=at,
        **chance.choice(_COMMANDS),
    )


@dataclass(frozen=True)
class Phases:
    """Events that give the same documents in whatever order the agents come to them, each phase by itself.

    In the first, everything fails while the connections of `LINKED` tools come and go. In the second `FAILING` tools
    fail on, successes heal others, people command a third kind, and connections still come and go.
    """

    first: list[Event]
    second: list[Event]

    @property
    def events(self) -> list[Event]:
        return self.first + self.second


def phases(count: int, seed: int = 7) -> Phases:
    """`count` events for all agents, the second phase larger; times and ids as in `errors`."""
    chance, links = random.Random(seed), _links()

    def linked(number: int, at: datetime) -> Event:
        return chance.choice(links).event(chance, number, at)

    def failed(number: int, at: datetime) -> Event:
        return _error(chance, number, at)

    def failed_linked(number: int, at: datetime) -> Event:
        return _error(chance, number, at, LINKED, _WITHOUT_STATUS)

    def failed_on(number: int, at: datetime) -> Event:
        return _error(chance, number, at, FAILING)

    def succeeded(number: int, at: datetime) -> Event:
        return _success(chance, number, at)

    def commanded(number: int, at: datetime) -> Event:
        return _command(chance, number, at)

    first = (linked, failed, failed, failed, failed_linked)
    second = (linked, failed_on, failed_on, succeeded, commanded)
    moments = list(enumerate(_moments(count)))
    border = count * 2 // 5
    return Phases(
        [chance.choice(first)(number, at) for number, at in moments[:border]],
        [chance.choice(second)(number, at) for number, at in moments[border:]],
    )

"""A table in a dictionary, and errors sent through Layer 1 one after the other, for tests of its decisions."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from agrajag.core.command import Commanded, command
from agrajag.core.drafts import Drafts
from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.core.recover import Recovery, recover
from agrajag.core.rules import Rule, merge
from agrajag.core.triage import triage
from agrajag.core.verdicts import Arrival, Repeat, Verdict
from agrajag.documents.rule_files import bundled_layer, bundled_rules
from agrajag.model.answers import HealthCommand
from agrajag.model.enums import CommandKind, Scope
from agrajag.model.events import ToolCallError, ToolCallSucceeded
from agrajag.model.health import HealthEntry, ToolHealth
from agrajag.model.keys import health_key
from tests.builders import NOW, a_command, a_success, an_error

REFUSED: dict[str, Any] = {
    "exception_type": "httpx.ConnectError",
    "exception_chain": ("java.net.ConnectException",),
}
"""The report of a connection that was refused."""


class Triage:
    """One partition's documents. Every error gets the next offset; each step is frozen into the table before
    the next."""

    def __init__(self, rules: RuleSet | None = None, policy: Policy | None = None) -> None:
        self.table: dict[str, HealthEntry] = {}
        self.rules = rules or bundled_rules()
        self.policy = policy or Policy()
        self.offset = 0

    def arrival(
        self, event: ToolCallError, at: datetime = NOW, origin: str = "errors-0"
    ) -> Arrival[ToolCallError]:
        """`event` as the next record of `origin`, appended at `at`."""
        self.offset += 1
        event_id = event.event_id or f"{origin}-{self.offset}"
        return Arrival(event, event_id, origin, self.offset, at, int(at.timestamp() * 1000))

    def step(
        self, arrivals: Iterable[Arrival[ToolCallError]], clock: datetime | None = None
    ) -> list[Verdict | Repeat]:
        """Decide all of them in one step and keep what it changed."""
        drafts = Drafts(self.table.get)
        decided = [triage(one, drafts, self.rules, self.policy, clock or one.appended_at) for one in arrivals]
        self.table.update({draft.key: draft.frozen() for draft in drafts.touched()})
        return decided

    def send(self, at: datetime = NOW, clock: datetime | None = None, **overrides: Any) -> Verdict:
        """One error that happened and was appended at `at`, in a step of its own; its verdict."""
        given = {"occurred_at": at, "event_id": f"event-{self.offset + 1}"} | overrides
        (decided,) = self.step([self.arrival(an_error(**given), at)], clock)
        assert isinstance(decided, Verdict)
        return decided

    def succeed(self, at: datetime = NOW, **overrides: Any) -> Recovery:
        """One success that happened and was appended at `at`, in a step of its own; what it did."""
        self.offset += 1
        (recovery,) = self.recover([(a_success(**{"occurred_at": at} | overrides), self.offset)], at)
        assert isinstance(recovery, Recovery)
        return recovery

    def recover(
        self, successes: Iterable[tuple[ToolCallSucceeded, int]], appended_at: datetime
    ) -> list[Recovery | Repeat]:
        """Successes with their offsets, in one step, and keep what it changed."""
        drafts = Drafts(self.table.get)
        milliseconds = int(appended_at.timestamp() * 1000)
        decided = [
            recover(
                Arrival(event, f"successes-0-{offset}", "successes-0", offset, appended_at, milliseconds),
                drafts,
                self.policy,
            )
            for event, offset in successes
        ]
        self.table.update({draft.key: draft.frozen() for draft in drafts.touched()})
        return decided

    def command(
        self, kind: CommandKind, now: datetime = NOW, clock: datetime | None = None, **overrides: Any
    ) -> Commanded:
        """One command, given and appended at `now`, in a step of its own; how it ended."""
        given = {"at": now, "command_id": f"command-{self.offset + 1}"} | overrides
        commanded = self.take_command(a_command(kind, **given), now, clock=clock)
        assert isinstance(commanded, Commanded)
        return commanded

    def take_command(
        self,
        event: HealthCommand,
        appended_at: datetime = NOW,
        offset: int | None = None,
        clock: datetime | None = None,
    ) -> Commanded | Repeat:
        """One command at an offset, the next by default, in a step of its own."""
        if offset is None:
            self.offset += 1
        arrival = Arrival(
            event,
            event.command_id,
            "commands-0",
            self.offset if offset is None else offset,
            appended_at,
            int(appended_at.timestamp() * 1000),
        )
        drafts = Drafts(self.table.get)
        commanded = command(arrival, drafts, self.policy, clock or appended_at)
        self.table.update({draft.key: draft.frozen() for draft in drafts.touched()})
        return commanded

    def health(
        self,
        scope: Scope = Scope.PROJECT,
        scope_id: str = "essays",
        tool: str = "search",
        tenant: str = "acme",
    ) -> ToolHealth:
        """The document of one scope; it must exist."""
        entry = self.table[health_key(tenant, scope, scope_id, tool)]
        assert entry.health is not None
        return entry.health

    def entry(self, scope: Scope = Scope.PROJECT, scope_id: str = "essays") -> HealthEntry:
        """The table's entry of the same."""
        return self.table[health_key("acme", scope, scope_id, "search")]

    def put(self, health: ToolHealth, **fields: Any) -> None:
        """Set a document as something else would have left it."""
        key = health_key(health.tenant_id, health.scope, health.scope_id, health.tool_name)
        self.table[key] = HealthEntry(revision=health.revision, health=health, **fields)


def after(**span: float) -> datetime:
    """A moment after `NOW`."""
    return NOW + timedelta(**span)


def jobs_of(decided: Sequence[Verdict | Repeat]) -> list[str]:
    """The ids of the jobs that these decisions send, in order."""
    return [one.job.job_id for one in decided if one.job is not None]


def rules_with(*rules: Rule) -> RuleSet:
    """The bundled rules with a tenant's own merged in."""
    return RuleSet(merge([bundled_layer().rules, rules]))

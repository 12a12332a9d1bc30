"""The command agent: what is asked of a document is done or refused, and every command is answered."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from agrajag import metrics
from agrajag.core.command import Commanded, command
from agrajag.core.verdicts import Arrival, Repeat
from agrajag.model.answers import CommandResult, HealthCommand
from agrajag.model.enums import CommandKind, CommandOutcome, Scope
from agrajag.model.health import HealthEntry
from agrajag.model.keys import tool_key
from agrajag.stream.deciding import Attempt, KeyedByTool
from agrajag.stream.memory import PartitionView
from agrajag.stream.surroundings import Surroundings
from agrajag.wire.cloudevents import EventType, binary_headers
from agrajag.wire.outputs import Output
from agrajag.wire.topics import Topic

_HAS_EFFECT = frozenset({CommandOutcome.APPLIED, CommandOutcome.ALREADY_APPLIED})


class _Decided(NamedTuple):
    arrival: Arrival[HealthCommand]
    commanded: Commanded


class CommandAttempt(KeyedByTool, Attempt[HealthCommand]):
    """Decides about records of `health-commands`."""

    source = Topic.HEALTH_COMMANDS
    model = HealthCommand
    emitter = "agrajag/command"

    def __init__(self, around: Surroundings, view: PartitionView[HealthEntry]) -> None:
        super().__init__(around, view)
        self._decided: list[_Decided] = []

    def event_id(self, event: HealthCommand) -> str | None:
        """The sender's own id."""
        return event.command_id

    def decide(self, arrival: Arrival[HealthCommand]) -> None:
        """Carry out one command, or say why not."""
        event = arrival.event
        project_id = event.scope_id if event.scope is Scope.PROJECT else event.project_id
        _, policy = self.around.effective(event.tenant_id, project_id)
        commanded = command(arrival, self.drafts, policy, self.clock)
        if isinstance(commanded, Repeat):
            self.repeat(commanded.keys, commanded.job)
            return
        self._decided.append(_Decided(arrival, commanded))
        if commanded.is_repeat:
            self.repeat([commanded.key], commanded.job)
        elif commanded.job is not None:
            self.send_job(commanded.job, first=True)

    def answers(self) -> Iterable[Output]:
        """A `CommandResult` for every command, with the revision from which its effect can be read."""
        name = self.around.topics.name(Topic.COMMAND_RESULTS)
        for arrival, commanded in self._decided:
            event = arrival.event
            tool = tool_key(event.tenant_id, event.tool_name)
            entry = self.entry(tool, commanded.key.encode()) if commanded.outcome in _HAS_EFFECT else None
            result = CommandResult(
                command_id=event.command_id,
                tenant_id=event.tenant_id,
                tool_name=event.tool_name,
                outcome=commanded.outcome,
                reason=commanded.reason,
                revision=entry.revision if entry is not None else None,
                job_id=commanded.job_id,
                at=arrival.appended_at,
            )
            headers = binary_headers(EventType.COMMAND_RESULT, self.emitter, event.command_id)
            yield Output(name, tool.encode(), result.to_json(), headers)

    def count(self) -> None:
        """Commands, by kind and outcome."""
        commands: Counter[tuple[CommandKind, CommandOutcome]] = Counter(
            (arrival.event.kind, commanded.outcome) for arrival, commanded in self._decided
        )
        for (kind, outcome), count in commands.items():
            metrics.COMMANDS.labels(kind, outcome).inc(count)

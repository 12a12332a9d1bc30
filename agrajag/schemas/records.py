"""Which records travel on which topic, who writes them, and in which form they are described."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from agrajag.model.answers import CheckResult, CommandResult, Document, HealthCommand, InboxItem
from agrajag.model.events import SystemEvent, ToolCallError, ToolCallSucceeded, ToolLink
from agrajag.model.health import ToolHealth
from agrajag.model.jobs import DiagnosisJob, DiagnosisResult
from agrajag.model.processes import ProcessEvent, RunUsage, SessionEvent, ToolCallEvent
from agrajag.model.wire_model import WireModel
from agrajag.wire.cloudevents import EventType
from agrajag.wire.topics import TOPICS, Topic, TopicSpec

Form: TypeAlias = Literal["input", "output"]
"""As Agrajag reads a record, or as Agrajag writes it."""


@dataclass(frozen=True, slots=True)
class Record:
    """One kind of record. `received` and `sent` are what Agrajag does with it; `open_to_others`: so may any service."""

    event_type: EventType
    model: type[WireModel]
    topic: Topic
    summary: str
    received: bool = False
    sent: bool = False
    open_to_others: bool = False

    @property
    def form(self) -> Form:
        """The form that somebody outside needs: of what others may write the input, of the rest the output."""
        return "input" if self.open_to_others else "output"

    @property
    def name(self) -> str:
        """`tool-call-error.v1`: the event type without its prefix."""
        return self.event_type.removeprefix("agrajag.")

    @property
    def file_name(self) -> str:
        """The file of its JSON Schema."""
        return f"{self.name}.json"

    @property
    def spec(self) -> TopicSpec:
        """How its topic is keyed and kept."""
        return next(spec for spec in TOPICS if spec.topic is self.topic)


RECORDS: tuple[Record, ...] = (
    Record(
        EventType.TOOL_CALL_ERROR,
        ToolCallError,
        Topic.TOOL_CALL_ERRORS,
        "A tool call failed.",
        received=True,
        open_to_others=True,
    ),
    Record(
        EventType.TOOL_CALL_SUCCEEDED,
        ToolCallSucceeded,
        Topic.TOOL_CALL_SUCCESSES,
        "A call of a tool that is not OK, is cooling down or is being diagnosed succeeded.",
        received=True,
        open_to_others=True,
    ),
    Record(
        EventType.SYSTEM_EVENT,
        SystemEvent,
        Topic.SYSTEM_EVENTS,
        "A connection that carries tools came or went.",
        received=True,
        open_to_others=True,
    ),
    Record(
        EventType.TOOL_LINK,
        ToolLink,
        Topic.TOOL_LINKS,
        "What a connection's coming or going means for one tool.",
        received=True,
        sent=True,
    ),
    Record(
        EventType.HEALTH_COMMAND,
        HealthCommand,
        Topic.HEALTH_COMMANDS,
        "A person or a service asks something of one health document.",
        received=True,
        sent=True,
        open_to_others=True,
    ),
    Record(
        EventType.COMMAND_RESULT,
        CommandResult,
        Topic.COMMAND_RESULTS,
        "How a command ended.",
        received=True,
        sent=True,
    ),
    Record(
        EventType.DIAGNOSIS_JOB,
        DiagnosisJob,
        Topic.DIAGNOSIS_JOBS,
        "What no rule decides is to be diagnosed.",
        received=True,
        sent=True,
    ),
    Record(
        EventType.DIAGNOSIS_RESULT,
        DiagnosisResult,
        Topic.DIAGNOSIS_RESULTS,
        "How a diagnosis ended.",
        received=True,
        sent=True,
    ),
    Record(
        EventType.CHECK_RESULT,
        CheckResult,
        Topic.CHECK_RESULTS,
        "The answer to one error, where it was asked for.",
        sent=True,
    ),
    Record(
        EventType.HEALTH_CHANGED,
        ToolHealth,
        Topic.HEALTH_CHANGED,
        "The health document of one tool and scope, whenever it changes.",
        received=True,
        sent=True,
    ),
    Record(
        EventType.DOCUMENT,
        Document,
        Topic.DOCUMENTS,
        "A rule file, a recipe, a tool list or settings.",
        received=True,
        sent=True,
        open_to_others=True,
    ),
    Record(
        EventType.INBOX_ITEM,
        InboxItem,
        Topic.INBOX_ITEMS,
        "Something that one user can do themselves.",
        received=True,
        sent=True,
    ),
    Record(
        EventType.PROCESS_EVENT,
        ProcessEvent,
        Topic.PROCESS_EVENTS,
        "One step in the life of a diagnosis.",
        received=True,
        sent=True,
    ),
    Record(
        EventType.SESSION_EVENT,
        SessionEvent,
        Topic.PROCESS_EVENTS,
        "A system session became active or was suspended.",
        received=True,
        sent=True,
    ),
    Record(
        EventType.TOOL_CALL_EVENT,
        ToolCallEvent,
        Topic.PROCESS_EVENTS,
        "A tool call of a diagnosis began or ended.",
        received=True,
        sent=True,
    ),
    Record(
        EventType.RUN_USAGE,
        RunUsage,
        Topic.PROCESS_EVENTS,
        "What one attempt at a diagnosis has used.",
        received=True,
        sent=True,
    ),
)
"""Every record of every topic but the health changelog, which is the workers' own memory and may change any day."""

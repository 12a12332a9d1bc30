"""Puts together what was told of processes: their steps, what they called, and what they have used.

Records may come in any order and more than once: of what is told twice the newest counts.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from agrajag.model.enums import ProcessStatus, ToolCallStatus
from agrajag.model.processes import ProcessEvent, ProcessRecord, RunUsage, SessionEvent, ToolCallEvent

Told: TypeAlias = ProcessEvent | ToolCallEvent | RunUsage
"""What is told of a process."""


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call: its beginning and its end, as far as they are known; at least one of them is."""

    call_id: str
    started: ToolCallEvent | None
    ended: ToolCallEvent | None

    @property
    def last(self) -> ToolCallEvent:
        """The newest that is known of it."""
        return self.ended or self._first

    @property
    def at(self) -> datetime:
        """When it began; where that is not known, when it ended."""
        return self._first.at

    @property
    def arguments(self) -> str | None:
        """What it was called with, as JSON text."""
        return self._first.arguments

    @property
    def _first(self) -> ToolCallEvent:
        first = self.started or self.ended
        assert first is not None  # noqa: S101 - there is no call without a record
        return first


@dataclass(frozen=True, slots=True)
class Story:
    """One process. `steps` in the order of a process's life, `calls` in that of their beginning."""

    tenant_id: str
    project_id: str | None
    job_id: str
    process_id: str
    steps: tuple[ProcessEvent, ...]
    calls: tuple[Call, ...]
    usage: RunUsage | None
    began_at: datetime
    """The first that is known of it."""

    @property
    def step(self) -> ProcessEvent | None:
        """Its newest step; None where only calls or usage are known."""
        return self.steps[-1] if self.steps else None


def stories(records: Iterable[ProcessRecord]) -> list[Story]:
    """The story of each process, by when it began; what is told of sessions is left out."""
    newest: dict[tuple[str, ...], Told] = {}
    for record in records:
        if not isinstance(record, SessionEvent):
            name = _name(record)
            known = newest.get(name)
            if known is None or record.at > known.at:
                newest[name] = record
    processes: defaultdict[tuple[str, str], list[Told]] = defaultdict(list)
    for told in newest.values():
        processes[told.tenant_id, told.process_id].append(told)
    return sorted(map(_story, processes.values()), key=lambda story: (story.began_at, story.process_id))


def _name(record: Told) -> tuple[str, ...]:
    process = record.tenant_id, record.process_id, record.kind
    match record:
        case ProcessEvent():
            return *process, record.status
        case ToolCallEvent():
            return *process, record.call_id, "began" if record.status is ToolCallStatus.STARTED else "ended"
        case RunUsage():
            return process


def _story(told: Sequence[Told]) -> Story:
    first = min(told, key=lambda record: record.at)
    steps = {record.status: record for record in told if isinstance(record, ProcessEvent)}
    calls: defaultdict[str, list[ToolCallEvent]] = defaultdict(list)
    for record in told:
        if isinstance(record, ToolCallEvent):
            calls[record.call_id].append(record)
    return Story(
        tenant_id=first.tenant_id,
        project_id=first.project_id,
        job_id=first.job_id,
        process_id=first.process_id,
        steps=tuple(steps[status] for status in ProcessStatus if status in steps),
        calls=tuple(
            sorted((_call(*of_one) for of_one in calls.values()), key=lambda call: (call.at, call.call_id))
        ),
        usage=next((record for record in told if isinstance(record, RunUsage)), None),
        began_at=first.at,
    )


def _call(*told: ToolCallEvent) -> Call:
    is_start = {record.status is ToolCallStatus.STARTED: record for record in told}
    return Call(told[0].call_id, started=is_start.get(True), ended=is_start.get(False))

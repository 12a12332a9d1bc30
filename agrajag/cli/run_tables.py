"""How a run is shown to a person, and given to a program. Texts that somebody sent are shown with what is invisible
spelled out."""

from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import RenderableType
from rich.table import Table

from agrajag.cli.tables import moment, plain_table
from agrajag.core.shown import visible
from agrajag.core.stories import Call, Story
from agrajag.model.processes import ProcessEvent, RunUsage
from agrajag.model.wire_model import WireModel


def as_data(story: Story) -> dict[str, Any]:
    """The story as JSON data; the records in it as they are on the wire."""
    return {
        "tenantId": story.tenant_id,
        "projectId": story.project_id,
        "jobId": story.job_id,
        "processId": story.process_id,
        "steps": [_wire(step) for step in story.steps],
        "calls": [{"started": _wire(call.started), "ended": _wire(call.ended)} for call in story.calls],
        "usage": _wire(story.usage),
    }


def overview(stories: Iterable[Story]) -> Table:
    """A line for each process."""
    table = plain_table(
        ("began", "tenant", "project", "service", "process", "job", "state"), ("seconds", "calls", "tokens")
    )
    for story in stories:
        step, usage = story.step, story.usage
        seconds = "" if step is None else f"{(step.at - story.began_at).total_seconds():.1f}"
        table.add_row(
            moment(story.began_at),
            story.tenant_id,
            story.project_id or "-",
            "" if step is None else step.service_name,
            story.process_id,
            story.job_id,
            "" if step is None else _state(step),
            seconds,
            "" if usage is None else f"{usage.tool_calls:,}",
            "" if usage is None else f"{usage.tokens:,}",
        )
    return table


def in_full(story: Story) -> Iterator[RenderableType]:
    """All that is known of one process, one block after the other."""
    place = f"{story.tenant_id}/{story.project_id}" if story.project_id else story.tenant_id
    yield f"{story.process_id}  job {story.job_id}  of {place}"
    for step in story.steps:
        yield f"{moment(step.at)}  {_state(step)}"
    if (last := story.step) is not None:
        told = {
            "for": last.originating_user_id,
            "asked by": last.parent_process_id,
            "note": last.human_note,
            "hint": last.user_action_hint,
        }
        yield from (f"{name}: {visible(text)}" for name, text in told.items() if text)
    if story.calls:
        yield _calls(story.calls)
    if story.usage is not None:
        yield _used(story.usage)
    yield ""


def _state(step: ProcessEvent) -> str:
    words: list[str] = [step.status]
    if step.close_reason is not None:
        words.append(step.close_reason)
    if step.verdict is not None:
        words.append(step.verdict)
    if step.applied is not None:
        words.append("applied" if step.applied else "not applied")
    told = " ".join(words)
    return f"{told}: {visible(step.reason)}" if step.reason else told


def _calls(calls: Iterable[Call]) -> Table:
    table = plain_table(("called", "tool", "with", "ended", "gave"), ("seconds",))
    for call in calls:
        both_known = call.started is not None and call.ended is not None
        seconds = f"{(call.last.at - call.at).total_seconds():.1f}" if both_known else ""
        table.add_row(
            moment(call.at),
            call.last.tool_name,
            visible(call.arguments or ""),
            call.last.status,
            visible(call.last.observation or call.last.code or ""),
            seconds,
        )
    return table


def _used(usage: RunUsage) -> str:
    parts = [
        f"{usage.model_calls:,} model calls",
        f"{usage.tokens:,} tokens",
        f"{usage.tool_calls:,} tool calls",
    ]
    if usage.cost_micro_usd is not None:
        parts.append(f"{usage.cost_micro_usd / 1e6:.4f} USD")
    of = f" of {usage.model}" if usage.model else ""
    return f"used: {', '.join(parts)}{of}{'' if usage.usage_complete else '; not all of it is known'}"


def _wire(record: WireModel | None) -> dict[str, Any] | None:
    return None if record is None else record.model_dump(mode="json", exclude_none=True)

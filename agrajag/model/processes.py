"""What is told of the work of service engines, on the topic of process events (spec agrajag §5.1, §7, §8).

Four kinds of record share the topic, so that all that happens in one project is in one order: steps of a process, the
state of a system session, the calls of tools, and what a run has used. `kind` tells them apart.
"""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import StringConstraints

from agrajag.model.enums import (
    Classification,
    CloseReason,
    ProcessStatus,
    SessionStatus,
    ToolCallStatus,
)
from agrajag.model.wire_model import Count, Id, Note, Time, WireModel

SYSTEM_OWNER = "_system"
"""Who owns a system session: the placeholder for "no human owner" (spec agrajag §7), never a user."""

MAX_OBSERVATION = 2_000

TRIED_AGAIN = "tried again"
"""The reason of a process whose job goes on as the process of another attempt."""

Reason = Annotated[str, StringConstraints(max_length=200)]


class ProcessEvent(WireModel):
    """One step in the life of a process (spec agrajag §5.1). A step of a process id and status is the same each time.

    CLOSED says what became of the answer: `applied`, or `reason` why not. `human_note` and `user_action_hint` are the
    answer's own, for the parent that waits for it (spec agrajag §11). A process whose job is tried again is CLOSED as
    STALE and TRIED_AGAIN.
    """

    kind: Literal["process"] = "process"
    process_id: Id
    job_id: Id
    tenant_id: Id
    project_id: Id | None = None
    session_id: Id
    service_name: Id
    status: ProcessStatus
    close_reason: CloseReason | None = None
    verdict: Classification | None = None
    applied: bool | None = None
    reason: Reason | None = None
    human_note: Note | None = None
    user_action_hint: Reason | None = None
    originating_user_id: Id | None = None
    parent_process_id: Id | None = None
    at: Time

    @property
    def is_superseded(self) -> bool:
        """Whether another attempt follows at the same job, which has not ended with this process."""
        return self.close_reason is CloseReason.STALE and self.reason == TRIED_AGAIN


class SessionEvent(WireModel):
    """A system session became active or was suspended (spec agrajag §7). `seq` grows with each event of a session.

    There is one for each tenant, project and service. It is hidden from users, has no title and is owned by nobody.
    """

    kind: Literal["session"] = "session"
    session_id: Id
    seq: Count
    tenant_id: Id
    project_id: Id | None = None
    service_name: Id
    owner: Literal["_system"] = "_system"
    """Not a user id: no record may act as a user of that name."""
    display_name: Id
    system: bool = True
    status: SessionStatus
    worker_id: Id
    """Which worker has it; another one means that it was taken over."""
    at: Time


class ToolCallEvent(WireModel):
    """A tool call of a process began or ended; redacted, and written before its result is used.

    The record of a call is named by `process_id` and `call_id`: STARTED comes first, one other follows.
    """

    kind: Literal["toolCall"] = "toolCall"
    process_id: Id
    job_id: Id
    tenant_id: Id
    project_id: Id | None = None
    call_id: Id
    tool_name: Id
    status: ToolCallStatus
    arguments: Annotated[str, StringConstraints(max_length=MAX_OBSERVATION)] | None = None
    """What it was called with, as JSON text."""
    observation: Annotated[str, StringConstraints(max_length=MAX_OBSERVATION)] | None = None
    """What came of it, as JSON text."""
    code: Annotated[str, StringConstraints(max_length=64)] | None = None
    """Why it failed, in one closed word."""
    at: Time


class RunUsage(WireModel):
    """What one attempt of a process has used; the budgets of a tenant are the sum of a day's.

    `usage_complete` is false where a model did not say what it used. `cost_micro_usd` is in millionths
    of a US dollar, null without prices.
    """

    kind: Literal["usage"] = "usage"
    process_id: Id
    job_id: Id
    tenant_id: Id
    project_id: Id | None = None
    service_name: Id
    model: Id | None = None
    model_calls: Count = 0
    tokens: Count = 0
    tool_calls: Count = 0
    cost_micro_usd: Count | None = None
    usage_complete: bool = True
    at: Time


ProcessRecord: TypeAlias = ProcessEvent | SessionEvent | ToolCallEvent | RunUsage
PROCESS_RECORDS: dict[str, type[Any]] = {
    model.model_fields["kind"].default: model
    for model in (ProcessEvent, SessionEvent, ToolCallEvent, RunUsage)
}
"""The model of each `kind`."""

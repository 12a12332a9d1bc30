"""What callers, commanders and people are told: check results, commands and their results, inbox, documents."""

from typing import Annotated

from pydantic import StringConstraints

from agrajag.model.enums import (
    Classification,
    CommandKind,
    CommandOutcome,
    InboxStatus,
    Outcome,
    Scope,
    Status,
    ToolErrorCode,
)
from agrajag.model.events import Locale, TraceContext
from agrajag.model.wire_model import VISIBLE, Count, Duration, Id, Note, ScopeId, Signature, Time, WireModel

RuleId = Annotated[str, StringConstraints(min_length=1, max_length=120)]
Hash = Annotated[str, StringConstraints(max_length=128)]
DocumentPath = Annotated[str, StringConstraints(min_length=1, max_length=512, pattern=VISIBLE)]

MAX_CONTENT = 2_000_000
"""The longest document, in characters: ten thousand rules of usual size."""


class CheckResult(WireModel):
    """What Layer 1 tells the caller about one error, in the turn after it (spec agrajag §4.1).

    The original error is the caller's own and is not repeated here. `rule_set_hash` names the very rules that decided.
    `hint` is plain text for the model, such as that a diagnosis is pending.
    """

    event_id: Id
    reply_to: Id | None = None
    tenant_id: Id
    tool_name: Id
    scope: Scope
    scope_id: ScopeId
    user_id: Id | None = None
    rule_id: RuleId
    """The rule that matched."""
    rule_set_hash: Hash
    """Names the very rules that decided."""
    error_signature: Signature
    classification: Classification
    outcome: Outcome
    error_code: ToolErrorCode
    """What to tell the caller in one word."""
    status: Status
    """Of the document that speaks for the caller, after this error."""
    cooldown_until: Time | None = None
    """Until when the same error begins no new diagnosis."""
    expected_recovery_at: Time | None = None
    """When the tool is expected to work again."""
    job_id: Id | None = None
    """The diagnosis that was begun or joined."""
    hint: Note | None = None
    """Plain text for the model, such as that a diagnosis is pending."""
    at: Time
    otel: TraceContext | None = None


class HealthCommand(WireModel):
    """What a person or a service engine asks of one health document; repeatable by `command_id`."""

    command_id: Id
    """The same each time it is sent: a repeat changes nothing."""
    kind: CommandKind
    tenant_id: Id
    project_id: Id | None = None
    scope: Scope
    scope_id: ScopeId
    tool_name: Id
    by: Id
    """Who asks, for the history."""
    reason: Note | None = None
    """Why, for the history."""
    at: Time | None = None
    """When it was given; of two commands to a document the later stands. Without it, when the broker appended it."""
    classification: Classification | None = None
    """Needed by setUnavailable and setCooldown."""
    status: Status | None = None
    """Needed by override; setUnavailable: other than the classification stands for."""
    error_signature: Signature | None = None
    """Needed by setCooldown; clearCooldown ends those of this signature only."""
    user_id: Id | None = None
    """Whose cooldown is set or cleared; as whom a recheck probes."""
    duration: Duration | None = None
    """How long a cooldown lasts, or an override, or until the tool is expected back."""
    expected_recovery_at: Time | None = None
    """When setUnavailable expects the tool to work again."""
    until: Time | None = None
    """When an override ends by itself."""
    inbox_item_id: Id | None = None
    """Needed by dismissInbox."""
    originating_process_id: Id | None = None
    """Which process waits for a recheck: the parent of its diagnosis."""
    originating_session_id: Id | None = None
    """In which session a recheck is asked for; one of a SESSION's document is always asked for in that one."""
    locale: Locale | None = None
    """The language of whoever asks for a recheck: that of what its diagnosis tells the user."""
    otel: TraceContext | None = None


class CommandResult(WireModel):
    """How a command ended, and the revision from which its effect can be read."""

    command_id: Id
    tenant_id: Id
    tool_name: Id
    outcome: CommandOutcome
    reason: Annotated[str, StringConstraints(max_length=200)] | None = None
    """Why it was refused, or what was not found."""
    revision: Count | None = None
    """Of the document, once the command was carried out."""
    job_id: Id | None = None
    """The diagnosis that a recheck has begun, or found in flight."""
    at: Time


class InboxItem(WireModel):
    """A message to one user about something they can do themselves (spec agrajag §1, question 3)."""

    item_id: Id
    revision: Count
    tenant_id: Id
    assigned_to_user_id: Id
    tool_name: Id
    error_signature: Signature
    opening_job_id: Id
    title: Annotated[str, StringConstraints(max_length=200)]
    body: Annotated[str, StringConstraints(max_length=2_000)]
    status: InboxStatus = InboxStatus.PENDING
    created_at: Time
    updated_at: Time


class Document(WireModel):
    """One document of the cascade: a rule file, a recipe, a tool list or settings, as text."""

    tenant_id: Id
    project_id: Id | None = None
    path: DocumentPath
    content: Annotated[str, StringConstraints(max_length=MAX_CONTENT)]
    content_hash: Hash
    revision: Count
    by: Id | None = None
    at: Time

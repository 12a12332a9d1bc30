"""What services report: a failed call, a successful one, and a connection that came or went."""

from typing import Annotated

from pydantic import Field, StringConstraints

from agrajag.model.enums import CredentialKind, LinkKind, Scope, Transport
from agrajag.model.wire_model import MAX_BODY, MAX_MESSAGE, Count, Id, ScopeId, Time, WireModel

MAX_HEADERS = 64
MAX_HEADER_NAME = 256
MAX_HEADER_VALUE = 4_096
MAX_EXCEPTION_CHAIN = 16

ClassName = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Locale = Annotated[str, StringConstraints(max_length=35, pattern=r"^[A-Za-z0-9_-]*$")]
HeaderName = Annotated[str, StringConstraints(max_length=MAX_HEADER_NAME)]
HeaderValue = Annotated[str, StringConstraints(max_length=MAX_HEADER_VALUE)]
TraceContext = Annotated[
    dict[Annotated[str, StringConstraints(max_length=64)], Annotated[str, StringConstraints(max_length=512)]],
    Field(max_length=8),
]


class ErrorReport(WireModel):
    """What the failed call left behind, as the tool's client saw it. All of it is untrusted text.

    `exception_chain` names the classes from the outermost cause inwards, at most 16. `body` is the response text, at
    most 65,536 characters; where it was longer, `truncated` says so.
    """

    exception_type: ClassName | None = None
    exception_chain: Annotated[tuple[ClassName, ...], Field(max_length=MAX_EXCEPTION_CHAIN)] = ()
    message: Annotated[str, StringConstraints(max_length=MAX_MESSAGE)] | None = None
    http_status: Annotated[int, Field(ge=100, le=599)] | None = None
    headers: Annotated[dict[HeaderName, HeaderValue], Field(max_length=MAX_HEADERS)] = Field(
        default_factory=dict
    )
    body: Annotated[str, StringConstraints(max_length=MAX_BODY)] | None = None
    error_code: Annotated[str, StringConstraints(max_length=120)] | None = None
    truncated: bool = False


class ToolCallError(WireModel):
    """One failed tool call, or `count` equal ones between `first_at` and `last_at` (spec agrajag §1, §4.1).

    Without `event_id` the envelope, else the record's own topic, partition and offset name it. Without `occurred_at` it
    happened at `last_at`, else when the envelope says, else when the broker appended it. `probe` marks a call made to
    find something out: it is never triaged.
    `reply_to` asks for a `CheckResult` and is handed back in it unchanged; it never names a topic.
    """

    event_id: Id | None = None
    occurred_at: Time | None = None
    tenant_id: Id
    project_id: Id | None = None
    tool_name: Id
    user_id: Id | None = None
    session_id: Id | None = None
    process_id: Id | None = None
    locale: Locale | None = None
    transport: Transport | None = None
    credential_kind: CredentialKind | None = None
    count: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    first_at: Time | None = None
    last_at: Time | None = None
    probe: bool = False
    reply_to: Id | None = None
    otel: TraceContext | None = None
    error: ErrorReport


class ToolCallSucceeded(WireModel):
    """One successful call of a tool that something said was not OK; it carries no signature and no result."""

    event_id: Id | None = None
    occurred_at: Time | None = None
    tenant_id: Id
    project_id: Id | None = None
    tool_name: Id
    user_id: Id | None = None
    session_id: Id | None = None
    process_id: Id | None = None
    probe: bool = False
    otel: TraceContext | None = None


class SystemEvent(WireModel):
    """A link of a connection layer came up or went down (spec agrajag §9).

    `seq` grows with every event of one `connection_id`. At least one tool is named: a link event that names none cannot
    mark anything and is a bad record.
    """

    event_id: Id | None = None
    occurred_at: Time | None = None
    kind: LinkKind
    tenant_id: Id
    project_id: Id | None = None
    session_id: Id | None = None
    link_id: Id
    connection_id: Id
    seq: Count
    cause: Annotated[str, StringConstraints(max_length=200)] | None = None
    tool_names: Annotated[tuple[Id, ...], Field(min_length=1, max_length=500)]


class ToolLink(WireModel):
    """What one `SystemEvent` means for one of its tools; `link_event_id` is the event's id and the tool's name."""

    link_event_id: Id
    occurred_at: Time
    kind: LinkKind
    tenant_id: Id
    scope: Scope
    scope_id: ScopeId
    tool_name: Id
    link_id: Id
    connection_id: Id
    seq: Count
    cause: Annotated[str, StringConstraints(max_length=200)] | None = None

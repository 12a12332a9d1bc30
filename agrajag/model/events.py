"""What services report: a failed call, a successful one, and a connection that came or went."""

from typing import Annotated

from pydantic import Field, StringConstraints

from agrajag.model.enums import CallTargetKind, CredentialKind, LinkKind, Scope, Transport
from agrajag.model.wire_model import MAX_BODY, MAX_MESSAGE, Cause, Count, Id, ScopeId, Time, WireModel

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

    Of longer texts and lists the beginning is read: 65,536 characters of `body`, 16 classes of `exception_chain`.
    """

    exception_type: ClassName | None = None
    """The class of the exception, as its language names it: `httpx.ReadTimeout`."""
    exception_chain: Annotated[tuple[ClassName, ...], Field(max_length=MAX_EXCEPTION_CHAIN)] = ()
    """The classes of its causes, from the outermost inwards."""
    message: Annotated[str, StringConstraints(max_length=MAX_MESSAGE)] | None = None
    http_status: Annotated[int, Field(ge=100, le=999)] | None = None
    """The status of the response, where there was one."""
    headers: Annotated[dict[HeaderName, HeaderValue], Field(max_length=MAX_HEADERS)] = Field(
        default_factory=dict
    )
    """The headers of the response. `Retry-After` sets the length of a cooldown; send no secrets."""
    body: Annotated[str, StringConstraints(max_length=MAX_BODY)] | None = None
    """The text of the response."""
    error_code: Annotated[str, StringConstraints(max_length=120)] | None = None
    """A `ToolErrorCode` where the reporter knows which; else the tool's own code."""
    truncated: bool = False
    """Whether `body` or `message` has been cut, by the reporter or on arrival."""


class ToolCallError(WireModel):
    """One failed tool call, or `count` equal ones between `first_at` and `last_at` (spec agrajag §1, §4.1).

    Without `event_id` the envelope, else the record's own topic, partition and offset name it. Without `occurred_at` it
    happened at `last_at`, else when the envelope says, else when the broker appended it.
    """

    event_id: Id | None = None
    """The producer's own name for the event, the same each time it is sent."""
    occurred_at: Time | None = None
    """When the call failed. An error older than 15 minutes says nothing about now."""
    tenant_id: Id
    """Whose tool it is; nothing is shared between tenants."""
    project_id: Id | None = None
    """Where trouble that is nobody's own is kept; without it, with the tenant."""
    tool_name: Id
    """The name under which the tool is called; one that begins with `client_` belongs to its session."""
    tool_family: Id | None = None
    """The kind of system behind the tool, such as `slack` or `postgres`: what is known of it is asked first."""
    user_id: Id | None = None
    """For whom the tool was called; `_system` is read as nobody."""
    session_id: Id | None = None
    """In which session it was called."""
    process_id: Id | None = None
    """In which process it was called."""
    locale: Locale | None = None
    """The user's language, as a tag like `de-CH`."""
    transport: Transport | None = None
    """How the tool is reached."""
    credential_kind: CredentialKind | None = None
    """Whose credential the call used: a 401 to a shared one is not about one user."""
    target_kind: CallTargetKind | None = None
    """Whether the endpoint is the tool's own or what the caller named: a host that the caller made up is no outage."""
    count: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    """How many equal errors the event stands for."""
    first_at: Time | None = None
    """When the first of them happened."""
    last_at: Time | None = None
    """When the last of them happened."""
    probe: bool = False
    """Whether the call was made to find something out; then it is never triaged."""
    reply_to: Id | None = None
    """Asks for a `CheckResult`, which hands it back unchanged; it never names a topic."""
    otel: TraceContext | None = None
    """The trace context of the call, such as `traceparent`."""
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
    """What happened to which kind of connection."""
    tenant_id: Id
    project_id: Id | None = None
    session_id: Id | None = None
    link_id: Id
    """What is connected: an MCP server, a client. Its events are read in their order."""
    connection_id: Id
    """The one connection of the link that came or went."""
    seq: Count
    """Grows with every event of the connection."""
    cause: Cause | None = None
    """Why, for people."""
    tool_names: Annotated[tuple[Id, ...], Field(min_length=1, max_length=500)]
    """The tools that the connection carries."""


class ToolLink(WireModel):
    """What one `SystemEvent` means for one of its tools; `link_event_id` is derived from its id and the tool's name."""

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
    cause: Cause | None = None

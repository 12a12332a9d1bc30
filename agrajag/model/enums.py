"""The closed sets of the specification; the value is the word on the wire."""

from enum import StrEnum


class Classification(StrEnum):
    """Whose fault an error is (spec agrajag §4.1, §10)."""

    TECHNICALLY_BROKEN = "TECHNICALLY_BROKEN"
    USER_SPECIFIC_TECHNICAL = "USER_SPECIFIC_TECHNICAL"
    USER_PERMISSION = "USER_PERMISSION"
    USER_INPUT = "USER_INPUT"
    INTERMITTENT = "INTERMITTENT"
    WORKING = "WORKING"
    UNCLEAR = "UNCLEAR"


class Scope(StrEnum):
    """Where a status applies, narrowest first; GLOBAL is kept per tenant."""

    SESSION = "SESSION"
    USER = "USER"
    PROJECT = "PROJECT"
    TENANT = "TENANT"
    GLOBAL = "GLOBAL"

    rank: int
    """0 for the narrowest."""


for _rank, _scope in enumerate(Scope):
    _scope.rank = _rank


class Status(StrEnum):
    """What a health document says of its tool."""

    OK = "OK"
    DEGRADED = "DEGRADED"
    DOWN = "DOWN"


class HealthAction(StrEnum):
    """What a rule writes directly to the health document, without a queue hop (spec agrajag §4.2)."""

    NONE = "none"
    MARK_UNAVAILABLE = "markUnavailable"
    MARK_DEGRADED = "markDegraded"


class Safety(StrEnum):
    """Whether a tool may be probed; everything is MUTATING unless somebody vouches for it."""

    SAFE_PROBE = "SAFE_PROBE"
    MUTATING = "MUTATING"


class ToolErrorCode(StrEnum):
    """What a caller is told about its failed call in one word."""

    NOT_REGISTERED = "NOT_REGISTERED"
    BACKEND_UNREACHABLE = "BACKEND_UNREACHABLE"
    BACKEND_FAILED = "BACKEND_FAILED"
    DISALLOWED = "DISALLOWED"


class Transport(StrEnum):
    """How a tool is reached; a word we do not know becomes OTHER and is counted."""

    HTTP = "http"
    MCP = "mcp"
    PROCESS = "process"
    CLIENT = "client"
    OTHER = "other"


class CredentialKind(StrEnum):
    """Whose credential the failed call used; a word we do not know becomes UNKNOWN and is counted."""

    USER = "user"
    SHARED = "shared"
    NONE = "none"
    UNKNOWN = "unknown"


class CallTargetKind(StrEnum):
    """Who chose what the call went to; a word we do not know becomes UNKNOWN and is counted.

    FIXED: the tool's own endpoint. FROM_CALLER: what the caller's argument named, such as the page to fetch.
    """

    FIXED = "fixed"
    FROM_CALLER = "fromCaller"
    UNKNOWN = "unknown"


class Trigger(StrEnum):
    """Why a diagnosis job exists (spec agrajag §8.1, §9)."""

    TOOL_CALL_ERROR = "tool_call_error"
    USER_REQUEST = "user_request"
    SCHEDULED_RECHECK = "scheduled_recheck"
    SYSTEM_EVENT = "system_event"


class Outcome(StrEnum):
    """What Layer 1 did about one error.

    MARKED: a status was written. COOLING_DOWN: a cooldown began, no status. ENQUEUED: a diagnosis job began. COALESCED:
    it joined the job in flight. SUPPRESSED: a cooldown covered it. ALREADY_DIAGNOSED: a fresh diagnosis
    covered it. LATE, SUPERSEDED: too old, or older than a success, to say anything about now. NO_ROOM: the
    document can hold no further cooldown. UNMATCHED: no rule matched. PROBE: it came from a probe and is not triaged.
    UNDIAGNOSED, UNMARKED: a diagnosis would have begun, a status DOWN been written, if the tenant's settings did not
    switch it off; a cooldown began.
    """

    MARKED = "MARKED"
    COOLING_DOWN = "COOLING_DOWN"
    ENQUEUED = "ENQUEUED"
    SUPPRESSED = "SUPPRESSED"
    COALESCED = "COALESCED"
    ALREADY_DIAGNOSED = "ALREADY_DIAGNOSED"
    LATE = "LATE"
    SUPERSEDED = "SUPERSEDED"
    NO_ROOM = "NO_ROOM"
    UNMATCHED = "UNMATCHED"
    PROBE = "PROBE"
    UNDIAGNOSED = "UNDIAGNOSED"
    UNMARKED = "UNMARKED"


class LinkKind(StrEnum):
    """Which connection layer speaks (spec agrajag §4.2, §9)."""

    FOOT_CONNECTED = "foot_connected"
    FOOT_DISCONNECTED = "foot_disconnected"
    MCP_CONNECTED = "mcp_connected"
    MCP_CLOSED = "mcp_closed"
    SESSION_ENDED = "session_ended"


class LinkEffect(StrEnum):
    """What one event of a connection did to one tool.

    WENT_DOWN: its last connection was closed. CAME_BACK: it has one again. NOTED: its connections changed, not whether
    it has one. ENDED: the session is over. NOTHING: it was known, too old, or about a document that is gone.
    """

    WENT_DOWN = "WENT_DOWN"
    CAME_BACK = "CAME_BACK"
    NOTED = "NOTED"
    ENDED = "ENDED"
    NOTHING = "NOTHING"


class CommandKind(StrEnum):
    """What a person or a service engine may ask of a health document."""

    RECHECK = "recheck"
    SET_AVAILABLE = "setAvailable"
    SET_UNAVAILABLE = "setUnavailable"
    SET_COOLDOWN = "setCooldown"
    CLEAR_COOLDOWN = "clearCooldown"
    OVERRIDE = "override"
    LIFT_OVERRIDE = "liftOverride"
    DELETE = "delete"
    DISMISS_INBOX = "dismissInbox"


class CommandOutcome(StrEnum):
    """How a command ended; that nothing matched is an outcome, not an error.

    ALREADY_APPLIED: it was carried out before, or a diagnosis that answers it is in flight. REFUSED: with a reason.
    """

    APPLIED = "APPLIED"
    NOTHING_MATCHED = "NOTHING_MATCHED"
    ALREADY_APPLIED = "ALREADY_APPLIED"
    REFUSED = "REFUSED"


class ProcessStatus(StrEnum):
    """The life of a diagnosis process (spec agrajag §5.1)."""

    INIT = "INIT"
    RUNNING = "RUNNING"
    CLOSED = "CLOSED"


class CloseReason(StrEnum):
    """How a process was closed (spec agrajag §5.1)."""

    DONE = "DONE"
    STALE = "STALE"


class Diagnostician(StrEnum):
    """Who has answered a job: a model, or the rules that need none."""

    MODEL = "model"
    RULES = "rules"


class ServiceFailure(StrEnum):
    """Why a job of a service engine ended without an answer.

    LEASE_EXPIRED: it came too late to be begun. RETRIES_EXHAUSTED: what passes did not pass in time. NOT_POSSIBLE: what
    is asked for was refused for good. RECIPE_BROKEN, NO_RECIPE: nothing says how to answer. OVER_BUDGET: the tenant has
    used what it may today, and the engine has no other way. DEADLINE, CANCELLED: it was cut. CRASHED: the engine raised
    what it must not. NOT_READABLE: the job itself went to the dead letters.
    """

    LEASE_EXPIRED = "lease_expired"
    RETRIES_EXHAUSTED = "retries_exhausted"
    NOT_POSSIBLE = "not_possible"
    RECIPE_BROKEN = "recipe_broken"
    NO_RECIPE = "no_recipe"
    OVER_BUDGET = "over_budget"
    DEADLINE = "deadline"
    CANCELLED = "cancelled"
    CRASHED = "crashed"
    NOT_READABLE = "not_readable"


class SessionStatus(StrEnum):
    """Whether a system session is in use (spec agrajag §7)."""

    ACTIVE = "ACTIVE"
    SUSPENDED = "SUSPENDED"


class ToolCallStatus(StrEnum):
    """How far a tool call has come: READY has an observation, FAILED a code."""

    STARTED = "STARTED"
    READY = "READY"
    FAILED = "FAILED"


class ProbeIdentity(StrEnum):
    """As whom a probe ran; nobody else is ever impersonated."""

    USER = "user"
    SYSTEM = "system"


class InboxStatus(StrEnum):
    """The life of an inbox item."""

    PENDING = "PENDING"
    DISMISSED = "DISMISSED"
    ARCHIVED = "ARCHIVED"

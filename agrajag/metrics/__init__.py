"""The closed list of what Agrajag counts, by subject, in a registry of its own.

Labels come from closed sets only: enums, and topic names without their prefix. Never a tenant, a tool, a user
or a text that somebody sent: those are in the documents, and would make series without end. A step counts
what it did for a whole fetch and adds it once; adding one by one would cost more than the work itself.

Everybody imports from here: so the registry holds all of them wherever it is shown.
"""

from agrajag.metrics.api import (
    API_KEYS_UNCHECKED,
    API_REFUSALS,
    API_REPEATS,
    API_REQUESTS,
    API_SECONDS,
    API_TOKENS,
    API_TOKENS_REJECTED,
    StatusClass,
)
from agrajag.metrics.changes import STREAM_RESETS, STREAMS_ENDED, STREAMS_OPEN, StreamEnd, StreamReset
from agrajag.metrics.decisions import (
    ANSWERS,
    COMMANDS,
    CONNECTIONS_FORGOTTEN,
    COOLDOWNS_REFUSED,
    GUARDS,
    HELD_BACK,
    INBOX_ITEMS,
    JOBS,
    LINKS,
    SHADOW_VERDICTS,
    SUCCESSES,
    VERDICTS,
    HeldBack,
    JobKind,
)
from agrajag.metrics.diagnosis import (
    DIAGNOSES,
    DIAGNOSES_WITHOUT_MODEL,
    DIAGNOSIS_FALLBACKS,
    PROBE_REFUSALS,
    PROBE_SECONDS,
    PROBES,
    VERDICTS_UNCARRIED,
    ProbeEnd,
)
from agrajag.metrics.documents import (
    DOCUMENT_FAULTS,
    DOCUMENT_RELOADS,
    DOCUMENTS,
    DOCUMENTS_SKIPPED,
    DocumentFault,
)
from agrajag.metrics.guard import (
    CLIENT_DEGRADED,
    GUARD_CALLS,
    GUARD_CHECKS,
    GUARD_REFUSALS,
    GUARD_TRIES,
    TryEnd,
)
from agrajag.metrics.intake import (
    DEAD_LETTER_SHARE,
    DEAD_LETTERS,
    EVENTS,
    ORIGINS_IGNORED,
    REPAIRS,
    REPEATS,
    REPUBLISHED,
    SYSTEM_USERS,
)
from agrajag.metrics.investigation import (
    EVIDENCE_LEFT_OUT,
    INVESTIGATION_REPAIRS,
    INVESTIGATION_STOPS,
    INVESTIGATION_TRUNCATED,
    INVESTIGATIONS,
    SQL_REFUSALS,
    LeftOutKind,
)
from agrajag.metrics.models import (
    MODEL_AUDIT_FAILURES,
    MODEL_HOOK_FAILURES,
    MODEL_REQUEST_SECONDS,
    MODEL_REQUESTS,
    MODEL_RUNS,
    MODEL_TOKENS,
    MODEL_TOOL_CALLS,
    MODEL_USAGE_MISSING,
    TokenKind,
    ToolCallEnd,
)
from agrajag.metrics.registry import REGISTRY
from agrajag.metrics.reporter import (
    CLIENT_DROPPED,
    CLIENT_REPEATS,
    CLIENT_REPORTED,
    CLIENT_WAITING,
    DropReason,
    ReportKind,
)
from agrajag.metrics.service import (
    MODELS_UNDECLARED,
    OVER_BUDGET,
    PROCESS_RECORDS_SKIPPED,
    RECIPES_UNUSABLE,
    SERVICE_ARRIVALS,
    SERVICE_ATTEMPT_SECONDS,
    SERVICE_CUTS,
    SERVICE_JOBS,
    SERVICE_LANES,
    SERVICE_QUEUED,
    SERVICE_RETRIES,
    SERVICE_UNCOMMITTED,
)
from agrajag.metrics.sink import SINK_BATCHES, SINK_WRITES, SinkResult
from agrajag.metrics.stream import (
    COMMITS,
    DOCUMENTS_REEMITTED,
    DROPPED_FETCHES,
    FETCH_GAPS,
    FETCH_RECORDS,
    LAG,
    LAST_COMMIT_AGE,
    OUTPUTS,
    RETRIES,
    STAGE_SECONDS,
    STALE_FETCHES,
    SWEEPS_PUT_OFF,
    SWEPT,
    TABLE_ENTRIES,
    TOLD_LATER,
    WATCHDOG_EXITS,
    Result,
    Stage,
    SweptKind,
    WatchdogCause,
)
from agrajag.metrics.view import (
    VIEW_DOCUMENTS,
    VIEW_LISTENER_FAILURES,
    VIEW_RECORDS,
    VIEW_SKIPPED,
    ViewResult,
)

"""The closed list of what Agrajag counts, in a registry of its own.

Labels come from closed sets only: enums, and topic names without their prefix. Never a tenant, a tool, a user
or a text that somebody sent: those are in the documents, and would make series without end. A step counts
what it did for a whole fetch and adds it once; adding one by one would cost more than the work itself.
"""

from enum import StrEnum

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

REGISTRY = CollectorRegistry()


class Stage(StrEnum):
    """The stages of one unit of work, in their strict order; STORE is the sink's."""

    DECIDE = "decide"
    OUTPUTS = "outputs"
    CHANGELOG = "changelog"
    MERGE = "merge"
    STORE = "store"


class JobKind(StrEnum):
    """Whether a diagnosis job was sent for the first time, or again because signals joined it."""

    EMITTED = "emitted"
    REEMITTED = "reemitted"


class SweptKind(StrEnum):
    """What time has taken: GONE are the last traces of documents that had gone a day before."""

    DOCUMENT = "document"
    COOLDOWN = "cooldown"
    JOB = "job"
    GONE = "gone"
    INBOX_ITEM = "inbox_item"


class HeldBack(StrEnum):
    """What a tenant's settings have switched off."""

    DIAGNOSIS = "diagnosis"
    MARK_DOWN = "mark_down"


class Result(StrEnum):
    """How a commit ended."""

    DONE = "done"
    FAILED = "failed"


class SinkResult(StrEnum):
    """What the store made of one document: STALE is one whose revision was not newer."""

    WRITTEN = "written"
    STALE = "stale"
    FAILED = "failed"


class DocumentFault(StrEnum):
    """REJECTED: a file, rule or value that is not in force. WARNING: one that is, and probably should not be."""

    REJECTED = "rejected"
    WARNING = "warning"


class ViewResult(StrEnum):
    """What the view in memory made of one record: STALE is one whose revision was not newer."""

    TAKEN = "taken"
    STALE = "stale"


class TokenKind(StrEnum):
    """The kinds of tokens that have a price of their own."""

    INPUT = "input"
    OUTPUT = "output"
    CACHE_WRITE = "cache_write"
    CACHE_READ = "cache_read"


class ToolCallEnd(StrEnum):
    """What became of a tool call by a model; of these only READY and FAILED were sent to the tool or its audit."""

    READY = "ready"
    FAILED = "failed"
    NOT_ADMITTED = "not_admitted"
    STOP_REQUIRED = "stop_required"
    DUPLICATE = "duplicate"
    UNKNOWN = "unknown"


class ProbeEnd(StrEnum):
    """How a probe ended: the tool worked, failed, or had not answered by the deadline."""

    WORKED = "worked"
    FAILED = "failed"
    TIMED_OUT = "timed_out"


class WatchdogCause(StrEnum):
    """Why a worker gave up on itself."""

    NO_PROGRESS = "no_progress"
    REBALANCE = "rebalance"
    BLOCKED = "blocked"  # an event loop that does not answer


# --- what comes in ---

# Records read from a source topic, repeats included. `topic` as in wire.topics.
EVENTS = Counter("agrajag_events", "Records read, by topic.", ["topic"], registry=REGISTRY)
# Records that could not be used and went to the dead letters. `reason`: wire.reasons.DeadLetterReason.
DEAD_LETTERS = Counter(
    "agrajag_dead_letters", "Records set aside, by topic and reason.", ["topic", "reason"], registry=REGISTRY
)
# What an alert should look at: near 0 in good times. Falls back by itself when no more of them come.
DEAD_LETTER_SHARE = Gauge(
    "agrajag_dead_letter_share", "Share of dead letters among the records of 5 minutes.", registry=REGISTRY
)
# Records that were mended instead of refused. `kind`: wire.reasons.RepairKind.
REPAIRS = Counter("agrajag_repairs", "Fields cut or given a default, by kind.", ["kind"], registry=REGISTRY)
# User ids `_system` that were read as "no user": somebody treats a placeholder as a person.
SYSTEM_USERS = Counter("agrajag_system_users", "User ids _system, read as no user.", registry=REGISTRY)
# Records found on a partition that is not murmur2 of their key, and sent on to the right one.
REPUBLISHED = Counter(
    "agrajag_republished", "Records sent on to their right partition, by topic.", ["topic"], registry=REGISTRY
)
# Origin headers that no worker of ours can have written; a steady count is a producer that tries something.
ORIGINS_IGNORED = Counter("agrajag_origins_ignored", "Origin headers not believed.", registry=REGISTRY)
# Records at or below `applied`: seen before, changed nothing.
REPEATS = Counter("agrajag_repeats", "Records already applied, by topic.", ["topic"], registry=REGISTRY)

# --- what is decided ---

# Verdicts on errors. `outcome`: model.enums.Outcome, `classification`: model.enums.Classification.
VERDICTS = Counter(
    "agrajag_verdicts",
    "Verdicts, by outcome and classification.",
    ["outcome", "classification"],
    registry=REGISTRY,
)
# Errors that shadow rules would decide otherwise. `outcome`: what would begin where nothing stands; labels as above.
SHADOW_VERDICTS = Counter(
    "agrajag_shadow_verdicts",
    "Errors that shadow rules would decide otherwise, by the outcome and classification that would be.",
    ["outcome", "classification"],
    registry=REGISTRY,
)
# Successes. `outcome`: core.recover.Recovery.
SUCCESSES = Counter("agrajag_successes", "Successes, by what they healed.", ["outcome"], registry=REGISTRY)
# Commands. `kind`: model.enums.CommandKind, `outcome`: model.enums.CommandOutcome.
COMMANDS = Counter(
    "agrajag_commands", "Commands, by kind and outcome.", ["kind", "outcome"], registry=REGISTRY
)
# Diagnosis jobs sent. `kind`: JobKind.
JOBS = Counter("agrajag_jobs", "Diagnosis jobs sent, first and again.", ["kind"], registry=REGISTRY)
# Answers to jobs that were applied, or not. `outcome`: core.apply.Ending.
ANSWERS = Counter(
    "agrajag_answers", "Answers of diagnoses, by what became of them.", ["outcome"], registry=REGISTRY
)
# What kept an answer from being written as it came. `kind`: core.apply_guards.Guard.
GUARDS = Counter(
    "agrajag_guards", "Guards that answers of diagnoses met, by kind.", ["kind"], registry=REGISTRY
)
# Inbox items that were opened or closed. `kind`: model.enums.InboxStatus.
INBOX_ITEMS = Counter("agrajag_inbox_items", "Inbox items told, by their state.", ["kind"], registry=REGISTRY)
# Cooldowns that did not fit into their document; one tool has more kinds of failure than the cap allows.
COOLDOWNS_REFUSED = Counter("agrajag_cooldowns_refused", "Cooldowns refused for room.", registry=REGISTRY)

# Events of connections about one tool, by what they changed. `effect`: model.enums.LinkEffect.
LINKS = Counter(
    "agrajag_links", "Connections that came or went, by effect on a tool.", ["effect"], registry=REGISTRY
)
# Open connections of a tool beyond the cap; their layer opens them and never says that they were closed.
CONNECTIONS_FORGOTTEN = Counter(
    "agrajag_connections_forgotten", "Open connections forgotten for room.", registry=REGISTRY
)

# What errors would have begun, and a tenant's settings switch off. `kind`: HeldBack.
HELD_BACK = Counter(
    "agrajag_held_back", "Diagnoses and marks that settings held back, by kind.", ["kind"], registry=REGISTRY
)

# --- the stream ---

# Records written to an output topic and acknowledged by the broker. `topic` as in wire.topics.
OUTPUTS = Counter("agrajag_outputs", "Records written, by topic.", ["topic"], registry=REGISTRY)
# Stages tried again after an error that may pass. `stage`: Stage.
RETRIES = Counter("agrajag_retries", "Stages tried again, by stage.", ["stage"], registry=REGISTRY)
# How many records one fetch brought: near 1 at rest, near the limit in a backlog.
FETCH_RECORDS = Histogram(
    "agrajag_fetch_records",
    "Records in one fetch.",
    registry=REGISTRY,
    buckets=(1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000),
)
# How long each stage took for one fetch, waits for the broker and the store included. `stage`: Stage.
STAGE_SECONDS = Histogram(
    "agrajag_stage_seconds",
    "Seconds of each stage of one fetch.",
    ["stage"],
    registry=REGISTRY,
    buckets=(0.000_5, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30),
)
# Commits of offsets. `result`: Result.
COMMITS = Counter("agrajag_commits", "Offset commits, by result.", ["result"], registry=REGISTRY)
# Fetches left alone because their partition was taken away meanwhile; they come again elsewhere.
STALE_FETCHES = Counter("agrajag_stale_fetches", "Fetches of an older epoch, left alone.", registry=REGISTRY)
# Fetches that began behind the expected offset; fetched again before anything is believed.
FETCH_GAPS = Counter("agrajag_fetch_gaps", "Fetches that began behind a hole.", registry=REGISTRY)
# Fetches that Faust threw out of its queues around a rebalance; fetched again.
DROPPED_FETCHES = Counter(
    "agrajag_dropped_fetches", "Fetches dropped from queues, read again.", registry=REGISTRY
)
# Records of the partitions held that are not done yet, as of the last look. `topic` as in wire.topics.
LAG = Gauge("agrajag_lag_records", "Records not done yet, by topic.", ["topic"], registry=REGISTRY)
# Grows while nothing is committed, which is right where nothing comes in; NaN before the first commit.
LAST_COMMIT_AGE = Gauge(
    "agrajag_last_commit_age_seconds", "Seconds since the last commit of offsets.", registry=REGISTRY
)
# Times a worker ended itself in order to be started again. `cause`: WatchdogCause.
WATCHDOG_EXITS = Counter(
    "agrajag_watchdog_exits", "Exits by the watchdog, by cause.", ["cause"], registry=REGISTRY
)
# Changes that only counted on and were not told at once; the next telling of the document covers them.
TOLD_LATER = Counter(
    "agrajag_changes_told_later", "Changes of counters alone, told later together.", registry=REGISTRY
)
# Documents written again after a partition was taken over, so that no late record is the last word.
DOCUMENTS_REEMITTED = Counter(
    "agrajag_documents_reemitted", "Documents written again after a takeover.", registry=REGISTRY
)
# Entries of this worker's part of the table, those of gone documents included.
TABLE_ENTRIES = Gauge("agrajag_table_entries", "Entries in the table of this worker.", registry=REGISTRY)

# What the sweep removed. `kind`: SweptKind.
SWEPT = Counter("agrajag_swept", "What time has removed, by kind.", ["kind"], registry=REGISTRY)
# Partitions that were not swept in their turn: they lag, and what waits may need what would be removed.
SWEEPS_PUT_OFF = Counter(
    "agrajag_sweeps_put_off", "Partitions not swept because they lag.", registry=REGISTRY
)

# --- the documents ---

# Documents of tenants and projects that this process has read.
DOCUMENTS = Gauge("agrajag_documents", "Documents of tenants and projects.", registry=REGISTRY)
# What is wrong with them now; 0 once it is mended. `kind`: DocumentFault.
DOCUMENT_FAULTS = Gauge(
    "agrajag_document_faults",
    "Faults in the documents as they are now, by kind.",
    ["kind"],
    registry=REGISTRY,
)
# Times that changed documents were put in force.
DOCUMENT_RELOADS = Counter(
    "agrajag_document_reloads", "Times that changed documents came into force.", registry=REGISTRY
)
# Records of the documents topic that say nothing usable. `reason`: wire.reasons.DeadLetterReason.
DOCUMENTS_SKIPPED = Counter(
    "agrajag_documents_skipped", "Records of documents left out, by reason.", ["reason"], registry=REGISTRY
)

# --- the sink ---

# Documents handed to the store. `topic` as in wire.topics, `result`: SinkResult.
SINK_WRITES = Counter(
    "agrajag_sink_writes",
    "Documents handed to the store, by topic and result.",
    ["topic", "result"],
    registry=REGISTRY,
)
# Bulk writes sent to the store; writes divided by batches says how well they fill.
SINK_BATCHES = Counter("agrajag_sink_batches", "Bulk writes sent to the store.", registry=REGISTRY)

# --- the view in memory ---

# Health documents that this process keeps in memory.
VIEW_DOCUMENTS = Gauge("agrajag_view_documents", "Health documents in memory.", registry=REGISTRY)
# Records of health-changed that the view has read. `result`: ViewResult.
VIEW_RECORDS = Counter(
    "agrajag_view_records",
    "Records of health-changed read by the view, by result.",
    ["result"],
    registry=REGISTRY,
)
# Records of health-changed that say nothing usable. `reason`: wire.reasons.DeadLetterReason.
VIEW_SKIPPED = Counter(
    "agrajag_view_skipped",
    "Records of health-changed left out by the view, by reason.",
    ["reason"],
    registry=REGISTRY,
)

# --- models ---

# Runs of a model that have ended. `reason`: harness.stops.StopReason.
MODEL_RUNS = Counter(
    "agrajag_model_runs", "Runs of a model, by the reason of their end.", ["reason"], registry=REGISTRY
)
# Requests sent to a model, those without an answer included; never more than the rounds, as nothing is retried.
MODEL_REQUESTS = Counter("agrajag_model_requests", "Requests sent to a model.", registry=REGISTRY)
# How long a model took to answer, or not to.
MODEL_REQUEST_SECONDS = Histogram(
    "agrajag_model_request_seconds",
    "Seconds of one request to a model.",
    registry=REGISTRY,
    buckets=(0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120),
)
# Tokens as models reported them. `kind`: TokenKind.
MODEL_TOKENS = Counter("agrajag_model_tokens", "Tokens used, by kind.", ["kind"], registry=REGISTRY)
# Replies that did not say how many tokens they used: budgets of tokens are blind to them.
MODEL_USAGE_MISSING = Counter(
    "agrajag_model_usage_missing", "Replies of a model without a usable usage.", registry=REGISTRY
)
# Tool calls by models. `outcome`: ToolCallEnd.
MODEL_TOOL_CALLS = Counter(
    "agrajag_model_tool_calls", "Tool calls by models, by outcome.", ["outcome"], registry=REGISTRY
)
# Tool calls that could not be written down: not run, or their observation kept back.
MODEL_AUDIT_FAILURES = Counter(
    "agrajag_model_audit_failures", "Records of tool calls that could not be written.", registry=REGISTRY
)
# Steps of a run that a hook has failed to take; the run goes on.
MODEL_HOOK_FAILURES = Counter(
    "agrajag_model_hook_failures", "Steps of a run that a hook did not take.", registry=REGISTRY
)

# --- investigation ---

# Investigations that have ended. `end`: ExecutionStop, DraftFault, or one of AGENT_ERROR and INPUT_REFUSED.
INVESTIGATIONS = Counter(
    "agrajag_investigations", "Investigations, by the way they ended.", ["end"], registry=REGISTRY
)

# --- service engines ---

# Jobs for which no usable recipe stood. `reason`: model.enums.ServiceFailure, of which two can be.
RECIPES_UNUSABLE = Counter(
    "agrajag_recipes_unusable", "Jobs without a usable recipe, by reason.", ["reason"], registry=REGISTRY
)
# Models that an alias or a recipe names and no operator has declared; the next one that is wished for counts.
MODELS_UNDECLARED = Counter(
    "agrajag_models_undeclared", "Models named and not declared, passed over.", registry=REGISTRY
)
# Attempts that began after their tenant had used up its day. `kind`: service.engine.Budget.
OVER_BUDGET = Counter(
    "agrajag_over_budget", "Attempts that began over budget, by kind of budget.", ["kind"], registry=REGISTRY
)
# Records of process events that cannot be read. `reason`: wire.reasons.DeadLetterReason.
PROCESS_RECORDS_SKIPPED = Counter(
    "agrajag_process_records_skipped",
    "Records of processes left out, by reason.",
    ["reason"],
    registry=REGISTRY,
)
# Jobs of service engines that have ended. `outcome`: `answered`, or model.enums.ServiceFailure.
SERVICE_JOBS = Counter(
    "agrajag_service_jobs", "Jobs of service engines that ended, by how.", ["outcome"], registry=REGISTRY
)
# Records of jobs that were taken in, sent-again ones included. `kind`: service.lanes.Arrival.
SERVICE_ARRIVALS = Counter(
    "agrajag_service_arrivals", "Records of jobs taken in, by what they were.", ["kind"], registry=REGISTRY
)
# Attempts at a job that failed in a way that may pass, and were made again.
SERVICE_RETRIES = Counter("agrajag_service_retries", "Attempts at jobs made again.", registry=REGISTRY)
# Attempts that were cut because another worker has the job now, or because this one ends.
SERVICE_CUTS = Counter("agrajag_service_cuts", "Attempts cut and left to another worker.", registry=REGISTRY)
# Lanes that run a job now; at its bound, further lanes wait for a turn.
SERVICE_LANES = Gauge("agrajag_service_lanes_running", "Lanes that run a job.", registry=REGISTRY)
# Jobs that wait in their lanes for their turn, or for another attempt.
SERVICE_QUEUED = Gauge("agrajag_service_jobs_queued", "Jobs that wait in their lanes.", registry=REGISTRY)
# Records of jobs that a crash would have read again; a partition at its bound is not read on.
SERVICE_UNCOMMITTED = Gauge(
    "agrajag_service_jobs_uncommitted", "Records of jobs read and not committed.", registry=REGISTRY
)
# How long one attempt of an engine took, cut ones included.
SERVICE_ATTEMPT_SECONDS = Histogram(
    "agrajag_service_attempt_seconds",
    "Seconds of one attempt at a job.",
    registry=REGISTRY,
    buckets=(0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300),
)

# --- probes ---

# Probes that were made. `kind`: core.targets.TargetKind, `identity`: model.enums.ProbeIdentity, `end`: ProbeEnd.
PROBES = Counter(
    "agrajag_probes",
    "Probes made, by kind of target, identity and end.",
    ["kind", "identity", "end"],
    registry=REGISTRY,
)
# How long they took. `kind`: core.targets.TargetKind.
PROBE_SECONDS = Histogram(
    "agrajag_probe_seconds",
    "Seconds of one probe, by kind of target.",
    ["kind"],
    registry=REGISTRY,
    buckets=(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30),
)
# Probes without an outcome. `reason`: diagnosis.probe.ProbeRefusal.
PROBE_REFUSALS = Counter(
    "agrajag_probe_refusals", "Probes that were not made, by reason.", ["reason"], registry=REGISTRY
)

# --- the diagnosis ---

# Answers of the diagnosis. `kind`: model.enums.Diagnostician, `classification`: model.enums.Classification.
DIAGNOSES = Counter(
    "agrajag_diagnoses",
    "Answers of the diagnosis, by who found them and classification.",
    ["kind", "classification"],
    registry=REGISTRY,
)
# Jobs that the rules answered for want of a model. `reason`: harness.NoModel, harness.StopReason, or over_budget.
DIAGNOSES_WITHOUT_MODEL = Counter(
    "agrajag_diagnoses_without_model",
    "Jobs answered without a model, by the reason why.",
    ["reason"],
    registry=REGISTRY,
)
# Answers of a model that could not be used: a quarter of an hour of DEGRADED stands in their place.
DIAGNOSIS_FALLBACKS = Counter(
    "agrajag_diagnosis_fallbacks", "Answers of a model that could not be used.", registry=REGISTRY
)
# Verdicts of a model that no probe of its run carries: UNCLEAR now. `classification`: model.enums.Classification.
VERDICTS_UNCARRIED = Counter(
    "agrajag_verdicts_uncarried",
    "Verdicts of a model that no probe carries, by classification.",
    ["classification"],
    registry=REGISTRY,
)

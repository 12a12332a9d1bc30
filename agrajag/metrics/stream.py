"""Units of work, their stages and commits, and the workers that do them."""

from enum import StrEnum

from prometheus_client import Counter, Gauge, Histogram

from agrajag.metrics.registry import REGISTRY


class Stage(StrEnum):
    """The stages of one unit of work, in their strict order; STORE is the sink's."""

    DECIDE = "decide"
    OUTPUTS = "outputs"
    CHANGELOG = "changelog"
    MERGE = "merge"
    STORE = "store"


class SweptKind(StrEnum):
    """What time has taken: GONE are the last traces of documents that had gone a day before."""

    DOCUMENT = "document"
    COOLDOWN = "cooldown"
    JOB = "job"
    GONE = "gone"
    INBOX_ITEM = "inbox_item"


class Result(StrEnum):
    """How a commit ended."""

    DONE = "done"
    FAILED = "failed"


class WatchdogCause(StrEnum):
    """Why a worker gave up on itself."""

    NO_PROGRESS = "no_progress"
    REBALANCE = "rebalance"
    BLOCKED = "blocked"  # an event loop that does not answer


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

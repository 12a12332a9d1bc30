"""Service engines: their jobs, attempts, recipes and budgets."""

from prometheus_client import Counter, Gauge, Histogram

from agrajag.metrics.registry import REGISTRY

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

"""The health documents that a process keeps in memory."""

from enum import StrEnum

from prometheus_client import Counter, Gauge

from agrajag.metrics.registry import REGISTRY


class ViewResult(StrEnum):
    """What the view in memory made of one record: STALE is one whose revision was not newer."""

    TAKEN = "taken"
    STALE = "stale"


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
# Listeners to changes that raised.
VIEW_LISTENER_FAILURES = Counter(
    "agrajag_view_listener_failures",
    "Failures of those who listen to changes of health documents.",
    registry=REGISTRY,
)

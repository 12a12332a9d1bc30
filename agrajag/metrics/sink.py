"""What the sink writes to the store."""

from enum import StrEnum

from prometheus_client import Counter

from agrajag.metrics.registry import REGISTRY


class SinkResult(StrEnum):
    """What the store made of one document: STALE is one whose revision was not newer."""

    WRITTEN = "written"
    STALE = "stale"
    FAILED = "failed"


# Documents handed to the store. `topic` as in wire.topics, `result`: SinkResult.
SINK_WRITES = Counter(
    "agrajag_sink_writes",
    "Documents handed to the store, by topic and result.",
    ["topic", "result"],
    registry=REGISTRY,
)
# Bulk writes sent to the store; writes divided by batches says how well they fill.
SINK_BATCHES = Counter("agrajag_sink_batches", "Bulk writes sent to the store.", registry=REGISTRY)

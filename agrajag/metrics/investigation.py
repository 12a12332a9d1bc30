"""The investigation agent: how its runs end."""

from prometheus_client import Counter

from agrajag.metrics.registry import REGISTRY

# Investigations that have ended. `end`: ExecutionStop, DraftFault, or one of AGENT_ERROR and INPUT_REFUSED.
INVESTIGATIONS = Counter(
    "agrajag_investigations", "Investigations, by the way they ended.", ["end"], registry=REGISTRY
)

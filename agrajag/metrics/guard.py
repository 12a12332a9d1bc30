"""What callers ask before they call, and what they are told."""

from enum import StrEnum

from prometheus_client import Counter

from agrajag.metrics.registry import REGISTRY


class TryEnd(StrEnum):
    """What became of the one call that was let through after a refusal. ABANDONED: nothing was heard of it."""

    WORKED = "worked"
    FAILED = "failed"
    ABANDONED = "abandoned"


# Calls that were asked about. `outcome`: core.admission.Decision.
GUARD_CALLS = Counter(
    "agrajag_guard_calls",
    "Calls that a guard was asked about, by its answer.",
    ["outcome"],
    registry=REGISTRY,
)
# Calls that were refused. `reason`: core.admission.Refusal.
GUARD_REFUSALS = Counter(
    "agrajag_guard_refusals", "Calls that a guard refused, by reason.", ["reason"], registry=REGISTRY
)
# Tries after a refusal. `end`: TryEnd.
GUARD_TRIES = Counter(
    "agrajag_guard_tries", "Tries after a refusal had ended, by their end.", ["end"], registry=REGISTRY
)
# Errors that were judged in the caller's own process. `outcome`: model.enums.Outcome, `classification`:
# model.enums.Classification.
GUARD_CHECKS = Counter(
    "agrajag_guard_checks",
    "Errors judged in the caller's own process, by outcome and classification.",
    ["outcome", "classification"],
    registry=REGISTRY,
)
# Clients that began although something could not be read in time: then everything is allowed.
CLIENT_DEGRADED = Counter(
    "agrajag_client_degraded",
    "Beginnings of clients that went on before they knew anything of tools.",
    registry=REGISTRY,
)

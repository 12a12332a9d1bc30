"""The HTTP API: who asks for what, what is refused, and the tokens in force."""

from enum import StrEnum

from prometheus_client import Counter, Gauge, Histogram

from agrajag.metrics.registry import REGISTRY


class StatusClass(StrEnum):
    """The first digit of a status."""

    INFORMATIONAL = "1xx"
    SUCCESS = "2xx"
    REDIRECTION = "3xx"
    CLIENT_ERROR = "4xx"
    SERVER_ERROR = "5xx"


# Requests that were answered. `route`: the templates of the routes, or `none`; `method`: api.edge.METHODS or `other`;
# `status`: StatusClass.
API_REQUESTS = Counter(
    "agrajag_api_requests",
    "Requests answered by the API, by route template, method and class of status.",
    ["route", "method", "status"],
    registry=REGISTRY,
)
# Seconds until an answer began; a stream of events goes on after it.
API_SECONDS = Histogram(
    "agrajag_api_seconds",
    "Seconds until the API began to answer.",
    registry=REGISTRY,
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30),
)
# Requests that were refused or could not be answered. `type`: api.problems.ProblemType.
API_REFUSALS = Counter(
    "agrajag_api_refusals",
    "Requests that the API refused or could not answer, by type of problem.",
    ["type"],
    registry=REGISTRY,
)
# Commands that an Idempotency-Key has named before.
API_REPEATS = Counter(
    "agrajag_api_repeats", "Requests that were repeated under their Idempotency-Key.", registry=REGISTRY
)
# Requests under a key whose earlier ones, those of other API processes, could not be looked up in the store.
API_KEYS_UNCHECKED = Counter(
    "agrajag_api_keys_unchecked",
    "Requests under an Idempotency-Key that the store could not be asked about.",
    registry=REGISTRY,
)
# Tokens that the API knows.
API_TOKENS = Gauge("agrajag_api_tokens", "Tokens in force.", registry=REGISTRY)
# Changes of the file of tokens that were not taken in, since it was unusable.
API_TOKENS_REJECTED = Counter(
    "agrajag_api_tokens_rejected", "Changes of the tokens file that were unusable.", registry=REGISTRY
)

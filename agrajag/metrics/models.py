"""Models that are asked: runs, requests, tokens, and the tools that they call."""

from enum import StrEnum

from prometheus_client import Counter, Histogram

from agrajag.metrics.registry import REGISTRY


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
# Tool calls that could not be written down: not run, or kept from the model; or not what the model made of one.
MODEL_AUDIT_FAILURES = Counter(
    "agrajag_model_audit_failures", "Records of tool calls that could not be written.", registry=REGISTRY
)
# Steps of a run that a hook has failed to take; the run goes on.
MODEL_HOOK_FAILURES = Counter(
    "agrajag_model_hook_failures", "Steps of a run that a hook did not take.", registry=REGISTRY
)

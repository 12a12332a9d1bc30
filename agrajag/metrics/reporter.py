"""What a client reports of its tools, and what it could not."""

from enum import StrEnum

from prometheus_client import Counter, Gauge

from agrajag.metrics.registry import REGISTRY


class ReportKind(StrEnum):
    """What a report says: a call failed, or worked again."""

    ERROR = "error"
    SUCCESS = "success"


class DropReason(StrEnum):
    """Why a report was not sent.

    FULL: the oldest made room for a newer one. FLOODED: more came at once than could be redacted. UNUSABLE: the client
    was not started, is closed, or was made before a fork. UNREADABLE: what failed could not be looked at. INVALID: the
    call has a name or an id that none can be. REFUSED: the brokers do not take it. CLOSED: it was not sent in time.
    """

    FULL = "full"
    FLOODED = "flooded"
    UNUSABLE = "unusable"
    UNREADABLE = "unreadable"
    INVALID = "invalid"
    REFUSED = "refused"
    CLOSED = "closed"


# Failed calls and successes that the brokers have. `kind`: ReportKind.
CLIENT_REPORTED = Counter(
    "agrajag_client_reported",
    "Failed calls and successes whose report the brokers have, by kind.",
    ["kind"],
    registry=REGISTRY,
)
# Failed calls and successes that nobody will hear of. `reason`: DropReason.
CLIENT_DROPPED = Counter(
    "agrajag_client_dropped",
    "Failed calls and successes whose report was dropped, by reason.",
    ["reason"],
    registry=REGISTRY,
)
# Failed calls that were told with others like them.
CLIENT_REPEATS = Counter(
    "agrajag_client_repeats",
    "Failed calls that share one report with others like them.",
    registry=REGISTRY,
)
# Reports that wait for the brokers.
CLIENT_WAITING = Gauge("agrajag_client_waiting", "Reports that wait for the brokers.", registry=REGISTRY)

"""Streams of changes over HTTP: how many are open, how they end, and when a client has to begin anew."""

from enum import StrEnum

from prometheus_client import Counter, Gauge

from agrajag.metrics.registry import REGISTRY


class StreamEnd(StrEnum):
    """How a stream ended: the client left, was too slow or lost its token; a gap in the log; its time, or the process's
    own, was over; or a fault of ours."""

    CLIENT = "client"
    SLOW = "slow"
    TOKEN = "token"  # noqa: S105 - no password
    GAP = "gap"
    AGE = "age"
    ENDING = "ending"
    FAULT = "fault"


class StreamReset(StrEnum):
    """Why a stream began with the whole state: the client named no place, or none that can be read, or one of another
    log, or one that lies ahead of what was read here, or one behind which not everything is known any more."""

    NO_ID = "no_id"
    MALFORMED = "malformed"
    FOREIGN = "foreign"
    AHEAD = "ahead"
    TOO_OLD = "too_old"


# Streams of changes that are open.
STREAMS_OPEN = Gauge("agrajag_api_streams_open", "Streams of changes that are open.", registry=REGISTRY)
# Streams of changes that ended. `reason`: StreamEnd.
STREAMS_ENDED = Counter(
    "agrajag_api_streams_ended", "Streams of changes that ended, by reason.", ["reason"], registry=REGISTRY
)
# Streams that began with the whole state. `reason`: StreamReset.
STREAM_RESETS = Counter(
    "agrajag_api_stream_resets",
    "Streams that began with the whole state, by reason.",
    ["reason"],
    registry=REGISTRY,
)

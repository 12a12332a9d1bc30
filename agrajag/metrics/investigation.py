"""The investigation agent: how its runs end, what its gate sends back, and what its sources leave out."""

from enum import StrEnum

from prometheus_client import Counter

from agrajag.metrics.registry import REGISTRY


class LeftOutKind(StrEnum):
    """Why a source of evidence leaves out a file, or a line of one."""

    OUTSIDE = "outside"  # a link that leads out of the folder
    TOO_MANY = "too_many"
    TOO_LARGE = "too_large"
    NOT_TEXT = "not_text"
    UNREADABLE = "unreadable"
    BROKEN_LINE = "broken_line"


# Investigations that have ended. `end`: ExecutionStop, DraftFault, or one of AGENT_ERROR and INPUT_REFUSED.
INVESTIGATIONS = Counter(
    "agrajag_investigations", "Investigations, by the way they ended.", ["end"], registry=REGISTRY
)
# Tool calls that investigations sent back to the model for their form. `kind`: investigation.progress.RepairCode.
INVESTIGATION_REPAIRS = Counter(
    "agrajag_investigation_repairs",
    "Tool calls sent back to be mended, by kind.",
    ["kind"],
    registry=REGISTRY,
)
# Investigations whose collecting of evidence was ended by their own rules. `reason`: harness.stops.StopReason.
INVESTIGATION_STOPS = Counter(
    "agrajag_investigation_stops",
    "Investigations that were told to stop collecting, by reason.",
    ["reason"],
    registry=REGISTRY,
)
# Observations that show less than their source found: a limit of the source or of the observation.
INVESTIGATION_TRUNCATED = Counter(
    "agrajag_investigation_observations_truncated", "Observations that were cut.", registry=REGISTRY
)
# Files and lines that sources of evidence did not read, at each look again. `kind`: LeftOutKind.
EVIDENCE_LEFT_OUT = Counter(
    "agrajag_evidence_left_out", "Files and lines of evidence left out, by kind.", ["kind"], registry=REGISTRY
)
# Statements that models asked for and that were not sent. `reason`: investigation.mysql.SqlCode.
SQL_REFUSALS = Counter(
    "agrajag_sql_refusals", "Statements not sent, by reason.", ["reason"], registry=REGISTRY
)

"""The diagnosis: its probes and its answers."""

from enum import StrEnum

from prometheus_client import Counter, Histogram

from agrajag.metrics.registry import REGISTRY


class ProbeEnd(StrEnum):
    """How a probe ended: the tool worked, failed, or had not answered by the deadline."""

    WORKED = "worked"
    FAILED = "failed"
    TIMED_OUT = "timed_out"


# Probes that were made. `kind`: core.targets.TargetKind, `identity`: model.enums.ProbeIdentity, `end`: ProbeEnd.
PROBES = Counter(
    "agrajag_probes",
    "Probes made, by kind of target, identity and end.",
    ["kind", "identity", "end"],
    registry=REGISTRY,
)
# How long they took. `kind`: core.targets.TargetKind.
PROBE_SECONDS = Histogram(
    "agrajag_probe_seconds",
    "Seconds of one probe, by kind of target.",
    ["kind"],
    registry=REGISTRY,
    buckets=(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30),
)
# Probes without an outcome. `reason`: diagnosis.probe.ProbeRefusal.
PROBE_REFUSALS = Counter(
    "agrajag_probe_refusals", "Probes that were not made, by reason.", ["reason"], registry=REGISTRY
)

# Answers of the diagnosis. `kind`: model.enums.Diagnostician, `classification`: model.enums.Classification.
DIAGNOSES = Counter(
    "agrajag_diagnoses",
    "Answers of the diagnosis, by who found them and classification.",
    ["kind", "classification"],
    registry=REGISTRY,
)
# Jobs that the rules answered for want of a model. `reason`: harness.NoModel, harness.StopReason, or over_budget.
DIAGNOSES_WITHOUT_MODEL = Counter(
    "agrajag_diagnoses_without_model",
    "Jobs answered without a model, by the reason why.",
    ["reason"],
    registry=REGISTRY,
)
# Answers of a model that could not be used: a quarter of an hour of DEGRADED stands in their place.
DIAGNOSIS_FALLBACKS = Counter(
    "agrajag_diagnosis_fallbacks", "Answers of a model that could not be used.", registry=REGISTRY
)
# Verdicts of a model that no probe of its run carries: UNCLEAR now. `classification`: model.enums.Classification.
VERDICTS_UNCARRIED = Counter(
    "agrajag_verdicts_uncarried",
    "Verdicts of a model that no probe carries, by classification.",
    ["classification"],
    registry=REGISTRY,
)

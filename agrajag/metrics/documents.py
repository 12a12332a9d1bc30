"""The documents of tenants and projects: rules, recipes, tools, settings."""

from enum import StrEnum

from prometheus_client import Counter, Gauge

from agrajag.metrics.registry import REGISTRY


class DocumentFault(StrEnum):
    """REJECTED: a file, rule or value that is not in force. WARNING: one that is, and probably should not be."""

    REJECTED = "rejected"
    WARNING = "warning"


# Documents of tenants and projects that this process has read.
DOCUMENTS = Gauge("agrajag_documents", "Documents of tenants and projects.", registry=REGISTRY)
# What is wrong with them now; 0 once it is mended. `kind`: DocumentFault.
DOCUMENT_FAULTS = Gauge(
    "agrajag_document_faults",
    "Faults in the documents as they are now, by kind.",
    ["kind"],
    registry=REGISTRY,
)
# Times that changed documents were put in force.
DOCUMENT_RELOADS = Counter(
    "agrajag_document_reloads", "Times that changed documents came into force.", registry=REGISTRY
)
# Records of the documents topic that say nothing usable. `reason`: wire.reasons.DeadLetterReason.
DOCUMENTS_SKIPPED = Counter(
    "agrajag_documents_skipped", "Records of documents left out, by reason.", ["reason"], registry=REGISTRY
)

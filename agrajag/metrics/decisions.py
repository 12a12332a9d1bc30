"""What is decided, and what settings hold back."""

from enum import StrEnum

from prometheus_client import Counter

from agrajag.metrics.registry import REGISTRY


class JobKind(StrEnum):
    """Whether a diagnosis job was sent for the first time, or again because signals joined it."""

    EMITTED = "emitted"
    REEMITTED = "reemitted"


class HeldBack(StrEnum):
    """What a tenant's settings have switched off."""

    DIAGNOSIS = "diagnosis"
    MARK_DOWN = "mark_down"


# Verdicts on errors. `outcome`: model.enums.Outcome, `classification`: model.enums.Classification.
VERDICTS = Counter(
    "agrajag_verdicts",
    "Verdicts, by outcome and classification.",
    ["outcome", "classification"],
    registry=REGISTRY,
)
# Errors that shadow rules would decide otherwise. `outcome`: what would begin where nothing stands; labels as above.
SHADOW_VERDICTS = Counter(
    "agrajag_shadow_verdicts",
    "Errors that shadow rules would decide otherwise, by the outcome and classification that would be.",
    ["outcome", "classification"],
    registry=REGISTRY,
)
# Successes. `outcome`: core.recover.Recovery.
SUCCESSES = Counter("agrajag_successes", "Successes, by what they healed.", ["outcome"], registry=REGISTRY)
# Commands. `kind`: model.enums.CommandKind, `outcome`: model.enums.CommandOutcome.
COMMANDS = Counter(
    "agrajag_commands", "Commands, by kind and outcome.", ["kind", "outcome"], registry=REGISTRY
)
# Diagnosis jobs sent. `kind`: JobKind.
JOBS = Counter("agrajag_jobs", "Diagnosis jobs sent, first and again.", ["kind"], registry=REGISTRY)
# Answers to jobs that were applied, or not. `outcome`: core.apply.Ending.
ANSWERS = Counter(
    "agrajag_answers", "Answers of diagnoses, by what became of them.", ["outcome"], registry=REGISTRY
)
# What kept an answer from being written as it came. `kind`: core.apply_guards.Guard.
GUARDS = Counter(
    "agrajag_guards", "Guards that answers of diagnoses met, by kind.", ["kind"], registry=REGISTRY
)
# Inbox items that were opened or closed. `kind`: model.enums.InboxStatus.
INBOX_ITEMS = Counter("agrajag_inbox_items", "Inbox items told, by their state.", ["kind"], registry=REGISTRY)
# Cooldowns that did not fit into their document; one tool has more kinds of failure than the cap allows.
COOLDOWNS_REFUSED = Counter("agrajag_cooldowns_refused", "Cooldowns refused for room.", registry=REGISTRY)

# Events of connections about one tool, by what they changed. `effect`: model.enums.LinkEffect.
LINKS = Counter(
    "agrajag_links", "Connections that came or went, by effect on a tool.", ["effect"], registry=REGISTRY
)
# Open connections of a tool beyond the cap; their layer opens them and never says that they were closed.
CONNECTIONS_FORGOTTEN = Counter(
    "agrajag_connections_forgotten", "Open connections forgotten for room.", registry=REGISTRY
)

# What errors would have begun, and a tenant's settings switch off. `kind`: HeldBack.
HELD_BACK = Counter(
    "agrajag_held_back", "Diagnoses and marks that settings held back, by kind.", ["kind"], registry=REGISTRY
)

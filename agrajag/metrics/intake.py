"""What comes in, and what of it could not be used as it came."""

from prometheus_client import Counter, Gauge

from agrajag.metrics.registry import REGISTRY

# Records read from a source topic, repeats included. `topic` as in wire.topics.
EVENTS = Counter("agrajag_events", "Records read, by topic.", ["topic"], registry=REGISTRY)
# Records that could not be used and went to the dead letters. `reason`: wire.reasons.DeadLetterReason.
DEAD_LETTERS = Counter(
    "agrajag_dead_letters", "Records set aside, by topic and reason.", ["topic", "reason"], registry=REGISTRY
)
# What an alert should look at: near 0 in good times. Falls back by itself when no more of them come.
DEAD_LETTER_SHARE = Gauge(
    "agrajag_dead_letter_share", "Share of dead letters among the records of 5 minutes.", registry=REGISTRY
)
# Records that were mended instead of refused. `kind`: wire.reasons.RepairKind.
REPAIRS = Counter("agrajag_repairs", "Fields cut or given a default, by kind.", ["kind"], registry=REGISTRY)
# User ids `_system` that were read as "no user": somebody treats a placeholder as a person.
SYSTEM_USERS = Counter("agrajag_system_users", "User ids _system, read as no user.", registry=REGISTRY)
# Records found on a partition that is not murmur2 of their key, and sent on to the right one.
REPUBLISHED = Counter(
    "agrajag_republished", "Records sent on to their right partition, by topic.", ["topic"], registry=REGISTRY
)
# Origin headers that no worker of ours can have written; a steady count is a producer that tries something.
ORIGINS_IGNORED = Counter("agrajag_origins_ignored", "Origin headers not believed.", registry=REGISTRY)
# Records at or below `applied`: seen before, changed nothing.
REPEATS = Counter("agrajag_repeats", "Records already applied, by topic.", ["topic"], registry=REGISTRY)

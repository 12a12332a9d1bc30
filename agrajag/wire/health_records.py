"""What a record of `health-changed` says: a health document as of a revision, or that it is gone.

Key and document must agree, so that no document can stand under another's name.
"""

from typing import NamedTuple

from agrajag.errors import InputError
from agrajag.model.enums import Scope
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key, parts
from agrajag.wire.cloudevents import EventType, Headers, binary_headers
from agrajag.wire.codec import decode
from agrajag.wire.origin import ReceivedRecord
from agrajag.wire.reasons import DeadLetterReason
from agrajag.wire.tombstones import tombstone_revision


class HealthChange(NamedTuple):
    """A document under its `health_key`; `health` None says that it is gone."""

    key: str
    revision: int
    health: ToolHealth | None


def health_change(record: ReceivedRecord) -> HealthChange:
    """What the record says. Raises InputError for one that says nothing usable."""
    if record.value is None:
        return HealthChange(_key_of_tombstone(record), tombstone_revision(record), None)
    health = decode(ToolHealth, record)
    key = health_key(health.tenant_id, health.scope, health.scope_id, health.tool_name)
    if record.key != key.encode():
        raise InputError(DeadLetterReason.INVALID_FIELD, "key: is not that of the document in the value")
    return HealthChange(key, health.revision, health)


def health_headers(source: str, key: bytes, revision: int) -> Headers:
    """The headers of the record that tells a document as of a revision: told again, it is the same event."""
    return binary_headers(EventType.HEALTH_CHANGED, source, f"{key.decode()}|{revision}")


def _key_of_tombstone(record: ReceivedRecord) -> str:
    try:
        key = (record.key or b"").decode()
        tenant_id, scope, scope_id, tool_name = parts(key)
        canonical = health_key(tenant_id, Scope(scope), scope_id, tool_name)
    except ValueError as error:
        raise InputError(DeadLetterReason.INVALID_FIELD, "key: is not tenant|scope|scopeId|tool") from error
    if key != canonical:
        raise InputError(DeadLetterReason.INVALID_FIELD, "key: is escaped in an unusual way")
    return key

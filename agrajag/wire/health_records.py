"""What a record of `health-changed` says: a health document as of a revision, or that it is gone.

Key and document must agree, so that no document can stand under another's name. Reading a document takes ten times as
long as finding its revision; so whoever keeps many reads one when somebody asks for it.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from agrajag.errors import InputError
from agrajag.model.enums import Scope
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key, parts
from agrajag.wire.cloudevents import EventType, Headers, binary_headers
from agrajag.wire.codec import MAX_VALUE_BYTES, decode
from agrajag.wire.origin import ReceivedRecord
from agrajag.wire.reasons import DeadLetterReason
from agrajag.wire.tombstones import tombstone_revision

_OUR_BEGINNING = re.compile(rb'\{"revision":(0|[1-9][0-9]{0,15}),"tenantId":"')
_KEY = re.compile(rb"[^|]+\|(SESSION|USER|PROJECT|TENANT|GLOBAL)\|[^|]*\|[^|]+")


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


class HealthRecord(NamedTuple):
    """A document under its `health_key` as it came; `value` None says that it is gone.

    Whether the value is that document is not known before it `is_read`.
    """

    key: str
    revision: int
    value: bytes | None
    is_read: bool = True


def health_record(record: ReceivedRecord) -> HealthRecord:
    """What the record says, read no further than needed: of a value that begins as ours do, the revision.

    Raises InputError for one that says nothing usable, as far as that is seen.
    """
    value = record.value
    beginning = _OUR_BEGINNING.match(value) if value is not None and len(value) <= MAX_VALUE_BYTES else None
    if beginning is not None and record.key is not None and _KEY.fullmatch(record.key):
        try:
            return HealthRecord(record.key.decode(), int(beginning[1]), value, is_read=False)
        except UnicodeDecodeError as error:
            raise InputError(DeadLetterReason.INVALID_FIELD, "key: is not UTF-8") from error
    key, revision, health = health_change(record)
    return HealthRecord(key, revision, None if health is None else health.to_json())


def read_health(key: str, revision: int, value: bytes) -> ToolHealth:
    """The document that a `HealthRecord` holds. Raises InputError if it is not that one, or none."""
    change = health_change(_Value(key.encode(), value))
    if change.health is None or change.revision != revision:
        raise InputError(DeadLetterReason.INVALID_FIELD, "revision: is told twice, and not the same")
    return change.health


class _Value(NamedTuple):
    """A record of which only key and value are known any more."""

    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]] = ()
    topic: str = ""
    partition: int = 0
    offset: int = 0
    timestamp: int = 0


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

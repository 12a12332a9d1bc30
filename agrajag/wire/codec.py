"""Reads records into values.

A good plain or binary-mode record takes one pass of pydantic's JSON validator and nothing else. Whatever
does not validate, envelopes included, goes through `repair`. `decode` is total: any bytes give a value or an
InputError.

A value that validates is taken as it is, whatever its content type says; no envelope can, since attribute
names of CloudEvents are lower case and every input has a required field that is not.
"""

from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_args

from pydantic import AwareDatetime, BaseModel, TypeAdapter, ValidationError

from agrajag.errors import InputError
from agrajag.metrics import SYSTEM_USERS
from agrajag.model.enums import Scope
from agrajag.model.wire_model import WireModel
from agrajag.wire.cloudevents import Attributes, binary_attributes
from agrajag.wire.origin import Origin, ReceivedRecord, own_place
from agrajag.wire.reasons import DeadLetterReason
from agrajag.wire.repair import recovered
from agrajag.wire.replays import replayed_id, replayed_time

M = TypeVar("M", bound=WireModel)

MAX_VALUE_BYTES = 1_048_576
"""The largest value of an input that is read; a topic that somebody else has set up may hold larger ones."""

SYSTEM_USER = "_system"
"""The placeholder for "no human owner" (spec agrajag §7); no input may act as a user of that name."""

# Pydantic gives every time in UTC this very zone; telling it by identity is ten times as fast as by its offset.
_ZULU = TypeAdapter[datetime](AwareDatetime).validate_json(b'"1970-01-01T00:00:00Z"').tzinfo
_USER_FIELDS = frozenset({"user_id", "originating_user_id"})


def decode(
    model: type[M],
    record: ReceivedRecord,
    origin: Origin | None = None,
    *,
    max_bytes: int = MAX_VALUE_BYTES,
) -> M:
    """The value of `record`, all times in UTC; raises InputError with a DeadLetterReason, and nothing else.

    Where the event has no id, that of its envelope is used, else that of a replay, else `origin` (by default the
    record's own place). Where it has no time, that of the last of the errors it stands for is used, else the
    envelope's, else that of a replay. A user id `_system` becomes no user, and is counted.
    """
    value = record.value
    if value is None:
        raise InputError(DeadLetterReason.NO_VALUE, "the record has no value")
    if len(value) > max_bytes:
        raise InputError(DeadLetterReason.TOO_LARGE, f"the value has {len(value)} bytes, limit {max_bytes}")
    attributes = None
    try:
        decoded = model.from_json(value)
    except ValidationError as error:
        decoded, attributes = recovered(model, value, record.headers, error)
    checks = _checks(model)
    changes = _corrections(decoded, checks)
    if checks.names_event:
        fields = decoded.__dict__
        if fields["event_id"] is None or fields["occurred_at"] is None:
            changes = _named(fields, record, attributes, origin) | (changes or {})
    if changes:
        # In place: nobody else has seen it yet, and a copy would cost as much as all the rest.
        decoded.__dict__.update(changes)
    return decoded


def _named(
    event: dict[str, Any], record: ReceivedRecord, attributes: Attributes | None, origin: Origin | None
) -> dict[str, Any]:
    """What an event is called and when it happened, where it does not say so itself."""
    attributes = attributes or binary_attributes(record.headers)
    changes: dict[str, Any] = {}
    if event["event_id"] is None:
        named = attributes.valid_id() or replayed_id(record.headers)
        changes["event_id"] = named or str(origin or own_place(record))
    if event["occurred_at"] is None:
        time = event.get("last_at") or attributes.valid_time() or replayed_time(record.headers)
        if time is not None:
            changes["occurred_at"] = _in_utc(time)
    return changes


class _Checks(NamedTuple):
    """What has to be looked at in a decoded value of one model: names of fields."""

    users: tuple[str, ...]
    times: tuple[str, ...]
    nested: tuple[str, ...]
    has_scope: bool
    names_event: bool


@cache
def _checks(model: type[BaseModel]) -> _Checks:
    fields = model.model_fields
    return _Checks(
        users=tuple(name for name in fields if name in _USER_FIELDS),
        times=tuple(name for name, field in fields.items() if datetime in _types_in(field.annotation)),
        nested=tuple(
            name for name, field in fields.items() if any(map(_needs_checks, _types_in(field.annotation)))
        ),
        has_scope="scope" in fields and "scope_id" in fields,
        names_event="event_id" in fields and "occurred_at" in fields,
    )


def _needs_checks(kind: Any) -> bool:
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return False
    checks = _checks(kind)
    return bool(checks.users or checks.times or checks.nested)


def _types_in(annotation: Any) -> set[Any]:
    found = {annotation}
    for argument in get_args(annotation):
        found |= _types_in(argument)
    return {datetime if kind is AwareDatetime else kind for kind in found if isinstance(kind, type)}


def _corrections(value: Any, checks: _Checks) -> dict[str, Any] | None:
    """Fields of `value` that need another value: None, the usual case, if there are none."""
    changes: dict[str, Any] | None = None
    fields = value.__dict__
    for name in checks.users:
        if fields[name] == SYSTEM_USER:
            SYSTEM_USERS.inc()
            changes = {**(changes or {}), name: None}
    for name in checks.times:
        time = fields[name]
        if time is not None and time.tzinfo is not _ZULU:
            changes = {**(changes or {}), name: _in_utc(time)}
    if checks.has_scope and fields["scope_id"] == SYSTEM_USER and fields["scope"] is Scope.USER:
        raise InputError(DeadLetterReason.INVALID_FIELD, "scopeId: names no user")
    for name in checks.nested:
        corrected = _corrected(fields[name])
        if corrected is not fields[name]:
            changes = {**(changes or {}), name: corrected}
    return changes


def _corrected(value: Any) -> Any:
    """`value`, a record or a tuple of records, itself where nothing in it needs a correction."""
    if isinstance(value, WireModel):
        changes = _corrections(value, _checks(type(value)))
        return value.with_changes(**changes) if changes else value
    if isinstance(value, tuple):
        items = tuple(map(_corrected, value))
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value


def _in_utc(time: datetime) -> datetime:
    if time.tzinfo is _ZULU:
        return time
    try:
        return time.astimezone(UTC)
    except OverflowError:
        raise InputError(
            DeadLetterReason.INVALID_FIELD, "a time is outside the years 1 to 9999 in UTC"
        ) from None

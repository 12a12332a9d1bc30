"""Reads the reports in a body: one event, or many as `{"events": […]}`, of which one that is wrong refuses all.

The tenant of the path is that of every event; an event may name it, and no other.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import orjson
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from agrajag.api.bodies import refused_body, schema_of
from agrajag.core.redact import redacted
from agrajag.core.redacted_report import redacted_report
from agrajag.model.events import SystemEvent, ToolCallError
from agrajag.model.wire_model import MAX_CAUSE, WireModel
from agrajag.wire.codec import MAX_VALUE_BYTES
from agrajag.wire.reports import Report

R = TypeVar("R", bound=WireModel)

MAX_EVENTS = 1_000


def read_report(body: bytes, model: type[R], tenant_id: str) -> R:
    """The one event in a body, without the secrets in its texts. Raises RequestValidationError."""
    return _read(_tree(body), model, tenant_id)


def read_reports(body: bytes, model: type[R], tenant_id: str) -> list[R]:
    """The events in a body, without the secrets in their texts. Raises RequestValidationError, which names each field
    that is wrong by the event's number."""
    tree = _tree(body)
    if "events" not in tree:
        return [_read(tree, model, tenant_id)]
    events = tree["events"]
    if not isinstance(events, list) or not 1 <= len(events) <= MAX_EVENTS:
        raise _refused(f"a list of 1 to {MAX_EVENTS:,} events", "events")
    return _all(events, model, tenant_id)


def one_report_schema(model: type[Report]) -> dict[str, Any]:
    """What one event looks like, which need not say whose it is."""
    event = schema_of(model)
    event["required"] = [name for name in event["required"] if name != "tenantId"]
    del event["properties"]["tenantId"]
    return event


def reports_schema(model: type[Report]) -> dict[str, Any]:
    """What such a body looks like."""
    event = one_report_schema(model)
    many = {
        "type": "object",
        "properties": {"events": {"type": "array", "items": event, "minItems": 1, "maxItems": MAX_EVENTS}},
        "required": ["events"],
    }
    return {"anyOf": [{**event, "not": {"required": ["events"]}}, many]}


def _tree(body: bytes) -> dict[str, Any]:
    try:
        tree = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise _refused("is no JSON") from None
    if not isinstance(tree, dict):
        raise _refused("is no JSON object")
    return tree


def _all(events: Sequence[Any], model: type[R], tenant_id: str) -> list[R]:
    reports: list[R] = []
    errors: list[Any] = []
    for number, event in enumerate(events):
        try:
            reports.append(_read(event, model, tenant_id, "events", number))
        except RequestValidationError as error:
            errors += error.errors()
    if errors:
        raise RequestValidationError(errors)
    return reports


def _read(tree: Any, model: type[R], tenant_id: str, *place: str | int) -> R:
    if isinstance(tree, Mapping):
        tree = {"tenantId": tenant_id, **tree}
        if tree["tenantId"] != tenant_id:
            raise _refused("is not the tenant of the path", *place, "tenantId")
    value = orjson.dumps(tree)
    if len(value) > MAX_VALUE_BYTES:
        raise _refused(f"has {len(value):,} bytes, limit {MAX_VALUE_BYTES:,}", *place)
    try:
        report = model.from_json(value)
    except ValidationError as error:
        raise refused_body(error, *place) from None
    return report.with_changes(**_without_secrets(report))


def _without_secrets(report: WireModel) -> dict[str, Any]:
    """The fields that may hold secrets, without them."""
    if isinstance(report, ToolCallError):
        return {"error": redacted_report(report.error)}
    if isinstance(report, SystemEvent) and report.cause is not None:
        return {"cause": redacted(report.cause)[:MAX_CAUSE]}
    return {}


def _refused(reason: str, *place: str | int) -> RequestValidationError:
    return RequestValidationError([{"loc": ("body", *place), "msg": reason, "type": "value_error"}])

"""Decides what becomes of a value that did not validate: taken out of its envelope, mended, or refused.

Only what has one clear default is mended: text that is too long is cut, lists keep their beginning, an
unknown word becomes the word for "unknown". Everything else is refused, naming the field and the kind of
error, never the value.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, TypeVar, get_args

import pydantic_core
from pydantic import BaseModel, ValidationError

from agrajag.errors import InputError
from agrajag.metrics import REPAIRS
from agrajag.model.enums import CallTargetKind, CredentialKind, Transport
from agrajag.model.events import (
    MAX_EXCEPTION_CHAIN,
    MAX_HEADER_NAME,
    MAX_HEADER_VALUE,
    MAX_HEADERS,
    ToolCallError,
)
from agrajag.model.wire_model import MAX_BODY, MAX_MESSAGE, WireModel
from agrajag.wire.cloudevents import Attributes, ReceivedHeaders, opened_envelope
from agrajag.wire.reasons import DeadLetterReason, RepairKind

M = TypeVar("M", bound=WireModel)

_TRANSPORTS = frozenset(Transport)
_CREDENTIAL_KINDS = frozenset(CredentialKind)
_TARGET_KINDS = frozenset(CallTargetKind)
_NAMED_PROBLEMS = 3
_MOST_PROBLEMS = 200  # listing them costs time for each; more than these are only counted


def recovered(
    model: type[M], value: bytes, headers: ReceivedHeaders, error: ValidationError
) -> tuple[M, Attributes | None]:
    """`value`, which failed with `error`, as a record of `model`, and what its envelope says, if it has one.

    Raises InputError if it cannot be one.
    """
    tree = _tree(value, model, error)
    envelope = opened_envelope(tree, headers)
    if envelope is None:
        return _mended(model, tree, error), None
    event = envelope.event
    value = event if isinstance(event, bytes) else pydantic_core.to_json(event)
    try:
        record = model.from_json(value)
    except ValidationError as inner:
        record = _mended(model, _tree(value, model, inner), inner)
    return record, envelope.attributes


def _tree(value: bytes, model: type[WireModel], error: ValidationError) -> dict[str, Any]:
    try:
        tree = pydantic_core.from_json(value)
    except ValueError:
        raise refusal(model, error) from None
    if not isinstance(tree, dict):
        raise InputError(DeadLetterReason.NOT_AN_OBJECT, "the value is JSON, but not an object")
    return tree


def _mended(model: type[M], tree: dict[str, Any], error: ValidationError) -> M:
    """The record in `tree` after all repairs that apply; they are counted only if they were enough."""
    kinds = set(_repairs(tree)) if model is ToolCallError else set()
    if not kinds:
        raise refusal(model, error) from None
    try:
        record = model.from_json(pydantic_core.to_json(tree))
    except ValidationError as remaining:
        raise refusal(model, remaining) from None
    for kind in kinds:
        REPAIRS.labels(kind).inc()
    return record


def _repairs(event: dict[str, Any]) -> Iterator[RepairKind]:
    """Mends `event` in place, and says what was done."""
    if _unknown(event.get("transport"), _TRANSPORTS):
        event["transport"] = Transport.OTHER
        yield RepairKind.TRANSPORT_UNKNOWN
    if _unknown(event.get("credentialKind"), _CREDENTIAL_KINDS):
        event["credentialKind"] = CredentialKind.UNKNOWN
        yield RepairKind.CREDENTIAL_KIND_UNKNOWN
    if _unknown(event.get("targetKind"), _TARGET_KINDS):
        event["targetKind"] = CallTargetKind.UNKNOWN
        yield RepairKind.TARGET_KIND_UNKNOWN
    report = event.get("error")
    if isinstance(report, dict):
        yield from _report_repairs(report)


def _report_repairs(report: dict[str, Any]) -> Iterator[RepairKind]:
    for field, limit, kind in (
        ("body", MAX_BODY, RepairKind.BODY_CUT),
        ("message", MAX_MESSAGE, RepairKind.MESSAGE_CUT),
    ):
        text = report.get(field)
        if isinstance(text, str) and len(text) > limit:
            report[field] = text[:limit]
            report["truncated"] = True
            yield kind
    chain = report.get("exceptionChain")
    if isinstance(chain, list) and len(chain) > MAX_EXCEPTION_CHAIN:
        report["exceptionChain"] = chain[:MAX_EXCEPTION_CHAIN]
        yield RepairKind.EXCEPTION_CHAIN_CUT
    headers = report.get("headers")
    if isinstance(headers, dict):
        yield from _header_repairs(headers)


def _header_repairs(headers: dict[str, Any]) -> Iterator[RepairKind]:
    too_long = [name for name in headers if len(name) > MAX_HEADER_NAME]
    for name in too_long:
        del headers[name]
    too_many = list(headers)[MAX_HEADERS:]
    for name in too_many:
        del headers[name]
    if too_long or too_many:
        yield RepairKind.HEADERS_DROPPED
    for name, value in headers.items():
        if isinstance(value, str) and len(value) > MAX_HEADER_VALUE:
            headers[name] = value[:MAX_HEADER_VALUE]
            yield RepairKind.HEADER_VALUE_CUT


def _unknown(word: object, known: frozenset[Any]) -> bool:
    return isinstance(word, str) and word not in known


def refusal(model: type[WireModel], error: ValidationError) -> InputError:
    """What is wrong, as field paths and kinds of error; nothing that the producer wrote is in it."""
    total = error.error_count()
    if total > _MOST_PROBLEMS:
        return InputError(DeadLetterReason.INVALID_FIELD, f"{total} fields are wrong")
    problems = error.errors(include_url=False, include_input=False)
    kind = problems[0]["type"]
    if kind == "json_invalid":
        too_deep = str(problems[0]["ctx"]["error"]).startswith("recursion limit")
        return InputError(
            DeadLetterReason.TOO_DEEP if too_deep else DeadLetterReason.NOT_JSON,
            "the value is nested too deeply" if too_deep else "the value is not JSON",
        )
    words = _field_words(model)
    named = [f"{_path(problem['loc'], words)}: {problem['type']}" for problem in problems[:_NAMED_PROBLEMS]]
    if total > len(named):
        named.append(f"and {total - len(named)} more")
    missing = kind == "missing"
    return InputError(
        DeadLetterReason.MISSING_FIELD if missing else DeadLetterReason.INVALID_FIELD, "; ".join(named)
    )


def _path(location: tuple[int | str, ...], words: frozenset[str]) -> str:
    """The place of an error. Keys of a producer's own maps are not ours to repeat."""
    return ".".join(str(part) if isinstance(part, int) or part in words else "*" for part in location) or "*"


@cache
def _field_words(model: type[BaseModel]) -> frozenset[str]:
    words: set[str] = set()
    for name, field in model.model_fields.items():
        words |= {name, field.alias or name}
        for inner in _models_in(field.annotation):
            words |= _field_words(inner)
    return frozenset(words)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)

"""Reads the model's answer, tolerantly (spec agrajag §5.2 step 4, §5.3): whatever it is, a diagnosis comes of it.

A field that cannot be used becomes the one that claims least. An answer that holds no object at all becomes the
fallback: DEGRADED for a quarter of an hour, and never more. Nobody is asked again.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from agrajag.core.apply_guards import FALLBACK_SPAN
from agrajag.core.durations import parse_iso_duration
from agrajag.core.plain_text import plain_text, without_addresses
from agrajag.diagnosis.hints import MAX_HINT
from agrajag.model.enums import Classification, Scope
from agrajag.model.jobs import MAX_ADJUSTMENTS, CooldownAdjustment, Diagnosis, DiagnosisJob
from agrajag.model.wire_model import MAX_NOTE

NO_NOTE = "The model gave no note."
_FIELDS = frozenset(field.alias for field in Diagnosis.model_fields.values())
_MOST_STARTS = 100
_MOST_TEXT = 256_000
_DECODER = json.JSONDecoder()


def fallback(job: DiagnosisJob, now: datetime, why: str) -> Diagnosis:
    """What stands where a model has answered and said nothing (spec agrajag §5.2 step 4)."""
    return Diagnosis(
        classification=Classification.UNCLEAR,
        scope=job.scope,
        expected_recovery_at=now + FALLBACK_SPAN,
        human_note=f"Diagnosis fallback: {why}"[:MAX_NOTE],
    )


def diagnosis_in(texts: Sequence[str], job: DiagnosisJob, now: datetime) -> Diagnosis | None:
    """The diagnosis in the text blocks of an answer; None where there is no object in them.

    An object in a fence counts like any other, and one without any of our fields is none. Of several the last that has
    a classification counts: what is quoted comes before what is concluded.
    """
    found = [given for given in _objects("\n".join(texts)[:_MOST_TEXT]) if not _FIELDS.isdisjoint(given)]
    answers = [given for given in found if "classification" in given] or found
    return _diagnosis(answers[-1], job, now) if answers else None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of a text, from the outside: each begins at a brace and goes as far as its braces balance."""
    position = 0
    for _ in range(_MOST_STARTS):
        position = text.find("{", position)
        if position < 0:
            return
        try:
            found, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):  # no object begins here, or one without end
            position += 1
            continue
        yield found


def _diagnosis(given: dict[str, Any], job: DiagnosisJob, now: datetime) -> Diagnosis:
    classification = _classification(given.get("classification"))
    return Diagnosis(
        classification=classification,
        scope=_scope(given.get("scope"), job.scope),
        expected_recovery_at=_moment(given.get("expectedRecoveryAt"), now),
        human_note=_text(given.get("humanNote")),
        user_action_hint=_hint(given.get("userActionHint"), classification),
        cooldown_adjustments=tuple(_adjustments(given.get("cooldownAdjustments"))),
    )


def _classification(value: object) -> Classification:
    word = value.strip().upper() if isinstance(value, str) else ""
    return Classification(word) if word in Classification.__members__ else Classification.UNCLEAR


def _scope(value: object, otherwise: Scope) -> Scope:
    word = value.strip().upper() if isinstance(value, str) else ""
    return Scope(word) if word in Scope.__members__ else otherwise


def _moment(value: object, now: datetime) -> datetime | None:
    """The time in UTC; None for one that cannot be read, has no zone, or has passed."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
        in_utc = moment.astimezone(UTC) if moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None
    return in_utc if in_utc is not None and in_utc > now else None


def _text(value: object) -> str:
    return (plain_text(value, MAX_NOTE) if isinstance(value, str) else "") or NO_NOTE


def _hint(value: object, classification: Classification) -> str | None:
    if classification is not Classification.USER_SPECIFIC_TECHNICAL or not isinstance(value, str):
        return None
    return without_addresses(value, MAX_HINT) or None


def _adjustments(value: object) -> Iterator[CooldownAdjustment]:
    """Those that can be used, in their order; whether they may be set is for others to decide."""
    for given in value[:MAX_ADJUSTMENTS] if isinstance(value, list) else ():
        adjustment = _adjustment(given) if isinstance(given, dict) else None
        if adjustment is not None:
            yield adjustment


def _adjustment(given: dict[str, Any]) -> CooldownAdjustment | None:
    duration = given.get("duration")
    span = parse_iso_duration(duration.strip().upper()) if isinstance(duration, str) else None
    if not span:
        return None
    fields = {"error_signature": given.get("errorSignature"), "user_id": given.get("userId")}
    try:
        return CooldownAdjustment.model_validate({**fields, "duration": span})
    except ValidationError:
        return None

"""Reads the envelope of a tool call: which observation it follows, and what it asks of the tool.

What the model wrote is checked once, by the types; a fault is told by the names of our own fields and never by what the
model wrote there.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, Generic, NamedTuple, TypeVar

import orjson
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from agrajag.investigation.frozen_model import FrozenModel

MAX_FIELDS = 8

R = TypeVar("R", bound=FrozenModel)


class Evaluation(StrEnum):
    """What an observation has brought the diagnosis, as the model sees it."""

    GAINED = "GAINED"
    NO_GAIN = "NO_GAIN"


class PreviousObservation(FrozenModel):
    """The model's opinion of the last non-empty observation, told with the next call."""

    tool_call_id: str
    evaluation: Evaluation


class Envelope(FrozenModel, Generic[R]):
    """The arguments of every tool (spec single-react: Evidence Tools)."""

    previous_observation: PreviousObservation | None = None
    input: R


class Invalid(NamedTuple):
    """The fields of the envelope that are wrong, by our names, at most MAX_FIELDS, sorted."""

    fields: tuple[str, ...]


def read_envelope(envelope: type[Envelope[R]], arguments: object) -> Envelope[R] | Invalid:
    """The envelope that these arguments are. Whatever they are, this ends in one or the other."""
    try:
        written = orjson.dumps(arguments)
    except TypeError:  # half a surrogate pair, or depth
        return Invalid(("input",))
    try:
        return envelope.model_validate_json(written)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False, include_context=False)
        return Invalid(_fields(envelope, details))


def _fields(envelope: type[Envelope[Any]], details: Iterable[ErrorDetails]) -> tuple[str, ...]:
    return tuple(sorted({_field(envelope, detail["loc"]) for detail in details})[:MAX_FIELDS])


def _field(envelope: type[FrozenModel], place: Sequence[int | str]) -> str:
    """The longest part of the place that is ours to name; an empty one is the whole."""
    known: list[str] = []
    model: type[FrozenModel] | None = envelope
    for name in place:
        field = model.model_fields.get(name) if model is not None and isinstance(name, str) else None
        if field is None:
            break
        known.append(str(name))
        model = _inner(field.annotation)
    return ".".join(known) or "input"


def _inner(annotation: Any) -> type[FrozenModel] | None:
    options = getattr(annotation, "__args__", (annotation,))
    return next((each for each in options if isinstance(each, type) and issubclass(each, FrozenModel)), None)

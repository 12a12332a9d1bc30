"""Reads a JSON object into one of our types, and takes nothing that two readers could understand differently.

Total: whatever the text is, this ends in a value or in one of four codes. Nothing is raised, so no exception that
quotes the text is left behind for a log or a traceback to find.
"""

import json
from enum import StrEnum
from typing import Any, NoReturn, TypeVar

from pydantic import ValidationError

from agrajag.investigation.frozen_model import FrozenModel

_WHITE_SPACE = " \t\n\r"

M = TypeVar("M", bound=FrozenModel)


class JsonFault(StrEnum):
    """Why a text is not the object that it should be."""

    NOT_ONE_OBJECT = "NOT_ONE_OBJECT"  # something before or after it, or another kind of value
    MALFORMED = "MALFORMED"  # no JSON, no Unicode, or deeper or longer than can be read
    DUPLICATE_KEY = "DUPLICATE_KEY"  # at any depth
    SCHEMA = "SCHEMA"  # an object, but not of this type: nothing is coerced, no field is extra


class _DuplicateKey(ValueError):
    """Leaves the decoder; nobody else sees it."""


def read_object(model: type[M], text: str) -> M | JsonFault:
    """The one object of a text, between JSON's white space and nothing else."""
    return _fault_of_form(text) or _validated(model, text)


def _fault_of_form(text: str) -> JsonFault | None:
    """What is wrong with the text whatever the type; pydantic takes the last of two equal keys and says nothing."""
    text = text.strip(_WHITE_SPACE)
    if not text.startswith("{"):
        return JsonFault.NOT_ONE_OBJECT
    try:
        _, end = _DECODER.raw_decode(text)
    except _DuplicateKey:
        return JsonFault.DUPLICATE_KEY
    except (ValueError, RecursionError):
        return JsonFault.MALFORMED
    return None if end == len(text) else JsonFault.NOT_ONE_OBJECT


def _validated(model: type[M], text: str) -> M | JsonFault:
    try:
        return model.model_validate_json(text.encode())
    except UnicodeEncodeError:
        return JsonFault.MALFORMED
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        return JsonFault.MALFORMED if found[0]["type"] == "json_invalid" else JsonFault.SCHEMA


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _DuplicateKey
    return found


def _no_number(_constant: str) -> NoReturn:
    raise ValueError  # NaN and Infinity are Python's, not JSON's


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number)

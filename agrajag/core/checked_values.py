"""Checks single values of a rule file; what is wrong is told with the field and the reason."""

import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from agrajag.core.shown import MAX_NAME, shown
from agrajag.model.wire_model import Signature

MAX_TEXT = 500
MAX_VALUES = 500
_SIGNATURE: TypeAdapter[str] = TypeAdapter(Signature)
_UNUSABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")

E = TypeVar("E", bound=StrEnum)
V = TypeVar("V")


class Rejected(Exception):
    """The rule cannot be used; `field` says where, `reason` why."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(reason)
        self.field = where
        self.reason = reason


def text(value: object, where: str, limit: int = MAX_TEXT) -> str:
    """A text with something in it."""
    if not isinstance(value, str) or not value.strip():
        raise Rejected(where, f"{shown(value)} is not a text with something in it")
    if len(value) > limit:
        raise Rejected(where, f"is {len(value)} characters long; at most {limit} are allowed")
    if _UNUSABLE.search(value) is not None:
        raise Rejected(where, "holds a control character or half of a surrogate pair")
    return value


def texts(value: object, where: str) -> tuple[str, ...]:
    """A list of texts, not empty."""
    if not isinstance(value, list) or not value:
        raise Rejected(where, "must be a list of texts with at least one entry")
    return tuple(text(entry, where) for entry in value)


def name(value: object, where: str) -> str:
    """A text that travels as an id, and so holds what a signature of the records may hold: no line end, no tab,
    nothing that cannot be seen."""
    found = text(value, where, MAX_NAME)
    try:
        return _SIGNATURE.validate_python(found)
    except ValidationError:
        raise Rejected(
            where, "must stand on one line, without tabs and characters that cannot be seen"
        ) from None


def flag(value: object, where: str) -> bool:
    """Yes or no."""
    if not isinstance(value, bool):
        raise Rejected(where, f"{shown(value)} is neither true nor false")
    return value


def whole_number(value: object, where: str, what: str, low: int, high: int) -> int:
    """A number within bounds; `what` names it."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise Rejected(where, f"{shown(value)} is no {what}; a number from {low} to {high} is")
    return value


def code(value: object, where: str) -> str:
    """An error code, of which a number is its digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        if value.bit_length() > MAX_NAME:
            raise Rejected(where, f"{shown(value)} is no error code")
        return str(value)
    return name(value, where)


def one_or_more(value: object, where: str, read: Callable[[object, str], V]) -> tuple[V, ...]:
    """One value or a list of some, each once and not too many."""
    given = value if isinstance(value, list) else [value]
    if not given:
        raise Rejected(where, "must be one value or a list of at least one")
    if len(given) > MAX_VALUES:
        raise Rejected(where, f"has {len(given)} values; at most {MAX_VALUES} are allowed")
    return tuple(dict.fromkeys(read(entry, where) for entry in given))


def word(value: object, where: str, words: Iterable[E]) -> E:
    """One of a closed set of words."""
    words = list(words)
    for one in words:
        if isinstance(value, str) and value == one.value:
            return one
    raise Rejected(where, f"{shown(value)} is none of {', '.join(words)}")

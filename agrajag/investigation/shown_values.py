"""Decides how one value of a source is shown to the model: as a number, as a redacted text, or by its kind alone."""

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from agrajag.core.redact import redacted, redacted_line, redacted_start
from agrajag.core.secret_shapes import MARKER

ELLIPSIS = "…"
_NAMELESS = "?"
_ANYTHING = ("a value that has no shape of its own", "f3a9c1d2b4e5f60718293a4b", "123456")
"""Values that are no secret by themselves: words, what a key looks like, and what a code does."""
_LOOKED_AT = 200
"""Of a value's start and of its name's end, to see whether the name makes a secret of it."""

_UNQUOTED = str.maketrans("\"'`\\\r\n\t", " " * 7)
_SMALLEST, _LARGEST = -(2**63), 2**64 - 1


class Shown(NamedTuple):
    """A value that JSON has, and whether it is less than what was there."""

    value: str | int | float | bool | None
    is_cut: bool = False


def shown_value(value: object, limit: int) -> Shown:
    """The value, of a text at most `limit` characters. Of bytes, lists and objects only what they are."""
    match value:
        case None | bool():
            return Shown(value)
        case int() | float():
            return _number(value, limit)
        case str():
            return _text(value, limit)
        case datetime() | date() | time():
            return _text(value.isoformat(), limit)
        case Decimal() | UUID() | timedelta():
            return _text(str(value), limit)
        case bytes() | bytearray() | memoryview():
            return _told(f"{len(value)} bytes", limit)
    return _told(type(value).__name__, limit)


def named_value(name: str, value: object, limit: int) -> Shown:
    """As `shown_value`, of a value whose name is the source's; it may make a secret of it, as `password` does."""
    shown = shown_value(value, limit)
    if shown.value is None or isinstance(shown.value, bool):
        return shown
    return Shown(MARKER) if _is_secret_as(name, str(shown.value)) else shown


def names_a_secret(name: str) -> bool:
    """Whether what has this name may be a secret for it, as under `password` all is and under `pin` a number."""
    return any(_is_secret_as(name, value) for value in _ANYTHING)


def _is_secret_as(name: str, value: str) -> bool:
    start = value[:_LOOKED_AT].translate(_UNQUOTED)
    pairs = {f'"{called[-_LOOKED_AT:]}":"{start}"' for called in (name, shown_name(name, _LOOKED_AT))}
    return any(redacted(pair) != pair for pair in pairs)


def shown_name(name: object, limit: int) -> str:
    """A name of the source's, redacted, on one line."""
    line = redacted_line(name if isinstance(name, str) else type(name).__name__, limit)
    return (
        redacted_line(line, limit) or _NAMELESS
    )  # on one line it may read as a secret that it was not before


def shown_text(text: str, limit: int) -> str:
    """A text redacted, and cut to `limit` characters, neither within a marker nor so that a secret seems to be left."""
    shown = _undivided(redacted_start(text, limit))
    while (again := _undivided(redacted_start(shown, limit))) != shown:
        shown = again  # each time less of the text is left that is no marker
    return shown


def _undivided(text: str) -> str:
    for length in range(len(MARKER) - 1, 0, -1):
        if text.endswith(MARKER[:length] + ELLIPSIS):
            return text[: -length - 1] + ELLIPSIS
    return text


def _text(text: str, limit: int) -> Shown:
    shown = shown_text(text, limit)
    return Shown(shown, is_cut=shown.endswith(ELLIPSIS) and not text.endswith(ELLIPSIS))


def _told(kind: str, limit: int) -> Shown:
    return Shown(shown_text(f"[{kind}]", limit), is_cut=True)


def _number(value: int | float, limit: int) -> Shown:
    if isinstance(value, float):
        return Shown(value if math.isfinite(value) else str(value))
    if not _SMALLEST <= value <= _LARGEST:
        return _told(f"a number of {value.bit_length()} bits", limit)
    written = str(value)
    safe = redacted(written)  # the number of a card
    return Shown(value if safe == written else safe)

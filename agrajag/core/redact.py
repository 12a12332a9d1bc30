"""Take secrets out of error text before it is logged, stored or shown to a model.

What is taken: credentials, and card numbers. Where a secret is known by its name (a header, an assignment, a query
string), the name stays; where it is known by its own shape, nothing of it does. What stays: hashes, UUIDs, trace and
request ids, e-mail addresses (a user-specific fault cannot be told without them), and base64 that nobody
calls a secret. A text without an anchor of any shape costs one pass.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import ahocorasick

from agrajag.core.secret_shapes import CARD_NUMBER, MARKER, SHAPES, Shape
from agrajag.model.events import ToolCallError

_KEPT_CHARACTERS = 2_000
LOOKAHEAD = 2_048
"""How far beyond a cut the text is looked at: a secret is recognised by its first so many characters."""

_INVISIBLE = (
    *range(0x7F, 0xA0),
    0xAD,
    *range(0x200B, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2060, 0x2070),
    *range(0xD800, 0xE000),
    0xFEFF,
    *range(0xFFF9, 0xFFFC),
    *range(0xE0000, 0xE0080),
)
_VISIBLE = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"} | dict.fromkeys(
    _INVISIBLE, 0xFFFD
)


def _automaton() -> Any:
    """Each anchor with the shapes to try, and how far before the anchor's end each of them starts."""
    tries: dict[str, list[tuple[int, Shape]]] = defaultdict(list)
    for shape in SHAPES:
        for anchor in shape.anchors:
            tries[anchor].append((0 if shape.behind else len(anchor) + shape.lead, shape))
    automaton = ahocorasick.Automaton()
    for anchor, found in tries.items():
        automaton.add_word(anchor, tuple(found))
    automaton.make_automaton()
    return automaton


_ANCHORS = _automaton()
_MANY_DIGITS = re.compile(r"[0-9](?:[ -]?[0-9]){12}")


def redacted(text: str) -> str:
    """`text` with `[redacted]` in place of every secret that is recognised.

    Redacting twice is the same as once. The time is linear in the length of the text, whatever it holds.
    """
    spans = _secrets(text)
    return _without(spans, text, len(text)) if spans else text


def redacted_start(text: str, limit: int) -> str:
    """The redacted start of `text`, at most `limit` characters; what an outage says again and again is looked at once.

    A secret that the cut divides is recognised first, so that no part of it stays.
    """
    return _known_start(text, limit) if len(text) <= _KEPT_CHARACTERS else _looked_at(text, limit)


def redacted_end(text: str, limit: int) -> str:
    """The redacted last `limit` characters of `text`; what stands before them tells whether they begin in a secret."""
    window = _visible(text)
    begin = max(len(window) - max(limit, 0), 0)
    spans = [(max(start - begin, 0), stop - begin) for start, stop in _secrets(window) if stop > begin]
    return _without(spans, window[begin:], len(window) - begin)


def redacted_line(text: str, limit: int) -> str:
    """The redacted start of `text` on one line, nothing in it that cannot be seen; at most `limit` characters."""
    return " ".join(redacted_start(text, limit).split())


def redacted_tree(value: Any) -> Any:
    """JSON data with every text in it redacted; what is known by its name alone, as in `{"password": …}`, is not."""
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, Mapping):
        return {key: redacted_tree(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [redacted_tree(inner) for inner in value]
    return value


def _visible(text: str) -> str:
    return text if text.isprintable() else text.replace("\r\n", "\n").translate(_VISIBLE)


def _without(spans: list[tuple[int, int]], text: str, end: int) -> str:
    """The first `end` characters of `text`, with the marker for every span that begins among them."""
    pieces: list[str] = []
    done = 0
    for start, stop in spans:
        if start >= end:
            break
        if start >= done:
            pieces += (text[done:start], MARKER)
        done = max(done, stop)
    pieces.append(text[done:end])
    return "".join(pieces)


def _secrets(text: str) -> list[tuple[int, int]]:
    """Where the secrets begin and end, in order; two may overlap."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text.replace("\u0130", "i").lower()  # the one letter that is longer in lower case
    spans: list[tuple[int, int]] = []
    covered = 0
    for last, tries in _ANCHORS.iter(lowered):
        if last < covered:
            continue
        for back, shape in tries:
            start = last + 1 - back
            if start < 0 or (found := shape.pattern.match(text, start)) is None:
                continue
            if shape.value is not None and (found := shape.value.match(text, found.end())) is None:
                continue
            spans.append(found.span(found.lastindex or 0))
            covered = max(covered, spans[-1][1])
    if _MANY_DIGITS.search(text) is not None:
        spans += [found.span() for found in CARD_NUMBER.finditer(text) if _is_luhn(found[0])]
    spans.sort()
    return spans


def _is_luhn(number: str) -> bool:
    digits = [int(character) for character in reversed(number) if character.isdigit()]
    return sum(digits[::2]) % 10 == -sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2]) % 10


def detail_of(event: ToolCallError, limit: int) -> str:
    """What a diagnosis is told about an error: status, code, exceptions, message, start of the body; redacted.

    At most `limit` characters. Control, bidirectional and invisible characters are replaced by visible ones, so that
    what a person sees is what a model reads. The message takes at most half of the room while there is a body.
    """
    error = event.error
    causes = [name for name in error.exception_chain if name != error.exception_type]
    facts = {
        "status": str(error.http_status or ""),
        "code": error.error_code or "",
        "exception": " < ".join(filter(None, (error.exception_type, *causes))),
    }
    head = "\n".join(f"{name}: {value}" for name, value in facts.items() if value)
    lines = [redacted_start(head, limit // 2)] if head else []
    room = limit - sum(len(line) + 1 for line in lines)
    body = (error.body or "").strip()
    if error.message:
        lines.append(
            "message: "
            + redacted_start(error.message.strip(), (room // 2 if body else room) - len("message: "))
        )
        room -= len(lines[-1]) + 1
    if body:
        lines.append("body: " + redacted_start(body, room - len("body: ")))
    return "\n".join(lines)[: max(limit, 0)]


def _looked_at(text: str, limit: int) -> str:
    limit = max(limit, 0)
    window = _visible(text[: limit + LOOKAHEAD])
    is_whole = len(text) <= limit + LOOKAHEAD
    shown = _without(_secrets(window), window, len(window) if is_whole else limit)
    return shown if is_whole and len(shown) <= limit else shown[: max(limit - 1, 0)] + "…"


_known_start = lru_cache(maxsize=1_024)(_looked_at)

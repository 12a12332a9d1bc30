"""Reads the JSON that a response carries: its whole body, or what a short text introduces, as MCP servers print it.

The JSON must reach to the end of the text; what only looks like some in passing is none. Text inside the content of an
MCP result is read the same way. Whatever the text is, it is read at most a fixed number of times.
"""

import json
from typing import Any

MAX_PREFIX = 300
_STARTS = ('{"', "{\n", "[{", '["', "{ ")
_MAX_TRIES = 3
_MAX_CONTENT = 5
_DECODER = json.JSONDecoder()


def json_bodies(text: str | None) -> tuple[Any, ...]:
    """The objects and lists that the text holds: the outermost one first, then those in the text content of it."""
    outer = _embedded(text)
    if outer is None:
        return ()
    return (outer, *_inner(outer))


def _inner(outer: Any) -> list[Any]:
    """What the text content of an MCP result holds, which may stand under `result` of a JSON-RPC answer."""
    if not isinstance(outer, dict):
        return []
    result = outer.get("result")
    content = (result if isinstance(result, dict) else outer).get("content")
    if not isinstance(content, list):
        return []
    texts = [entry.get("text") for entry in content[:_MAX_CONTENT] if isinstance(entry, dict)]
    found = [_embedded(text) for text in texts if isinstance(text, str)]
    return [inner for inner in found if inner is not None]


def _embedded(text: str | None) -> Any:
    text = (text or "").lstrip().rstrip(" \t\r\n")
    if text[:1] in ("{", "[") and text[-1:] in ("}", "]"):
        found = _whole(text, 0)
        if found is not None:
            return found
    if text[-1:] not in ("}", "]"):
        return None
    begin, head = 0, text[: MAX_PREFIX + 2]
    for _ in range(_MAX_TRIES):
        places = [place for start in _STARTS if (place := head.find(start, begin + 1)) > 0]
        if not places:
            return None
        begin = min(places)
        found = _whole(text, begin)
        if found is not None:
            return found
    return None


def _whole(text: str, begin: int) -> Any:
    """The object or list that begins there and reaches to the end."""
    try:
        value, end = _DECODER.raw_decode(text, begin)
    except (ValueError, RecursionError):
        return None
    return value if end == len(text) and isinstance(value, dict | list) else None

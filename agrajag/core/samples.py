"""Bounds JSON values that somebody else wrote: how they are spelled, and that they are small, before anybody uses them.

A value may come from YAML, where aliases make a short text endless; so it is measured before it is spelled out.
"""

import json
from collections.abc import Mapping
from typing import Any

MAX_SAMPLE_BYTES = 2_048
MAX_DEPTH = 20


def canonical_json(value: object, limit: int = MAX_SAMPLE_BYTES) -> bytes | None:
    """The one spelling of a JSON value, keys in order and without spaces; None for one that is no JSON or longer than
    `limit` bytes. Costs no more than `limit`, whatever the value is."""
    if not _is_small(value, limit):
        return None
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
        spelled = text.encode()
    except (ValueError, TypeError):
        return None
    return spelled if len(spelled) <= limit else None


def plain(value: Mapping[str, Any], limit: int = MAX_SAMPLE_BYTES) -> Mapping[str, Any] | None:
    """A copy of a JSON object that shares nothing with it; None where `canonical_json` gives none."""
    spelled = canonical_json(value, limit)
    copied = None if spelled is None else json.loads(spelled)
    return copied if isinstance(copied, dict) else None


def _is_small(value: object, limit: int) -> bool:
    """Whether the value is made of JSON's kinds, nested at most `MAX_DEPTH` deep, and can be spelled in `limit` bytes.

    Every value and every key takes at least one byte, so that the walk ends after `limit` steps.
    """
    left = limit
    waiting: list[tuple[object, int]] = [(value, 0)]
    while waiting:
        one, depth = waiting.pop()
        if isinstance(one, str):
            left -= len(one) + 2
        elif isinstance(one, int):
            left -= 1 + one.bit_length() // 4
        elif one is None or isinstance(one, float):
            left -= 1
        elif depth >= MAX_DEPTH or not isinstance(one, dict | list | tuple):
            return False
        else:
            left -= 2
            if len(one) > left or (isinstance(one, dict) and not all(isinstance(key, str) for key in one)):
                return False
            inner = (*one.keys(), *one.values()) if isinstance(one, dict) else one
            waiting += ((each, depth + 1) for each in inner)
        if left < 0:
            return False
    return True

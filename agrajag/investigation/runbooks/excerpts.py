"""Decides which part of a long text to show: the one that holds the most of what was looked for."""

from collections.abc import Sequence

_LEAD_SHARE = 4
"""Of the characters shown, a quarter stands before the first of the words."""
_CUT = "…"


def excerpt(text: str, hits: Sequence[tuple[int, int]], limit: int) -> str:
    """At most `limit` characters of `text`, around the densest of the `hits`, which stand in their order.

    Whole lines where that costs no more than the lead; `…` where something was cut.
    """
    if len(text) <= limit:
        return text
    room = limit - 2 * len(_CUT)
    first = _densest(hits, room - room // _LEAD_SHARE)
    begin = min(max(first - room // _LEAD_SHARE, 0), len(text) - room)
    line = text.find("\n", begin, max(first, begin)) + 1
    if begin > 0 and line:
        begin = line
    end = min(begin + room, len(text))
    return (_CUT if begin > 0 else "") + text[begin:end].strip("\n") + (_CUT if end < len(text) else "")


def _densest(hits: Sequence[tuple[int, int]], room: int) -> int:
    """Where the span of `room` characters begins that holds the most hits; the first of equals."""
    best, most, first = 0, 0, 0
    for last, (_, end) in enumerate(hits):
        while first < last and end - hits[first][0] > room:
            first += 1
        if last - first + 1 > most:
            most, best = last - first + 1, hits[first][0]
    return best

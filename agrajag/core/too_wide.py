"""Finds texts and patterns of rules that stand in almost every error and so tell nothing about one."""

from collections.abc import Iterator

from agrajag.core.response_conditions import BodyMatches
from agrajag.core.selectors import AllOf, AnyOf, Selectors

ORDINARY = (
    "the call failed with request id 0004a1",
    "timeout after 30 s",
    "permission denied for alice",
    "not found",
    '{"error": {"code": 42, "message": "no such field"}}',
    "connect to 127.0.0.1:8080: connection refused",
    "http 503 service unavailable",
    "invalid argument: name must be a string",
    "<html><body><h1>502 bad gateway</h1></body></html>",
    "rate limit exceeded, try again in 5 seconds",
    "traceback (most recent call last): valueerror: bad value",
    "zugriff verweigert",
)
"""Texts of errors that have nothing to do with each other. What stands in half of them says nothing."""
_TOO_MANY = len(ORDINARY) // 2


def too_wide_in(match: Selectors) -> Iterator[tuple[str, str]]:
    """Field and reason of every text and pattern, in `any` and `all` too, that says nothing."""
    for part in _parts(match):
        for text in part.body_contains:
            if sum(text in ordinary for ordinary in ORDINARY) >= _TOO_MANY:
                yield "match.bodyContains", f"{text!r} stands in almost every error"
        for condition in part.conditions:
            for pattern in condition.patterns if isinstance(condition, BodyMatches) else ():
                if sum(pattern.search(ordinary.encode()) is not None for ordinary in ORDINARY) >= _TOO_MANY:
                    yield "match.bodyMatches", f"{pattern.text!r} matches almost every error"


def _parts(match: Selectors) -> Iterator[Selectors]:
    yield match
    for condition in match.conditions:
        if isinstance(condition, AllOf | AnyOf):
            for branch in condition.branches:
                yield from _parts(branch)

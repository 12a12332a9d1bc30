"""The closed codes by which sources of evidence say why they found nothing out.

A code stands wherever "there is nothing" could not be said truly: absence is told of what was looked at, and of nothing
else.
"""

from enum import StrEnum


class SourceCode(StrEnum):
    """Why a source has no answer. The first group can be mended by another request, the second by the operator."""

    INVALID_PATTERN = "INVALID_PATTERN"
    NO_WORDS = "NO_WORDS"  # nothing in the query is a word that could be looked for
    UNKNOWN_SERVICE = "UNKNOWN_SERVICE"  # the source has never seen it
    WINDOW_NOT_HELD = "WINDOW_NOT_HELD"  # the source holds nothing of that time
    WINDOW_TOO_LARGE = "WINDOW_TOO_LARGE"  # a limit came before the end, and nothing had been found by then
    QUERY_TOO_LARGE = "QUERY_TOO_LARGE"  # it would read more than one look may
    LEVEL_NOT_KNOWN = "LEVEL_NOT_KNOWN"  # lines fit that do not say how bad they are

    SOURCE_NOT_SET_UP = "SOURCE_NOT_SET_UP"
    SOURCE_UNAVAILABLE = "SOURCE_UNAVAILABLE"
    SOURCE_UNREADABLE = "SOURCE_UNREADABLE"  # it is there, and is not what it should be
    SOURCE_TIMEOUT = "SOURCE_TIMEOUT"
    SOURCE_BUSY = "SOURCE_BUSY"
    ACCESS_DENIED = "ACCESS_DENIED"
    QUERY_REFUSED = "QUERY_REFUSED"
    ANSWER_TOO_LARGE = "ANSWER_TOO_LARGE"

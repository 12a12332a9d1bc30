"""What a tool's entry in a model's manifest says about its health."""

from collections.abc import Iterable
from datetime import datetime

from agrajag.core.lookup import speaks_for
from agrajag.core.policy import Policy
from agrajag.core.shown import one_line
from agrajag.core.times import time_words
from agrajag.model.enums import Status
from agrajag.model.health import ToolHealth

_WORDS = {
    Status.DOWN: "currently unavailable",
    Status.DEGRADED: "intermittent, recent failures",
}


def annotation(documents: Iterable[ToolHealth], now: datetime, policy: Policy) -> str | None:
    """One line to append to a tool's description for a caller, or None where nothing is wrong.

    `documents` are those that apply to the caller, narrowest first. The line tells the status, when the tool
    is expected back or else since when it is not well, and the note; cooldowns are never shown to a model.
    It is one line of printable characters whatever the note holds.
    """
    document = speaks_for(documents, now, policy)
    status = Status.OK if document is None else document.status_at(now)
    if document is None or status is Status.OK:
        return None
    # A line of its own would look to a model like a word of whoever wrote the manifest.
    told = [_WORDS[status], _when(document, now), one_line(_note(document, now) or "")]
    return f"Warning: {', '.join(part for part in told if part)}"


def _when(document: ToolHealth, now: datetime) -> str | None:
    if (override := document.active_override(now)) is not None:
        return (
            f"until {time_words(override.until, now)}"
            if override.until
            else f"since {time_words(override.at, now)}"
        )
    if document.link.down_since is not None:
        return f"since {time_words(document.link.down_since, now)}"
    verdict = document.verdict
    if verdict.expected_recovery_at is not None:
        return f"expected back at {time_words(verdict.expected_recovery_at, now)}"
    return f"since {time_words(verdict.since, now)}" if verdict.since else None


def _note(document: ToolHealth, now: datetime) -> str | None:
    if (override := document.active_override(now)) is not None:
        return override.reason
    if document.link.down_since is not None:
        return document.link.cause
    return document.verdict.note

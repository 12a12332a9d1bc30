"""Decides whether anybody waits to hear that a call worked: only where something is known that it may take back.

Successes are many, and of a healthy tool they say nothing new.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from agrajag.core.cooldown import covers, is_active
from agrajag.core.lookup import Caller
from agrajag.model.enums import Status
from agrajag.model.health import Cooldown, ToolHealth


class KnownHealth(Protocol):
    """What is known of tools, in memory."""

    def documents_of(self, caller: Caller, tool_name: str) -> Sequence[ToolHealth]:
        """The documents of the tool that apply to the caller, narrowest first."""
        ...


def is_awaited(documents: Iterable[ToolHealth], user_id: str | None, now: datetime) -> bool:
    """Whether one of the caller's documents is not OK, or holds a cooldown or a pending diagnosis that covers them."""
    return any(
        document.verdict.status is not Status.OK
        or document.status_at(now) is not Status.OK
        or any(_is_open(cooldown, now) and covers(cooldown, None, user_id) for cooldown in document.cooldowns)
        for document in documents
    )


def _is_open(cooldown: Cooldown, now: datetime) -> bool:
    lease = cooldown.lease_until
    is_pending = cooldown.job_id is not None and lease is not None and now < lease
    return is_pending or is_active(cooldown, now)

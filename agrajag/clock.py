"""The clock of this machine, for what stands at an edge; decisions are given their time."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeAlias

Clock: TypeAlias = Callable[[], datetime]
"""Says what time it is, as an aware datetime."""


def utc_now() -> datetime:
    """The time of now."""
    return datetime.now(UTC)

"""What a tenant may use of one day, in UTC: runs, tokens, money."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DayLimits:
    """None is no limit, 0 is nothing at all. `micro_usd` is in millionths of a US dollar."""

    runs: int | None = None
    tokens: int | None = None
    micro_usd: int | None = None


NO_LIMITS = DayLimits()

"""Adds up what tenants have used of a day in UTC, and decides whether that is all they may.

A run is an attempt that has begun, whoever answers it. Every entry is named by its process, and of what is told twice
the larger counts; so it does not matter in which order records come, nor how often, and all workers that read the same
records agree.
"""

from collections import defaultdict
from datetime import UTC, date, datetime
from typing import NamedTuple

from agrajag.core.day_limits import DayLimits
from agrajag.model.enums import ProcessStatus
from agrajag.model.processes import ProcessEvent, ProcessRecord, RunUsage
from agrajag.service.engine import Budget


class Spent(NamedTuple):
    """What was used. `micro_usd` is in millionths of a US dollar; what has no price costs nothing here."""

    runs: int = 0
    tokens: int = 0
    micro_usd: int = 0


def used_up(spent: Spent, limits: DayLimits) -> Budget | None:
    """Which of the limits is reached, the first of them; None while something is left of each."""
    for budget, used, limit in (
        (Budget.RUNS, spent.runs, limits.runs),
        (Budget.TOKENS, spent.tokens, limits.tokens),
        (Budget.MONEY, spent.micro_usd, limits.micro_usd),
    ):
        if limit is not None and used >= limit:
            return budget
    return None


def day_of(moment: datetime) -> date:
    """The day in UTC."""
    return moment.astimezone(UTC).date()


class _Page:
    """One tenant's day: what each process has used, and the sum."""

    __slots__ = ("by_process", "total")

    def __init__(self) -> None:
        self.by_process: dict[str, Spent] = {}
        self.total = Spent()

    def enter(self, process_id: str, used: Spent) -> None:
        known = self.by_process.get(process_id, Spent())
        larger = Spent(*map(max, known, used))
        self.by_process[process_id] = larger
        self.total = Spent(
            *(total + new - old for total, new, old in zip(self.total, larger, known, strict=True))
        )


class Ledger:
    """What all tenants have used, of today and of nothing before."""

    def __init__(self) -> None:
        self._days: dict[date, defaultdict[str, _Page]] = {}

    def enter(self, record: ProcessRecord, now: datetime) -> None:
        """Count a record of the topic of process events, if it is one that counts and not of a day before `now`'s."""
        used = _used(record)
        if used is None:
            return
        day, today = day_of(record.at), day_of(now)
        for past in [known for known in self._days if known < today]:
            del self._days[past]
        if day >= today:
            self._days.setdefault(day, defaultdict(_Page))[record.tenant_id].enter(*used)

    def spent(self, tenant_id: str, now: datetime, *, without: str | None = None) -> Spent:
        """What the tenant has used of the day of `now`, but for the process `without`."""
        day = self._days.get(day_of(now))
        page = None if day is None else day.get(tenant_id)
        if page is None:
            return Spent()
        own = page.by_process.get(without, Spent()) if without is not None else Spent()
        return Spent(*(total - one for total, one in zip(page.total, own, strict=True)))


def _used(record: ProcessRecord) -> tuple[str, Spent] | None:
    match record:
        case ProcessEvent(status=ProcessStatus.RUNNING):
            return record.process_id, Spent(runs=1)
        case RunUsage():
            return record.process_id, Spent(tokens=record.tokens, micro_usd=record.cost_micro_usd or 0)
    return None

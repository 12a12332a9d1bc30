"""What the demo shows: live counts while it runs, then one line for each tool, tenant and scope."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from agrajag.cli.tables import plain_table
from agrajag.core.lookup import unconfirmed_since
from agrajag.core.policy import Policy
from agrajag.model.enums import Scope, Status
from agrajag.model.health import ToolHealth

_PLAIN_PAUSE_SECONDS = 1.0
_HEADINGS = ("tool", "tenant", "scope", "status", "classification", "cooldown until")
_NUMBERS = ("errors", "suppressed", "coalesced", "jobs")
_WORST_FIRST = {Status.DOWN: 0, Status.DEGRADED: 1, Status.OK: 2}


@dataclass(frozen=True, slots=True)
class Counts:
    """How far the run is."""

    total: int
    sent: int
    verdicts: int
    dead_letters: int
    documents: int
    jobs: int

    def __str__(self) -> str:
        return (
            f"sent {self.sent:,}  verdicts {self.verdicts:,}  dead letters {self.dead_letters:,}  "
            f"documents {self.documents:,}  jobs {self.jobs:,}"
        )


@contextmanager
def live_counts(console: Console, total: int) -> Iterator[Callable[[Counts], None]]:
    """Shows the counts it is given: as a bar on a terminal, else as a line each second in which they change."""
    if console.is_terminal:
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
        with Progress(*columns, console=console) as progress:
            task = progress.add_task("", total=total)
            yield lambda counts: progress.update(
                task, completed=counts.verdicts + counts.dead_letters, description=str(counts)
            )
    else:
        yield _PlainCounts(console).show


class _PlainCounts:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = ""
        self._next_at = 0.0

    def show(self, counts: Counts) -> None:
        is_last = counts.verdicts + counts.dead_letters >= counts.total
        if str(counts) != self._last and (is_last or time.monotonic() >= self._next_at):
            self._last = str(counts)
            self._next_at = time.monotonic() + _PLAIN_PAUSE_SECONDS
            self._console.print(self._last, highlight=False, soft_wrap=True)


def progress_console() -> Console:
    """Standard error, where everything goes that is no result."""
    return Console(stderr=True)


def health_table(documents: Mapping[str, ToolHealth], now: datetime) -> Table:
    """A line for each tool, tenant and scope: documents of many users or sessions are added up.

    Of their statuses the worst is shown, of their cooldowns the latest end, each class that a verdict of theirs has, or
    else a cooldown.
    """
    groups: dict[tuple[str, str, Scope], list[ToolHealth]] = defaultdict(list)
    for document in documents.values():
        groups[document.tenant_id, document.tool_name, document.scope].append(document)
    table = plain_table(_HEADINGS, _NUMBERS)
    for tenant_id, tool_name, scope in sorted(groups):
        found = groups[tenant_id, tool_name, scope]
        table.add_row(tool_name, tenant_id, *_cells(scope, found, now))
    return table


def _cells(scope: Scope, documents: list[ToolHealth], now: datetime) -> Iterator[str]:
    cooldowns = [cooldown for document in documents for cooldown in document.cooldowns]
    said = [document.verdict.classification for document in documents if _is_believed(document)]
    met = said or [entry.last_classification for entry in cooldowns]
    classes = {str(classification) for classification in met if classification}
    until = max((entry.next_spawn_allowed_at for entry in cooldowns), default=now)
    counters = [document.counters for document in documents]
    yield scope if len(documents) == 1 else f"{scope} ({len(documents)})"
    yield _status(documents, now)
    yield ", ".join(sorted(classes)) or "-"
    yield _clock_time(until, now) if until > now else "over" if cooldowns else "-"
    yield f"{sum(counter.errors for counter in counters):,}"
    yield f"{sum(counter.suppressed for counter in counters):,}"
    yield f"{sum(counter.coalesced for counter in counters):,}"
    yield f"{sum(counter.jobs for counter in counters):,}"


def _is_believed(document: ToolHealth) -> bool:
    """Whether its verdict says what is wrong; else only its cooldowns do."""
    return document.verdict.status is not Status.OK and document.verdict.classification is not None


def _status(documents: list[ToolHealth], now: datetime) -> str:
    """The worst; where nothing confirms it any more, since when."""
    worst = min(documents, key=lambda document: _WORST_FIRST[document.status_at(now)])
    since = unconfirmed_since(worst, now, Policy())
    status = str(worst.status_at(now))
    return status if since is None else f"{status}, unconfirmed since {_clock_time(since, now)}"


def _clock_time(moment: datetime, now: datetime) -> str:
    """In UTC; with the day where it is another one."""
    moment = moment.astimezone(UTC)
    return f"{moment:%H:%M:%S}Z" if moment.date() == now.astimezone(UTC).date() else f"{moment:%d %b %H:%M}Z"

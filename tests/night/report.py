"""Tells how a night went: a table for a person, and the same as JSON."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.night.memory import growth_problems
from tests.night.plan import NOT_PLAYED
from tests.night.watch import SIGNS

RESULTS = Path(".bench/night.json")


@dataclass(frozen=True)
class Outcome:
    """What came of a night; `seen` by fault, in seconds after its beginning, `growth` of the roles is judged."""

    minutes: float
    errors: int
    failures_reported: int
    reports_repeated: int
    commands: int
    others: int
    dead_letters: int
    api_answers: dict[int, int]
    stream_resets: int
    seen: dict[str, float | None]
    growth: dict[str, float | None]
    growth_of_servers: dict[str, float | None]
    memory_mib: dict[str, list[tuple[float, float]]]
    book_problems: tuple[str, ...]
    other_problems: tuple[str, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """A line for every promise that was broken."""
        return (*self.book_problems, *self.other_problems, *self._unseen(), *growth_problems(self.growth))

    def _unseen(self) -> Iterator[str]:
        for fault, at in self.seen.items():
            if at is None:
                yield f"{fault}: never seen from outside"


def write(outcome: Outcome, path: Path = RESULTS) -> None:
    """The outcome as JSON."""
    path.parent.mkdir(exist_ok=True)
    told = asdict(outcome) | {"problems": outcome.problems, "not_played": NOT_PLAYED}
    path.write_text(json.dumps(told, indent=2) + "\n")


def show(outcome: Outcome, console: Console) -> None:
    """The outcome for a person; what was not played stands beside what was."""
    table = Table("what", "how it went")
    table.add_row(
        "errors, commands, other records", f"{outcome.errors:,} {outcome.commands:,} {outcome.others:,}"
    )
    table.add_row("failures reported by the client", f"{outcome.failures_reported:,}")
    table.add_row("reports sent more than once", str(outcome.reports_repeated))
    table.add_row("dead letters", f"{outcome.dead_letters:,}")
    table.add_row(
        "answers of the API", ", ".join(f"{code}: {n:,}" for code, n in outcome.api_answers.items())
    )
    table.add_row("streams begun anew", str(outcome.stream_resets))
    for fault, (told, _) in SIGNS.items():
        at = outcome.seen[fault]
        table.add_row(fault, "never seen" if at is None else f"seen after {at:.1f} s: {told}")
    for name, share in (outcome.growth | outcome.growth_of_servers).items():
        judged = "" if name in outcome.growth else " (not judged)"
        table.add_row(f"memory of {name}", ("restarted late" if share is None else f"{share:+.1%}") + judged)
    for what in NOT_PLAYED:
        table.add_row(what, "not run")
    console.print(table)
    for problem in outcome.problems:
        console.print(f"broken: {problem}", highlight=False, soft_wrap=True)
    console.print(
        "every promise was kept" if not outcome.problems else f"{len(outcome.problems)} promises broken"
    )

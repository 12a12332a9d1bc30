"""Tables of results on standard output, for people and for pipes."""

from collections.abc import Iterable
from datetime import UTC, datetime

from rich.console import Console
from rich.table import Table

_PIPE_WIDTH = 240


def result_console() -> Console:
    """Standard output. Where it is no terminal nothing is cut or wrapped to a width that nobody has."""
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    return console


def moment(at: datetime) -> str:
    """A time in UTC, to the second."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def plain_table(headings: Iterable[str], numbers: Iterable[str] = ()) -> Table:
    """An empty table without lines; the columns of `numbers` come last and end flush."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for heading in numbers:
        table.add_column(heading, no_wrap=True, justify="right")
    return table

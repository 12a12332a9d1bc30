"""How health documents are shown to a person. Texts that somebody sent are shown with what is invisible spelled out."""

from collections.abc import Iterable, Iterator

from rich.table import Table

from agrajag.cli.tables import moment, plain_table
from agrajag.core.shown import one_line, visible
from agrajag.model.health import HistoryEntry
from agrajag.model.reading import HealthReading

_SHOWN_HISTORY = 5
_MAX_NOTE = 200


def overview(readings: Iterable[HealthReading]) -> Table:
    """A line for each document."""
    table = plain_table(("tool", "scope", "of", "status", "how"))
    for one in readings:
        health = one.health
        table.add_row(
            visible(health.tool_name), health.scope, visible(health.scope_id) or "-", one.status, one.words
        )
    return table


def in_full(one: HealthReading) -> Iterator[str]:
    """What a person wants to know of one document, line by line."""
    health = one.health
    scope = f"{health.scope} {visible(health.scope_id)}".strip()
    yield f"{scope}  {one.status}: {one.words}"
    yield from (f"  {pause.words}" for pause in one.calling)
    if (last := health.last_diagnosis) is not None:
        note = f": {one_line(last.note, _MAX_NOTE)}" if last.note else ""
        yield f"  diagnosed {moment(last.at)} as {last.classification} by {visible(last.by)}{note}"
    yield from (f"  {_changed(entry)}" for entry in health.history[:_SHOWN_HISTORY])
    if (rest := len(health.history) - _SHOWN_HISTORY) > 0:
        yield f"  and {rest} older"


def _changed(entry: HistoryEntry) -> str:
    often = f" {entry.count} times until {moment(entry.last_at)}" if entry.count > 1 else ""
    why = f" {entry.classification}" if entry.classification else ""
    note = f": {one_line(entry.note, _MAX_NOTE)}" if entry.note else ""
    return f"{moment(entry.at)} {entry.status}{why}{often} by {visible(entry.by)}{note}"

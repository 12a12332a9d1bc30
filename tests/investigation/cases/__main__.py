"""Investigates the cases with the real model of the settings and judges them: `python -m tests.investigation.cases`.

It costs money, as every model does: no target of make and no test does it. It needs AGRAJAG_MODEL_API_KEY;
AGRAJAG_MODEL_NAME and AGRAJAG_MODEL_BASE_URL choose whom it asks. Names of cases ask those alone. Exits 1 where
anything was accepted that must not be, 2 where nothing could be asked.
"""

import asyncio
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from rich.table import Table
from structlog.testing import capture_logs

from agrajag.bootstrap.diagnosis import declared_models
from agrajag.cli.tables import plain_table, result_console
from agrajag.errors import ConfigError
from agrajag.harness import NoModel, connect
from agrajag.investigation.ledger import MemoryLedger
from agrajag.settings import Settings, load_settings
from tests.investigation.cases.case import Case, all_cases
from tests.investigation.cases.judge import Judged, judged
from tests.investigation.cases.playing import Played, play

_YES_OR_NO = {True: "yes", False: "no"}


@dataclass(frozen=True)
class Line:
    """A case that was played and judged."""

    played: Played
    judgement: Judged

    def cells(self) -> Iterator[str]:
        """What the table says of it."""
        played, judgement = self.played, self.judgement
        concludes = played.draft is not None and played.draft.conclusion is not None
        yield from (played.case.id, played.end)
        yield f"{_YES_OR_NO[concludes]}/{_YES_OR_NO[played.case.truth.answerable]}"
        yield _YES_OR_NO[judgement.right]
        yield ", ".join(sorted(judgement.invented | judgement.not_seen)) or "-"
        yield _YES_OR_NO[judgement.unfounded]
        yield ", ".join(judgement.leaked) or "-"
        yield from (str(played.model_calls), str(played.tokens))
        yield "?" if played.cost_usd is None else f"{played.cost_usd:.4f}"


async def investigated(settings: Settings, cases: Sequence[Case]) -> list[Line]:
    """The cases one after the other on the model of the settings. Raises ConfigError where there is none."""
    connected = connect(declared_models(settings).by_name[settings.model.name])
    if isinstance(connected, NoModel):
        raise ConfigError("AGRAJAG_MODEL_API_KEY is not set")
    ledger = MemoryLedger()
    with tempfile.TemporaryDirectory() as folder, capture_logs() as logged:
        async with connected as model:
            rans = [await play(case, Path(folder) / case.id, model, ledger, logged) for case in cases]
    return [Line(played, judged(played)) for played in rans]


def table_of(lines: Sequence[Line]) -> Table:
    """The lines, and their sum."""
    table = plain_table(
        ("case", "end", "concludes/should", "right", "invented", "unfounded", "leaked"),
        ("rounds", "tokens", "usd"),
    )
    for line in lines:
        table.add_row(*line.cells())
    unsafe = sum(not line.judgement.is_safe for line in lines)
    right = sum(line.judgement.right for line in lines)
    rounds = sum(line.played.model_calls for line in lines)
    tokens = sum(line.played.tokens for line in lines)
    usd = sum((line.played.cost_usd or Decimal(0) for line in lines), Decimal(0))
    whole = (f"{len(lines)} cases", f"{unsafe} unsafe", "", f"{right} right", "", "", "")
    table.add_row(*whole, str(rounds), str(tokens), f"{usd:.4f}")
    return table


def chosen(names: Sequence[str]) -> Sequence[Case]:
    """The cases of these names; all where none is named. Raises ConfigError for a name that none has."""
    by_id = {case.id: case for case in all_cases()}
    unknown = [name for name in names if name not in by_id]
    if unknown:
        raise ConfigError(*(f"case {name}: there is none" for name in unknown))
    return [by_id[name] for name in dict.fromkeys(names)] or all_cases()


def main(names: Sequence[str]) -> int:
    """Play, print, and say by the exit code whether all that was accepted may be."""
    try:
        lines = asyncio.run(investigated(load_settings(), chosen(names)))
    except ConfigError as error:
        print(*error.problems, sep="\n", file=sys.stderr)
        return 2
    result_console().print(table_of(lines))
    return 0 if all(line.judgement.is_safe for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""`agrajag eval`: how good the diagnosis is, and whether it ever makes things worse."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import orjson
import typer
from rich.table import Table

from agrajag.cli.interrupt import run_interruptibly
from agrajag.cli.tables import plain_table, result_console
from agrajag.cli.telling import tell

if TYPE_CHECKING:
    from agrajag.diagnosis.evaluation.report import EngineReport
    from agrajag.diagnosis.evaluation.running import Ran

_MAX_WHY = 200


def evaluate(
    engine: Annotated[
        list[str] | None,
        typer.Option("--engine", help="ruleBased, scriptedModel, hostileModel or realModel."),
    ] = None,
    only: Annotated[list[str] | None, typer.Option("--only", help="The scenario of this id alone.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON, for machines.")] = False,
) -> None:
    """Measure the diagnosis by scenarios: each with a tool that really runs on this machine and behaves as told.

    Needs neither Kafka nor a store. Ends with 1 if any answer would do harm or any scenario was skipped. With a key
    (AGRAJAG_MODEL_API_KEY) the real model is measured as well, which costs money.

    Example: agrajag eval --engine ruleBased --only expired-token
    """
    from agrajag import bootstrap
    from agrajag.cli.start import log_for_a_person
    from agrajag.settings import load_settings

    log_for_a_person()
    found = run_interruptibly(bootstrap.run_evaluation(load_settings(), engine or (), only or ()), tell)
    if found is None:
        raise typer.Exit(1)
    if json:
        typer.echo(orjson.dumps({name: report.figures.as_json() for name, report in found.items()}))
    else:
        console = result_console()
        console.print(figures_table(found))
        for name, report in found.items():
            if report.worst:
                console.print(f"\n{name}: not exact were {len(report.worst)}")
                console.print(worst_table(report.worst))
    raise typer.Exit(exit_code(found))


def exit_code(found: "Mapping[str, EngineReport]") -> int:
    """0 where every scenario was run with every engine and none did harm, else 1."""
    return 0 if all(report.figures.is_passed for report in found.values()) else 1


def figures_table(found: "Mapping[str, EngineReport]") -> Table:
    """The figures of each engine."""
    table = plain_table(
        ["engine"],
        numbers=[
            *("scenarios", "exact", "acceptable", "wrong", "harmful", "skipped"),
            *("probes", "rounds", "tokens", "cost $", "exact %"),
        ],
    )
    for name, (figures, _) in found.items():
        counts = (
            *(figures.scenarios, figures.exact, figures.acceptable, figures.wrong, figures.harmful),
            *(figures.skipped, figures.probes, figures.rounds, figures.tokens),
        )
        share = f"{100 * figures.exact / figures.scenarios:.0f}"
        table.add_row(name, *(f"{count:,}" for count in counts), f"{figures.cost_usd:.4f}", share)
    return table


def worst_table(worst: "Sequence[Ran]") -> Table:
    """What was expected, and what came instead."""
    from agrajag.core.redact import redacted_line

    table = plain_table(["scenario", "grade", "expected", "came", "why"])
    for ran in worst:
        expected = ran.scenario.expect
        scope = f" {expected.scope}" if expected.scope else ""
        grade, why = ("skipped", (ran.why,)) if ran.judgement is None else ran.judgement
        table.add_row(
            ran.scenario.id,
            grade,
            f"{expected.classification}{scope}",
            ran.verdict or "-",
            redacted_line("; ".join(why), _MAX_WHY),
        )
    return table

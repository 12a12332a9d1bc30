"""`agrajag rules score`: how right the rules are on failures that somebody has labelled."""

from pathlib import Path
from typing import Annotated

import typer

from agrajag.cli.rules.commands import Directory, Json, Project, Tenant, app, refuse_project_alone
from agrajag.cli.telling import tell


@app.command()
def score(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Labelled failures, one JSON a line.")
    ],
    tenant: Tenant = None,
    project: Project = None,
    directory: Directory = None,
    leave_family_out: Annotated[
        bool, typer.Option("--leave-family-out", help="Without the packs about a record's own family.")
    ] = False,
    seen: Annotated[
        bool, typer.Option("--seen", help="Only records whose deciding marks somebody has seen.")
    ] = False,
    worst: Annotated[int, typer.Option("--worst", min=0, help="So many of the wrong ones are shown.")] = 20,
    json: Json = False,
) -> None:
    """Score the rules in force against labelled failures: five figures, per family and per classification.

    Without a tenant: by bundled rules and packs. Ends with 1 if a line cannot be read;
    each is named, and the rest is scored.

    Example: agrajag rules score tests/corpus/open.jsonl
    """
    from agrajag.cli.rules import machine, reading, score_tables
    from agrajag.cli.tables import result_console

    refuse_project_alone(tenant, project)
    corpus = reading.corpus_in(files)
    for problem in corpus.problems:
        tell(str(problem))
    records = [one for one in corpus.records if one.fidelity == "seen" or not seen]
    rulebook = reading.rulebook_of(directory, bundled=tenant is None)
    scored = reading.scored(records, rulebook, (tenant or "", project), leave_family_out=leave_family_out)
    if json:
        typer.echo(machine.as_json(score_tables.score_tree(scored)))
    else:
        for line in score_tables.figure_lines(scored):
            typer.echo(line)
        for table in score_tables.score_tables(scored, worst):
            typer.echo("")
            result_console().print(table)
    raise typer.Exit(1 if corpus.problems else 0)

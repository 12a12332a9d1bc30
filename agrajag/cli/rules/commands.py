"""The commands of `agrajag rules`."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from agrajag.cli.tables import result_console
from agrajag.cli.telling import tell

app = typer.Typer(help="Check rules, list what is in force, explain errors.", no_args_is_help=True)

Tenant = Annotated[str | None, typer.Option("--tenant", help="The tenant whose rules apply.")]
Project = Annotated[str | None, typer.Option("--project", help="The project of that tenant.")]
Directory = Annotated[
    Path | None,
    typer.Option("--dir", help="Take the documents of this directory instead of those in force."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]


@app.callback()
def rules() -> None:
    """Check rules, list what is in force, explain errors."""


@app.command()
def check(
    paths: Annotated[list[Path], typer.Argument(help="Rule files, or directories of documents.")],
    against: Annotated[
        list[Path] | None,
        typer.Option("--against", help="Labelled failures: tell which rules fit none of them."),
    ] = None,
) -> None:
    """Check rule files before anybody uses them: one line for each rule that is rejected or odd.

    Ends with 1 if anything is rejected. A directory is one of documents, <tenant>/<project or _tenant>/_vance/...

    Example: agrajag rules check my-documents
    """
    from agrajag.cli.rules.reading import corpus_in
    from agrajag.cli.rules.tables import problem_line
    from agrajag.documents.checking import check as checked_paths

    corpus = corpus_in(against or ())
    for problem in corpus.problems:
        tell(str(problem))
    checked = checked_paths(paths, [one.arrival.event for one in corpus.records])
    for problem in checked.problems:
        typer.echo(problem_line(problem))
    for warning in checked.warnings:
        typer.echo(f"warning: {problem_line(warning)}")
    tell(
        f"documents {checked.documents:,}  rules {checked.rules:,}  "
        f"rejected {len(checked.problems):,}  warnings {len(checked.warnings):,}"
    )
    raise typer.Exit(1 if checked.problems else 0)


@app.command(name="list")
def list_rules(
    tenant: Tenant = None,
    project: Project = None,
    directory: Directory = None,
    packs: Annotated[bool, typer.Option("--packs", help="Show the rules of rule packs, too.")] = False,
    json: Json = False,
) -> None:
    """List the rules in force in their order, with the file each comes from and what it replaces.

    Without a tenant: the bundled rules. Rules of packs are counted; what a tenant's or project's own rule decides they
    never do. Rules on trial (shadow: true) and what was rejected follow.

    Example: agrajag rules list --tenant acme --project essays
    """
    from agrajag.cli.rules import machine, reading, tables
    from agrajag.core.listing import listing

    refuse_project_alone(tenant, project)
    in_force = reading.rulebook_of(directory, bundled=tenant is None).in_force(tenant or "", project)
    listed = listing(in_force.files, in_force.rules)
    if json:
        tree = machine.list_tree(
            tenant, project, in_force.rules.hash, listed, in_force.problems, in_force.warnings
        )
        typer.echo(machine.as_json(tree))
        return
    typer.echo(f"rule set {in_force.rules.hash}")
    result_console().print(tables.rules_table(listed.in_force, packs=packs))
    typer.echo(tables.packs_line(listed.in_force))
    if listed.on_trial:
        typer.echo("on trial, deciding nothing:")
        result_console().print(tables.rules_table(listed.on_trial, on_trial=True))
    for problem in in_force.problems:
        typer.echo(f"rejected: {tables.problem_line(problem)}")
    for warning in in_force.warnings:
        typer.echo(f"warning: {tables.problem_line(warning)}")


@app.command()
def explain(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE|-", help="An error as JSON; - is standard input.")
    ] = None,
    event_id: Annotated[
        str | None, typer.Option("--event-id", help="A past error, looked for in the topic.")
    ] = None,
    tenant: Tenant = None,
    project: Project = None,
    directory: Directory = None,
    bundled: Annotated[
        bool, typer.Option("--bundled", help="By bundled rules and packs alone; needs no brokers.")
    ] = False,
    standing: Annotated[
        bool, typer.Option("--standing", help="Over the health documents that stand now, not over none.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="Show every rule, however many.")] = False,
    json: Json = False,
) -> None:
    """Explain one error: which rule decides and why, which others fit, and what Layer 1 does where nothing stands.

    --tenant and --project explain it as if it were theirs; with --event-id, --tenant says whose error is meant.

    Example: agrajag rules explain error.json
    """
    from agrajag.cli.rules import machine, reading, tables

    if (file is None) == (event_id is None):
        raise typer.BadParameter("give either a file (or -) or --event-id")
    if event_id is not None and (standing or project is not None):
        raise typer.BadParameter(
            "a past error is of its own project and met other documents: only --tenant helps"
        )
    if bundled and directory is not None:
        raise typer.BadParameter("--bundled and --dir exclude each other")
    if event_id is not None:
        arrival = reading.past_error(event_id, tenant)
    else:
        arrival = reading.moved(reading.given_error(file or "-"), tenant, project)
    told = reading.explained(arrival, reading.rulebook_of(directory, bundled=bundled), standing=standing)
    if json:
        typer.echo(machine.as_json(machine.explanation_tree(told)))
        return
    for line in (*tables.error_lines(told), f"rule set {told.rule_set_hash}"):
        typer.echo(line)
    table, left_out = tables.considered_table(told.considered, every=every)
    result_console().print(table)
    if left_out:
        typer.echo(f"{left_out:,} rules are not shown, for little of them fits; --all shows them")
    for line in (*tables.decision_lines(told), *tables.trial_lines(told)):
        typer.echo(line)


@app.command()
def shadow(
    tenant: Tenant = None,
    project: Project = None,
    directory: Directory = None,
    hours: Annotated[float, typer.Option("--hours", min=0.01, help="How far back to look.")] = 24.0,
    json: Json = False,
) -> None:
    """Try the shadow rules on past errors: which would be decided otherwise, by which rule, instead of which.

    With --dir the rules of a directory are tried that nobody uses yet. Nothing is changed by it. Ends with 1 if
    there is no shadow rule to try.

    Example: agrajag rules shadow --tenant acme --dir my-documents --hours 24
    """
    from agrajag.cli.rules import machine, reading, tables

    refuse_project_alone(tenant, project)
    rulebook = reading.rulebook_of(directory)
    if not reading.on_trial(rulebook, tenant, project):
        tell("no shadow rule would change anything: there is none, or others hide it (agrajag rules list)")
        raise typer.Exit(1)
    report = asyncio.run(reading.tried(rulebook, tenant, project, timedelta(hours=hours)))
    counts = report.counts()
    if json:
        typer.echo(machine.as_json(machine.shadow_tree(report.errors_read, counts)))
        return
    if counts:
        result_console().print(tables.shadow_table(counts))
    changed = sum(one.errors for one in counts)
    tell(f"errors read {report.errors_read:,}, of which shadow rules would decide {changed:,} otherwise")


def refuse_project_alone(tenant: str | None, project: str | None) -> None:
    """Raises BadParameter where a project is named without its tenant."""
    if project is not None and tenant is None:
        raise typer.BadParameter("--project needs --tenant: projects belong to tenants")

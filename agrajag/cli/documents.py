"""`agrajag documents ...`: the rules and settings of tenants and projects."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agrajag.cli.telling import tell

if TYPE_CHECKING:
    from agrajag.documents.cascade import DocumentName
    from agrajag.documents.directory import DirectoryReading
    from agrajag.documents.pushing import Planned

app = typer.Typer(
    help="Push, list and show the rules and settings of tenants and projects.", no_args_is_help=True
)

Tenant = Annotated[str | None, typer.Option(metavar="TENANT", help="This tenant only.")]


@app.callback()
def documents() -> None:
    """Push, list and show the rules and settings of tenants and projects."""


@app.command()
def push(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Holds <tenant>/<project or _tenant>/_vance/... as files.")
    ],
    tenant: Tenant = None,
    prune: Annotated[
        bool,
        typer.Option(
            help="Remove what DIR does not hold, of the tenants that have a folder in it, or of --tenant."
        ),
    ] = False,
    force: Annotated[bool, typer.Option(help="Push documents although some of them are wrong.")] = False,
) -> None:
    """Make the documents topic hold the documents of a directory; running workers follow within seconds.

    Prints what was added, changed or removed; a second push does nothing. Where a document is wrong, nothing is
    pushed, each fault is one line and the exit code is 1.

    Example: agrajag documents push rules/ --tenant acme
    """
    from agrajag import bootstrap
    from agrajag.cli.start import log_for_a_person
    from agrajag.documents.directory import read_directory
    from agrajag.documents.pushing import Action, planned_push
    from agrajag.errors import ConfigError
    from agrajag.settings import load_settings

    log_for_a_person()
    settings = load_settings()
    reading = read_directory(directory)
    wanted = {
        name: content for name, content in reading.documents.items() if tenant in (None, name.tenant_id)
    }
    if tenant and not (wanted or prune):
        raise ConfigError(f"{directory} holds no document of {tenant}")
    if _tell_faults(reading, wanted, tenant) and not force:
        tell("nothing is pushed; --force pushes what can be read all the same")
        raise typer.Exit(1)

    async def carried_out() -> "list[Planned]":
        table = await bootstrap.read_documents(settings)
        pruned = ({tenant} if tenant else reading.tenants) if prune else set()
        plan = planned_push(wanted, table, pruned_tenants=pruned, kept=reading.refused)
        await bootstrap.push_documents(settings, plan, table)
        return plan

    plan = asyncio.run(carried_out())
    for action, name, _ in plan:
        if action is not Action.KEEP:
            typer.echo(f"{action} {name}")
    counts = Counter(planned.action for planned in plan)
    tell(", ".join(f"{counts[action]} {action}" for action in Action))


@app.command(name="list")
def list_documents(tenant: Tenant = None) -> None:
    """List the documents in force, of the topic and of AGRAJAG_DOCUMENTS_DIR, and what is wrong with them.

    Faults are told on standard error; with any the exit code is 1.

    Example: agrajag documents list --tenant acme
    """
    from agrajag import bootstrap
    from agrajag.cli.start import log_for_a_person
    from agrajag.cli.tables import plain_table, result_console
    from agrajag.documents.cascade import TENANT_LEVEL
    from agrajag.settings import load_settings

    log_for_a_person()
    found = asyncio.run(bootstrap.documents_in_force(load_settings()))
    documents = {
        name: content for name, content in found.documents.items() if tenant in (None, name.tenant_id)
    }
    table = plain_table(("tenant", "project", "path", "from"), ("characters",))
    for name, content in sorted(documents.items(), key=lambda item: str(item[0])):
        source = "topic" if name in found.on_topic else "directory"
        table.add_row(name.tenant_id, name.project_id or TENANT_LEVEL, name.path, source, f"{len(content):,}")
    result_console().print(table)
    raise typer.Exit(1 if _tell_faults(found.in_directory, documents, tenant) else 0)


@app.command()
def show(
    path: Annotated[str, typer.Argument(help="Such as _vance/settings.yaml.")],
    tenant: Annotated[str, typer.Option(metavar="TENANT", help="For whom.")],
    project: Annotated[str | None, typer.Option(metavar="PROJECT", help="For which of its projects.")] = None,
) -> None:
    """Print the document that is found at a path first: the project's, else the tenant's, else the bundled one.

    Ends with 1 if there is none.

    Example: agrajag documents show _vance/settings.yaml --tenant acme --project essays
    """
    from agrajag import bootstrap
    from agrajag.cli.start import log_for_a_person
    from agrajag.documents.cascade import Cascade
    from agrajag.settings import load_settings

    log_for_a_person()
    found = asyncio.run(bootstrap.documents_in_force(load_settings()))
    document = Cascade(found.documents).find(tenant, project, path)
    if document is None:
        tell(f"there is no document {path} for {tenant}{f'/{project}' if project else ''}")
        raise typer.Exit(1)
    tell(document.source)
    typer.echo(document.content, nl=not document.content.endswith("\n"))


def _tell_faults(
    reading: "DirectoryReading", documents: "dict[DocumentName, str]", tenant: str | None
) -> bool:
    """Say what is wrong with documents, or could not be read; True if any of it keeps something from being in force."""
    from agrajag.documents.directory import folder_name
    from agrajag.documents.pushing import faults_of

    faults = faults_of(documents)
    below = f"{folder_name(tenant)}/" if tenant else ""
    problems = [problem for problem in reading.problems if problem.source.startswith(below)]
    problems += faults.problems
    for problem in problems:
        tell(str(problem))
    for warning in faults.warnings:
        tell(f"warning: {warning}")
    return bool(problems)

"""`agrajag runs ...`: what service engines did: their runs, what these called and used."""

import asyncio
import json
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from agrajag.cli.options import AsJson, settings_for_a_person
from agrajag.cli.telling import tell
from agrajag.clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Callable

    from agrajag.core.stories import Story
    from agrajag.model.processes import ProcessRecord
    from agrajag.settings import Settings

app = typer.Typer(help="List and show what service engines did.", no_args_is_help=True)


@app.callback()
def runs() -> None:
    """List and show what service engines did."""


@app.command("list")
def list_(
    tenant: Annotated[
        str | None, typer.Option(metavar="TENANT", help="Of this tenant only; by default AGRAJAG_TENANT.")
    ] = None,
    project: Annotated[str | None, typer.Option(metavar="PROJECT", help="Of this project only.")] = None,
    hours: Annotated[float, typer.Option("--hours", min=0.01, max=168, help="How far back to look.")] = 24.0,
    as_json: AsJson = False,
) -> None:
    """List the runs that did something lately, the one that began last at the end.

    Example: agrajag runs list --tenant acme --hours 2
    """
    from agrajag.cli.run_tables import as_data, overview
    from agrajag.cli.tables import result_console
    from agrajag.model.processes import ToolCallEvent

    settings = settings_for_a_person()
    named = tenant or settings.tenant

    def wanted(record: "ProcessRecord") -> bool:
        return (
            not isinstance(record, ToolCallEvent)
            and named in (None, record.tenant_id)
            and project in (None, record.project_id)
        )

    found = asyncio.run(_stories(settings, wanted, utc_now() - timedelta(hours=hours)))
    if as_json:
        for story in found:
            typer.echo(json.dumps(as_data(story)))
        return
    result_console().print(overview(found))


@app.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="JOB_OR_PROCESS", help="The id of a process, or of its job.")
    ],
    as_json: AsJson = False,
) -> None:
    """Show all that the topic still knows of a process, or of every attempt at a job: steps, tool calls, what was used.

    Ends with 1 if there is none; the topic keeps a week.

    Example: agrajag runs show job-7c1e
    """
    from agrajag.cli.run_tables import as_data, in_full
    from agrajag.cli.tables import result_console
    from agrajag.model.processes import SessionEvent

    def wanted(record: "ProcessRecord") -> bool:
        return not isinstance(record, SessionEvent) and name in (record.process_id, record.job_id)

    found = asyncio.run(_stories(settings_for_a_person(), wanted))
    if not found:
        tell(f"nothing is known of {name}")
        raise typer.Exit(1)
    console = result_console()
    for story in found:
        if as_json:
            typer.echo(json.dumps(as_data(story)))
        else:
            console.print(*in_full(story), sep="\n")


async def _stories(
    settings: "Settings", wanted: "Callable[[ProcessRecord], bool]", since: datetime | None = None
) -> "list[Story]":
    from agrajag import bootstrap
    from agrajag.core.stories import stories

    async with aclosing(bootstrap.past_processes(settings, since)) as records:
        return stories([record async for record in records if wanted(record)])

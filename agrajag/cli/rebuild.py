"""`agrajag tables ...`: the table of the workers."""

import asyncio
from typing import Annotated

import typer

from agrajag.cli.telling import tell

app = typer.Typer(help="Make the workers' table anew.", no_args_is_help=True)


@app.callback()
def tables() -> None:
    """Make the workers' table anew."""


@app.command()
def rebuild(
    force: Annotated[
        bool,
        typer.Option("--force", help="Move documents to other partitions though records wait for them."),
    ] = False,
) -> None:
    """Write the table from health-changed: after its changelog was lost, or the partition count was raised.

    The workers must be stopped, and the topics be as the settings say (agrajag topics create makes the missing ones).
    It can be repeated: what the table has already stays as it is. Prints what was done. Ends with 1 while workers are
    alive, or where documents have to move while records wait for them.

    Example: AGRAJAG_KAFKA_BOOTSTRAP_SERVERS=kafka:9092 agrajag tables rebuild
    """
    from agrajag import bootstrap
    from agrajag.cli.start import log_for_a_person
    from agrajag.settings import load_settings

    log_for_a_person()
    typer.echo(asyncio.run(bootstrap.rebuild_tables(load_settings(), tell, force=force)))

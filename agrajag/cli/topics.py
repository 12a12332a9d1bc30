"""`agrajag topics ...`: the topics on the brokers."""

import asyncio

import typer

from agrajag.cli.start import settings_of_command

app = typer.Typer(help="Make and check the topics.", no_args_is_help=True)


@app.callback()
def topics() -> None:
    """Make and check the topics."""


@app.command()
def create() -> None:
    """Make the topics that are missing; report those that are not as they should be, and change none.

    Prints the name of each topic made. Ends with 1 if an existing topic is not as it should be.

    Example: AGRAJAG_KAFKA_BOOTSTRAP_SERVERS=kafka:9092 agrajag topics create
    """
    from agrajag import bootstrap

    ensured = asyncio.run(bootstrap.create_topics(settings_of_command()))
    for name in ensured.created:
        typer.echo(name)
    for finding in ensured.findings:
        typer.echo(f"agrajag: {finding}", err=True)
    raise typer.Exit(1 if ensured.findings else 0)

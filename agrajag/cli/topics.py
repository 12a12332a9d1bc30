"""`agrajag topics ...`: the topics on the brokers."""

import asyncio

import typer

from agrajag.cli.telling import tell

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
    from agrajag.cli.start import log_for_a_person
    from agrajag.settings import load_settings

    log_for_a_person()
    ensured = asyncio.run(bootstrap.create_topics(load_settings()))
    for name in ensured.created:
        typer.echo(name)
    for finding in ensured.findings:
        tell(str(finding))
    raise typer.Exit(1 if ensured.findings else 0)

"""`python -m agrajag.embedded prepare`: fetches and tries what the embedded Kafka runs from."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from agrajag.embedded.prepare import prepare_kafka
from agrajag.errors import AgrajagError, ConfigError

app = typer.Typer(add_completion=False)


@app.callback()
def embedded() -> None:
    """The parts of Agrajag that run on one machine."""


@app.command()
def prepare(
    cache_dir: Annotated[Path | None, typer.Option(help="Where the jars are kept.")] = None,
    repository: Annotated[
        list[str] | None, typer.Option(help="Maven repository URL instead of the public one.")
    ] = None,
) -> None:
    """Fetch and verify what the embedded Kafka runs from."""
    repositories = {f"repository-{number}": url for number, url in enumerate(repository or [], start=1)}
    try:
        jars = prepare_kafka(cache_dir, repositories or None)
    except AgrajagError as error:
        typer.echo(str(error), err=True)
        sys.exit(2 if isinstance(error, ConfigError) else 1)
    typer.echo(f"Apache Kafka is ready: {len(jars)} jars in {jars[0].parent}")


if __name__ == "__main__":
    app()

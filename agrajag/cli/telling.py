"""How a command speaks beside its results: on standard error, a line at a time."""

import typer


def tell(line: str) -> None:
    """One line for the person who runs the program."""
    typer.echo(f"agrajag: {line}", err=True)

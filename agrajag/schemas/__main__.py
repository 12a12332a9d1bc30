"""`python -m agrajag.schemas write|check DIR`: the descriptions of all records as files."""

from pathlib import Path
from typing import Annotated

import typer

from agrajag.schemas.files import differing_files, write_files

app = typer.Typer(add_completion=False, no_args_is_help=True)

Directory = Annotated[Path, typer.Argument(help="Where the files are.", metavar="DIR")]


@app.callback()
def schemas() -> None:
    """JSON Schema and AsyncAPI of all records."""


@app.command()
def write(directory: Directory) -> None:
    """Write the files, and remove those that are none of them."""
    write_files(directory)


@app.command()
def check(directory: Directory) -> None:
    """End with 1, and name the files, where they are not as they would be written."""
    differing = differing_files(directory) if directory.is_dir() else [str(directory)]
    for name in differing:
        typer.echo(
            f"{name} is not as it would be written: python -m agrajag.schemas write {directory}", err=True
        )
    raise typer.Exit(1 if differing else 0)


if __name__ == "__main__":
    app()

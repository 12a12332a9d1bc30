"""`agrajag config ...`: the settings in force."""

import json
from typing import Annotated

import typer

app = typer.Typer(help="Show the settings.", no_args_is_help=True)


@app.callback()
def config() -> None:
    """Show the settings."""


@app.command()
def show(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Show every setting with its value and where it comes from; secrets are masked.

    Ends with 2 and a line for each setting that is wrong, as every other command would.

    Example: AGRAJAG_LOG_LEVEL=debug agrajag config show
    """
    from agrajag.cli.tables import plain_table, result_console
    from agrajag.settings import shown_settings

    settings = shown_settings()
    if as_json:
        typer.echo(json.dumps([setting._asdict() for setting in settings], indent=2))
        return
    table = plain_table(("variable", "value", "from"))
    for setting in settings:
        table.add_row(*setting)
    result_console().print(table)

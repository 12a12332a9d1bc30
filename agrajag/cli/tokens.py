"""`agrajag tokens ...`: makes the tokens of the HTTP API."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

import typer

app = typer.Typer(help="Make tokens for the HTTP API.", no_args_is_help=True)


class _Role(StrEnum):
    """As `api.permissions.Role`, which is not there where the extra `api` is not."""

    READER = "reader"
    OPERATOR = "operator"
    ADMIN = "admin"


@app.callback()
def tokens() -> None:
    """Make tokens for the HTTP API."""


@app.command()
def new(
    tenant: Annotated[str, typer.Option(metavar="TENANT", help="Whose tools it is for.")],
    user: Annotated[str, typer.Option(metavar="USER", help="Who holds it; stands in what they change.")],
    role: Annotated[_Role, typer.Option(help="What it may.")],
    expires: Annotated[
        datetime | None,
        typer.Option(
            metavar="TIME",
            formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ"],
            help="Its end, in UTC.",
        ),
    ] = None,
) -> None:
    """Make a token; print it, which happens this once, and the line for AGRAJAG_API_TOKENS_FILE.

    The file begins with `tokens:`; the line tells the token's hash, from which nobody finds it.

    Example: agrajag tokens new --tenant acme --user alice --role operator --expires 2027-01-31
    """
    from agrajag import bootstrap
    from agrajag.cli.telling import tell

    made = bootstrap.new_token(tenant, user, role, expires and expires.replace(tzinfo=UTC))
    tell("the token, shown this once; give it to its holder")
    typer.echo(made.secret)
    tell("the line for the tokens file")
    typer.echo(made.entry)

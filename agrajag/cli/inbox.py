"""`agrajag inbox ...`: what users were told that they can do something about."""

import asyncio
import json
from typing import Annotated

import typer

app = typer.Typer(help="List what users were told.", no_args_is_help=True)


@app.callback()
def inbox() -> None:
    """List what users were told."""


@app.command("list")
def list_(
    tenant: Annotated[str, typer.Option(metavar="TENANT", help="Of this tenant.")],
    user: Annotated[str | None, typer.Option(metavar="USER", help="Of this user only.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also what was dismissed or is over.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON lines, for programs.")] = False,
) -> None:
    """List the messages that are open, the one that changed last at the end.

    Dismiss one with agrajag command dismissInbox TENANT TOOL --scope USER --scope-id USER --inbox-item-id ID.

    Example: agrajag inbox list --tenant acme --user alice
    """
    from agrajag import bootstrap
    from agrajag.cli.start import log_for_a_person
    from agrajag.cli.tables import moment, plain_table, result_console
    from agrajag.core.shown import visible
    from agrajag.model.enums import InboxStatus
    from agrajag.settings import load_settings

    log_for_a_person()
    items = [
        item
        for item in asyncio.run(bootstrap.inbox_items(load_settings()))
        if item.tenant_id == tenant and user in (None, item.assigned_to_user_id)
        if everything or item.status is InboxStatus.PENDING
    ]
    if as_json:
        for item in items:
            typer.echo(json.dumps(item.model_dump(mode="json", exclude_none=True)))
        return
    table = plain_table(("changed", "user", "tool", "status", "item", "title"))
    for item in items:
        table.add_row(
            moment(item.updated_at),
            item.assigned_to_user_id,
            item.tool_name,
            item.status,
            item.item_id,
            visible(item.title),
        )
    result_console().print(table)

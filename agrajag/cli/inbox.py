"""`agrajag inbox ...`: what users were told that they can do something about, and putting it aside."""

import asyncio
import json
from typing import Annotated

import typer

from agrajag.cli.commanding import By, Reason, Timeout, a_command, carry_out
from agrajag.cli.exits import Exit
from agrajag.cli.options import AsJson, Tenant, settings_for_a_person, tenant_of
from agrajag.cli.telling import tell
from agrajag.model.enums import CommandKind, InboxStatus, Scope

app = typer.Typer(help="List what users were told, and dismiss it.", no_args_is_help=True)


@app.callback()
def inbox() -> None:
    """List what users were told, and dismiss it."""


@app.command("list")
def list_(
    tenant: Tenant = None,
    user: Annotated[str | None, typer.Option(metavar="USER", help="Of this user only.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also what was dismissed or is over.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the messages that are open, the one that changed last at the end.

    Example: agrajag inbox list --tenant acme --user alice
    """
    from agrajag import bootstrap
    from agrajag.cli.tables import moment, plain_table, result_console
    from agrajag.core.shown import visible

    settings = settings_for_a_person()
    tenant_id = tenant_of(settings, tenant)
    items = [
        item
        for item in asyncio.run(bootstrap.inbox_items(settings))
        if item.tenant_id == tenant_id and user in (None, item.assigned_to_user_id)
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


@app.command()
def dismiss(
    item: Annotated[str, typer.Argument(metavar="ITEM", help="Its id, as agrajag inbox list shows it.")],
    tenant: Tenant = None,
    reason: Reason = None,
    by: By = None,
    timeout: Timeout = 30.0,
    as_json: AsJson = False,
) -> None:
    """Put a message aside: the user has read it.

    Example: agrajag inbox dismiss inbox-7c1e --tenant acme
    """
    from agrajag import bootstrap

    settings = settings_for_a_person()
    tenant_id = tenant_of(settings, tenant)
    named = [one for one in asyncio.run(bootstrap.inbox_items(settings)) if one.item_id == item]
    found = next((one for one in named if one.tenant_id == tenant_id), None)
    if found is None:
        tell(f"there is no item {item!a}")
        raise typer.Exit(Exit.FAILED)
    asked = a_command(
        CommandKind.DISMISS_INBOX,
        tenant_id=tenant_id,
        tool_name=found.tool_name,
        scope=Scope.USER,
        scope_id=found.assigned_to_user_id,
        inbox_item_id=item,
        reason=reason,
        by=by,
    )
    carry_out(asked, timeout, as_json)

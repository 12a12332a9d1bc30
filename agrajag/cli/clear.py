"""`agrajag clear ...`: ends cooldowns, so that the next failure may be diagnosed again."""

import asyncio
from contextlib import aclosing
from typing import Annotated

import typer

from agrajag.cli.commanding import By, Reason, Timeout, a_command, exit_of_results, tell_result
from agrajag.cli.options import AsJson, Project, Session, Tenant, User, settings_for_a_person, tenant_of
from agrajag.cli.telling import tell
from agrajag.clock import utc_now
from agrajag.model.enums import CommandKind


def clear(
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="Which tool.")],
    tenant: Tenant = None,
    user: User = None,
    project: Project = None,
    session: Session = None,
    signature: Annotated[
        str | None, typer.Option(metavar="SIGNATURE", help="Only those of this error signature.")
    ] = None,
    reason: Reason = None,
    by: By = None,
    timeout: Timeout = 30.0,
    as_json: AsJson = False,
) -> None:
    """End the cooldowns of a tool that last and fit all that is given; without options, all of the tool.

    One command for each document that holds some, and one line for how it ended. How often they were hit is remembered.

    Example: agrajag clear search --tenant acme --user alice --reason "she has a new token"
    """
    from agrajag import bootstrap
    from agrajag.core.clearing import Wanted, clearings
    from agrajag.wire.standing_health import of_tool

    settings = settings_for_a_person()
    tenant_id = tenant_of(settings, tenant)
    standing = asyncio.run(bootstrap.health_documents(settings, of_tool(tenant_id, tool)))
    commands = [
        a_command(
            CommandKind.CLEAR_COOLDOWN,
            tenant_id=tenant_id,
            tool_name=tool,
            scope=document.scope,
            scope_id=document.scope_id,
            user_id=user_id,
            error_signature=signature,
            reason=reason,
            by=by,
        )
        for document, user_id in clearings(
            standing.documents, Wanted(signature, user, project, session), utc_now()
        )
    ]
    if not commands:
        tell("no active cooldown fits")
        return

    async def carried_out() -> None:
        results = []
        async with aclosing(bootstrap.send_commands(settings, commands, timeout)) as answers:
            async for result in answers:
                tell_result(result, as_json)
                results.append(result)
        raise typer.Exit(exit_of_results(*results))

    asyncio.run(carried_out())

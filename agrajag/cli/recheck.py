"""`agrajag recheck ...`: has a tool diagnosed now, whatever cooldowns say, and can wait for what comes of it."""

import asyncio
import json
from typing import TYPE_CHECKING, Annotated

import typer

from agrajag.cli.commanding import By, Reason, Timeout, a_command, carry_out, exit_of_results, tell_result
from agrajag.cli.exits import Exit, exit_of
from agrajag.cli.options import (
    AsJson,
    Everywhere,
    Project,
    Session,
    Tenant,
    User,
    settings_for_a_person,
    target,
    tenant_of,
)
from agrajag.cli.telling import tell
from agrajag.clock import utc_now
from agrajag.model.enums import CommandKind

if TYPE_CHECKING:
    from agrajag.bootstrap.commanding import Rechecked
    from agrajag.cli.options import Target


def recheck(
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="Which tool.")],
    tenant: Tenant = None,
    user: User = None,
    project: Project = None,
    session: Session = None,
    everywhere: Everywhere = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for the end of the diagnosis and show the document.")
    ] = False,
    patience: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, help="How long to wait for that end.")
    ] = 300.0,
    locale: Annotated[
        str | None, typer.Option(metavar="de-CH", help="The language of what the user is told.")
    ] = None,
    reason: Reason = None,
    by: By = None,
    timeout: Timeout = 30.0,
    as_json: AsJson = False,
) -> None:
    """Have a tool diagnosed now: for a session, a user or a project, else for the whole tenant.

    With --wait it ends as agrajag health does: with 0, 4 or 5 as the tool is OK, DEGRADED or DOWN after it.

    Example: agrajag recheck search --tenant acme --project essays --wait
    """
    from agrajag import bootstrap

    settings = settings_for_a_person()
    tenant_id = tenant_of(settings, tenant)
    meant = target(tenant_id, project, user, session, everywhere)
    asked = a_command(
        CommandKind.RECHECK,
        tenant_id=tenant_id,
        tool_name=tool,
        reason=reason,
        locale=locale,
        by=by,
        **meant._asdict(),
    )
    if not wait:
        carry_out(asked, timeout, as_json)
    ended = asyncio.run(bootstrap.recheck(settings, asked, timeout, patience))
    raise typer.Exit(_told(ended, meant, as_json))


def _told(ended: "Rechecked", meant: "Target", as_json: bool) -> Exit:
    from agrajag.core.reading import reading

    if ended.end is None or ended.standing is None:
        tell_result(ended.result, as_json)
        return exit_of_results(ended.result)
    readings = [
        reading(document, utc_now(), ended.standing.policy_of(document.tenant_id, meant.project_id))
        for document in ended.standing.documents
        if (document.scope, document.scope_id) == (meant.scope, meant.scope_id)
    ]
    if as_json:
        told = {
            "command": ended.result.model_dump(mode="json", exclude_none=True),
            "closed": ended.end.model_dump(mode="json", exclude_none=True),
            "health": readings[0].model_dump(mode="json", exclude_none=True) if readings else None,
        }
        typer.echo(json.dumps(told))
    else:
        _tell_end(ended)
        for shown in readings:
            typer.echo(f"{shown.health.tool_name}: {shown.words}")
    return exit_of(shown.status for shown in readings)


def _tell_end(ended: "Rechecked") -> None:
    from agrajag.core.shown import visible

    if (end := ended.end) is None:
        return
    what = f"job {end.job_id}: {end.verdict or 'no verdict'}"
    why = "" if end.applied else f", not applied: {visible(end.reason or 'no reason told')}"
    tell(f"{what}{why}")
    if end.human_note:
        tell(visible(end.human_note))

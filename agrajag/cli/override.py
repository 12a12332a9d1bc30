"""`agrajag override` and `agrajag lift`: what a person says of a tool, above all evidence, and taking it back."""

from typing import Annotated

import typer

from agrajag.cli.commanding import By, Reason, Timeout, a_command, carry_out
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
from agrajag.model.enums import CommandKind, Status

Tool = Annotated[str, typer.Argument(metavar="TOOL", help="Which tool.")]


def override(
    tool: Tool,
    status: Annotated[
        Status, typer.Argument(metavar="STATUS", case_sensitive=False, help="DOWN, DEGRADED or OK.")
    ],
    reason: Annotated[str, typer.Option(help="Why; everybody is shown it.")],
    tenant: Tenant = None,
    user: User = None,
    project: Project = None,
    session: Session = None,
    everywhere: Everywhere = False,
    duration: Annotated[
        str | None, typer.Option("--for", metavar="PT2H", help="How long; else until it is lifted.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Its end, with a zone.")] = None,
    by: By = None,
    timeout: Timeout = 30.0,
    as_json: AsJson = False,
) -> None:
    """Say how a tool is, above all evidence: for a session, a user or a project, else for the whole tenant.

    Example: agrajag override search DOWN --tenant acme --reason "moving house" --for PT2H
    """
    tenant_id = tenant_of(settings_for_a_person(), tenant)
    asked = a_command(
        CommandKind.OVERRIDE,
        tenant_id=tenant_id,
        tool_name=tool,
        status=status,
        reason=reason,
        duration=duration,
        until=until,
        by=by,
        **target(tenant_id, project, user, session, everywhere)._asdict(),
    )
    carry_out(asked, timeout, as_json)


def lift(
    tool: Tool,
    tenant: Tenant = None,
    user: User = None,
    project: Project = None,
    session: Session = None,
    everywhere: Everywhere = False,
    reason: Reason = None,
    by: By = None,
    timeout: Timeout = 30.0,
    as_json: AsJson = False,
) -> None:
    """Take back what a person has said with override: evidence counts again.

    Example: agrajag lift search --tenant acme
    """
    tenant_id = tenant_of(settings_for_a_person(), tenant)
    asked = a_command(
        CommandKind.LIFT_OVERRIDE,
        tenant_id=tenant_id,
        tool_name=tool,
        reason=reason,
        by=by,
        **target(tenant_id, project, user, session, everywhere)._asdict(),
    )
    carry_out(asked, timeout, as_json)

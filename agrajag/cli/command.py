"""`agrajag command ...`: asks something of one health document, and tells how it ended."""

from typing import Annotated

import typer

from agrajag.cli.commanding import By, CommandId, Wait, a_command, carry_out
from agrajag.cli.options import AsJson
from agrajag.model.enums import Classification, CommandKind, Scope, Status

Text = str | None


def command(
    kind: Annotated[CommandKind, typer.Argument(metavar="KIND", case_sensitive=False, help="What to do.")],
    tenant: Annotated[str, typer.Argument(help="Whose tool.")],
    tool: Annotated[str, typer.Argument(help="Which tool.")],
    scope: Annotated[Scope, typer.Option(metavar="SCOPE", case_sensitive=False, help="Whom it concerns.")],
    scope_id: Annotated[
        Text, typer.Option(help="The session, user or project; TENANT and GLOBAL need none.")
    ] = None,
    reason: Annotated[Text, typer.Option(help="Why; kept in the document.")] = None,
    status: Annotated[
        Status | None, typer.Option(metavar="STATUS", case_sensitive=False, help="override, setUnavailable.")
    ] = None,
    classification: Annotated[
        Classification | None,
        typer.Option(metavar="CLASS", case_sensitive=False, help="setUnavailable, setCooldown."),
    ] = None,
    error_signature: Annotated[Text, typer.Option(help="setCooldown; clearCooldown: this one only.")] = None,
    user_id: Annotated[
        Text, typer.Option(help="setCooldown, clearCooldown: this user's; recheck: as whom.")
    ] = None,
    duration: Annotated[
        Text, typer.Option(metavar="PT2H", help="setCooldown, override, setUnavailable.")
    ] = None,
    until: Annotated[Text, typer.Option(metavar="TIME", help="override: its end, with a zone.")] = None,
    expected_recovery_at: Annotated[
        Text, typer.Option(metavar="TIME", help="setUnavailable: when it is expected back.")
    ] = None,
    project_id: Annotated[
        Text, typer.Option(help="The project of a narrower scope, whose policy counts.")
    ] = None,
    inbox_item_id: Annotated[Text, typer.Option(help="dismissInbox.")] = None,
    locale: Annotated[
        Text, typer.Option(metavar="de-CH", help="recheck: the language for what the user is told.")
    ] = None,
    by: By = None,
    command_id: CommandId = None,
    wait: Wait = 30.0,
    as_json: AsJson = False,
) -> None:
    """Ask something of the health document of one tool and scope, and wait for the result.

    KIND is recheck, setAvailable, setUnavailable, setCooldown, clearCooldown, override, liftOverride, delete or
    dismissInbox; SCOPE is SESSION, USER, PROJECT, TENANT or GLOBAL, which is kept per tenant. Prints outcome, revision
    and job id. Ends with 1 where it was refused, with 3 where no worker has answered in time: then it will still be
    carried out, and the same --command-id again is harmless.

    Example: agrajag command override acme search --scope TENANT --status DOWN --reason "moving house" --duration PT2H
    """
    asked = a_command(
        command_id=command_id,
        kind=kind,
        tenant_id=tenant,
        project_id=project_id,
        scope=scope,
        scope_id=scope_id or (tenant if scope is Scope.TENANT else ""),
        tool_name=tool,
        by=by,
        reason=reason,
        classification=classification,
        status=status,
        error_signature=error_signature,
        user_id=user_id,
        duration=duration,
        expected_recovery_at=expected_recovery_at,
        until=until,
        inbox_item_id=inbox_item_id,
        locale=locale,
    )
    carry_out(asked, wait, as_json)
